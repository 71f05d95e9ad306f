//===- Flags.cpp - The options, declared ----------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"

using namespace larc::driver;
namespace cl = llvm::cl;

namespace larc::driver::flags {

cl::SubCommand listCommand("list", "list the built-in specs");
cl::SubCommand
    runCommand("run",
               "compute outputs and final states, with --grad gradients too");
cl::SubCommand
    checkCommand("check", "compute, and compare with a file's expected results "
                          "or with the float64 reference");
cl::SubCommand
    explainCommand("explain",
                   "say how a spec is computed: classes, equations, costs");
cl::SubCommand
    benchCommand("bench",
                 "measure the time and its share of the machine's limits");
cl::SubCommand compileCommand("compile", "write a spec's code");

cl::SubCommandGroup computing = {&runCommand, &checkCommand, &benchCommand,
                                 &compileCommand};
cl::SubCommandGroup takingSpec = {&runCommand, &checkCommand, &explainCommand,
                                  &benchCommand, &compileCommand};
cl::SubCommandGroup comparingNothing = {&runCommand, &benchCommand,
                                        &compileCommand};

cl::OptionCategory tensorCategory("Inputs and outputs");
cl::OptionCategory formCategory("What is computed, and how");
cl::OptionCategory comparisonCategory("Comparison");
cl::OptionCategory inspectionCategory("Inspection");

Text spec(cl::Positional, cl::desc("[SPEC]"), cl::sub(takingSpec),
          cl::cat(tensorCategory));

// Inputs and outputs.
Text inputs("inputs", cl::desc("the safetensors file to read ('-': stdin)"),
            cl::value_desc("FILE"), cl::sub(runCommand),
            cl::cat(tensorCategory));
Text outputs("outputs",
             cl::desc("the safetensors file to write ('-': stdout); a summary "
                      "of the results is printed without it"),
             cl::value_desc("FILE"), cl::sub(runCommand),
             cl::cat(tensorCategory));
TextList data("data",
              cl::desc("a safetensors file with inputs and the expected out., "
                       "final. and grad. tensors (repeatable)"),
              cl::value_desc("FILE"), cl::sub(checkCommand),
              cl::cat(tensorCategory));
Text checkDims("dims",
               cl::desc("check random inputs of these sizes against the "
                        "float64 reference: B, T, H and the spec's axes"),
               cl::value_desc("NAME=SIZE,..."), cl::sub(checkCommand),
               cl::cat(tensorCategory));
Text benchDims("dims",
               cl::desc("the sizes B, T, H and the spec's axes; ranges are "
                        "FIRST:LAST, FIRST:LAST:STEP and FIRST:LAST:xFACTOR"),
               cl::value_desc("NAME=SIZE,..."), cl::sub(benchCommand),
               cl::cat(tensorCategory));
Text explainDims("dims",
                 cl::desc("the sizes of the spec's axes, and B, T and H, to "
                          "count work by"),
                 cl::value_desc("NAME=SIZE,..."), cl::sub(explainCommand),
                 cl::cat(tensorCategory));
Text compileDims("dims", cl::desc("the sizes of the spec's axes"),
                 cl::value_desc("NAME=SIZE,..."), cl::sub(compileCommand),
                 cl::cat(tensorCategory));
Text seed("seed", cl::desc("seed of the random inputs (default 0)"),
          cl::value_desc("N"), cl::sub(checkCommand), cl::cat(tensorCategory));
Text seqlens("seqlens",
             cl::desc("random inputs are packed sequences of these lengths"),
             cl::value_desc("N,..."), cl::sub(checkCommand),
             cl::cat(tensorCategory));
Text heads("heads", cl::desc("head counts of random operands that share heads"),
           cl::value_desc("OPERAND:N,..."), cl::sub(checkCommand),
           cl::cat(tensorCategory));
Text cases("cases",
           cl::desc("a file with a check of random inputs in each line: "
                    "--dims, --seqlens, --heads and --seed as here"),
           cl::value_desc("FILE"), cl::sub(checkCommand),
           cl::cat(tensorCategory));
Text plot("plot",
          cl::desc("draw the time against T, one line for each form; needs a "
                   "range of T"),
          cl::value_desc("FILE.svg"), cl::sub(benchCommand),
          cl::cat(tensorCategory));
Text header("header", cl::desc("the library's C header, to write beside it"),
            cl::value_desc("FILE.h"), cl::sub(compileCommand),
            cl::cat(tensorCategory));
Text output("o", cl::desc("the file to write ('-': stdout)"),
            cl::value_desc("FILE"), cl::sub(compileCommand),
            cl::cat(tensorCategory));

// What is computed, and how.
Flag grad("grad", cl::desc("compute gradients too"), cl::sub(runCommand),
          cl::cat(formCategory));
Text form("form",
          cl::desc("auto (default), reference, recurrent or chunk; 'larc "
                   "check' and 'larc bench' take a list, the latter also all"),
          cl::value_desc("FORM"), cl::sub(computing), cl::cat(formCategory));
Text chunkSize("chunk-size",
               cl::desc("the most tokens of a chunk, at most 256 (default: the "
                        "cost model's choice)"),
               cl::value_desc("N"), cl::sub(takingSpec), cl::cat(formCategory));
Text segments("segments",
              cl::desc("the pieces that sequences are cut into, which are "
                       "computed at the same time (default: the cost model's "
                       "choice)"),
              cl::value_desc("N"), cl::sub(computing), cl::cat(formCategory));
Text
    dtype("dtype",
          cl::desc("convert operands, parameters and cotangents: f64, f32, f16 "
                   "or bf16 (default: as in the file, else f32)"),
          cl::value_desc("TYPE"), cl::sub(takingSpec), cl::cat(formCategory));
Text gateDType("gate-dtype", cl::desc("convert gates (default: as --dtype)"),
               cl::value_desc("TYPE"), cl::sub(computing),
               cl::cat(formCategory));
TextList set("set", cl::desc("set an attribute; lists are 1,2,4 (repeatable)"),
             cl::value_desc("NAME=VALUE"), cl::sub(takingSpec),
             cl::cat(formCategory));
Text target("target",
            cl::desc("cpu (default), cuda or cuda:SM, a GPU by its compute "
                     "capability (cuda:90); 'larc compile' takes a list"),
            cl::value_desc("TARGET"), cl::sub(takingSpec),
            cl::cat(formCategory));
Text stateDType("state-dtype",
                cl::desc("how a GPU keeps states between calls: f32 (default) "
                         "or bf16"),
                cl::value_desc("TYPE"), cl::sub(takingSpec),
                cl::cat(formCategory));
Text ptxas("ptxas",
           cl::desc("the assembler for GPU code (default: LARC_PTXAS, else one "
                    "that is found)"),
           cl::value_desc("FILE"), cl::sub(computing), cl::cat(formCategory));
Text copies("copies",
            cl::desc("how chunks come to a GPU's shared memory: async, by "
                     "warps, bulk, by Hopper's copy unit, or auto (default), "
                     "whichever is faster"),
            cl::value_desc("HOW"), cl::sub(takingSpec), cl::cat(formCategory));
Flag laneArrivals("lane-arrivals",
                  cl::desc("let every lane arrive at the barriers between a "
                           "GPU's roles, not one for its warp: slower, for "
                           "tools that look for races"),
                  cl::sub(compileCommand), cl::cat(formCategory));
Text cpu("cpu", cl::desc("the CPU to compile for (default: this one)"),
         cl::value_desc("NAME"), cl::sub(compileCommand),
         cl::cat(formCategory));
Text
    emit("emit",
         cl::desc("what to write: lib (default, a library with a C interface), "
                  "larc (the recurrence with its attributes and sizes set), "
                  "chunk (its chunkwise form), tile (what a thread block "
                  "does), llvm, asm, obj, ptx or cubin"),
         cl::value_desc("KIND"), cl::sub(compileCommand),
         cl::cat(formCategory));
Text threads("threads", cl::desc("number of threads (default: all cores)"),
             cl::value_desc("N"), cl::sub(computing), cl::cat(formCategory));

// Comparison.
Flag peers("peers",
           cl::desc("time flash-linear-attention on the GPU beside larc"),
           cl::sub(benchCommand), cl::cat(comparisonCategory));
Flag noGrad("no-grad", cl::desc("leave the gradients out"),
            cl::sub(checkCommand), cl::cat(comparisonCategory));
Flag twice("twice",
           cl::desc("compute everything twice: the same bits must come out"),
           cl::sub(checkCommand), cl::cat(comparisonCategory));
Text tolerance("tolerance",
               cl::desc("limit of the relative error; gradients have three "
                        "times as much (default: by form and type)"),
               cl::value_desc("X"), cl::sub(checkCommand),
               cl::cat(comparisonCategory));
// Known to the commands that compare nothing, so that they can say so.
Text uselessTolerance("tolerance", cl::ReallyHidden, cl::sub(comparingNothing));

// Inspection.
Text format("format", cl::desc("text (default) or markdown"),
            cl::value_desc("FORMAT"), cl::sub(explainCommand),
            cl::cat(inspectionCategory));
Flag listJSON("json", cl::desc("print JSON"), cl::sub(listCommand),
              cl::cat(inspectionCategory));
Flag json("json", cl::desc("print JSON"), cl::sub(computing),
          cl::cat(inspectionCategory));
Flag timing("timing", cl::desc("print the times of the phases to stderr"),
            cl::sub(computing), cl::cat(inspectionCategory));
Text printIRAfter("print-ir-after",
                  cl::desc("print the IR to stderr after a pass, or after all"),
                  cl::value_desc("PASS|all"), cl::sub(computing),
                  cl::cat(inspectionCategory));

} // namespace larc::driver::flags
