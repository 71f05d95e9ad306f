//===- Options.cpp - What the command line asks for -----------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "CommandLine.h"
#include "Dims.h"

#include "larc/Support/Error.h"
#include "larc/Target/CPU/CompiledRecurrence.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Threading.h"

#include <cmath>

using namespace larc;
using namespace larc::driver;
namespace cl = llvm::cl;

llvm::StringRef driver::getName(Form form) {
  switch (form) {
  case Form::Auto:
    return "auto";
  case Form::Reference:
    return "reference";
  case Form::Recurrent:
    return "recurrent";
  case Form::Chunk:
    return "chunk";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

namespace {

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

using Text = cl::opt<std::string>;
using Flag = cl::opt<bool>;
using TextList = cl::list<std::string>;

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
Text plot("plot",
          cl::desc("draw the time against T, one line for each form; needs a "
                   "range of T"),
          cl::value_desc("FILE.svg"), cl::sub(benchCommand),
          cl::cat(tensorCategory));
Text output("o", cl::desc("the file to write ('-': stdout)"),
            cl::value_desc("FILE"), cl::sub(compileCommand),
            cl::cat(tensorCategory));

// What is computed, and how.
Flag grad("grad", cl::desc("compute gradients too"), cl::sub(runCommand),
          cl::cat(formCategory));
Text form("form",
          cl::desc("auto (default), reference, recurrent or chunk; 'larc "
                   "bench' takes a list, or all"),
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
Text target("target", cl::desc("cpu (default)"), cl::value_desc("TARGET"),
            cl::sub(takingSpec), cl::cat(formCategory));
Text cpu("cpu", cl::desc("the CPU to compile for (default: this one)"),
         cl::value_desc("NAME"), cl::sub(compileCommand),
         cl::cat(formCategory));
Text
    emit("emit",
         cl::desc("what to write: larc (the recurrence with its attributes and "
                  "sizes set), chunk (its chunkwise form), llvm, asm or obj"),
         cl::value_desc("KIND"), cl::sub(compileCommand),
         cl::cat(formCategory));
Text threads("threads", cl::desc("number of threads (default: all cores)"),
             cl::value_desc("N"), cl::sub(computing), cl::cat(formCategory));

// Comparison.
Flag noGrad("no-grad", cl::desc("leave the gradients out"),
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

} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Fails for an option that was given and cannot be honoured.
static llvm::Error refuse(const cl::Option &option, llvm::StringRef reason) {
  if (option.getNumOccurrences() == 0)
    return llvm::Error::success();
  return makeUsageFault("option '--" + option.ArgStr +
                        "' cannot be honoured: " + reason);
}

static llvm::Expected<DType> parseDTypeOption(llvm::StringRef option,
                                              llvm::StringRef value) {
  std::optional<DType> type = parseDType(value);
  if (type && isFloat(*type))
    return *type;
  return makeValueFault(option, value, {"f64", "f32", "f16", "bf16"});
}

static llvm::Error parseForm(llvm::StringRef value, bool isBench,
                             llvm::SmallVectorImpl<Form> &forms) {
  llvm::SmallVector<llvm::StringRef> parts;
  value.split(parts, ',');
  if (parts.size() > 1 && !isBench)
    return makeUsageFault("option '--form' takes one form here, not " +
                          quoteName(value));
  auto add = [&](Form form) {
    if (!llvm::is_contained(forms, form))
      forms.push_back(form);
  };
  for (llvm::StringRef part : parts) {
    if (part == "auto") {
      add(Form::Auto);
    } else if (part == "reference") {
      add(Form::Reference);
    } else if (part == "recurrent") {
      add(Form::Recurrent);
    } else if (part == "chunk") {
      add(Form::Chunk);
    } else if (part == "all" && isBench) {
      add(Form::Reference);
      add(Form::Recurrent);
      if (llvm::is_contained(getCPUForms(), CPUForm::Chunk))
        add(Form::Chunk);
    } else {
      llvm::SmallVector<llvm::StringRef> known = {"auto", "reference",
                                                  "recurrent", "chunk"};
      if (isBench)
        known.push_back("all");
      return makeValueFault("option '--form'", part, known);
    }
  }
  return llvm::Error::success();
}

static llvm::Error checkTarget(llvm::StringRef value) {
  llvm::SmallVector<llvm::StringRef> parts;
  value.split(parts, ',');
  if (parts.size() > 1 && !compileCommand)
    return makeUsageFault("option '--target' takes one target here, not " +
                          quoteName(value));
  for (llvm::StringRef part : parts) {
    if (part == "cpu")
      continue;
    if (part == "cuda" || part.starts_with("cuda:"))
      return makeLaterFault("the target " + quoteName(part),
                            "the only target is cpu");
    return makeValueFault("option '--target'", part, {"cpu"});
  }
  return llvm::Error::success();
}

static llvm::Error parseEmit(Options &options) {
  if (emit.empty())
    return makeLaterFault("the default of '--emit', a library",
                          "give one of --emit=larc, chunk, llvm, asm or obj");
  for (llvm::StringRef later : {"tile", "ptx", "cubin", "lib"})
    if (emit == later)
      return makeLaterFault("'--emit=" + later + "'",
                            "it writes larc, chunk, llvm, asm and obj");
  std::optional<Emit> kind = llvm::StringSwitch<std::optional<Emit>>(emit)
                                 .Case("larc", Emit::Larc)
                                 .Case("chunk", Emit::Chunk)
                                 .Case("llvm", Emit::LLVM)
                                 .Case("asm", Emit::Assembly)
                                 .Case("obj", Emit::Object)
                                 .Default(std::nullopt);
  if (!kind)
    return makeValueFault("option '--emit'", emit,
                          {"larc", "chunk", "llvm", "asm", "obj"});
  options.emit = *kind;
  return llvm::Error::success();
}

/// Parses the positive integer that `option` was given; 0 if it was not.
static llvm::Error parseCount(const Text &option, int64_t &count) {
  count = 0;
  if (option.empty())
    return llvm::Error::success();
  if (llvm::StringRef(option).getAsInteger(10, count) || count <= 0)
    return makeUsageFault("option '--" + option.ArgStr +
                          "' needs an integer from 1 on, not " +
                          quoteName(option));
  return llvm::Error::success();
}

/// Parses the options of the chunk form, which need a form that may be it.
static llvm::Error parseChunkOptions(Options &options) {
  if (llvm::Error error = parseCount(chunkSize, options.chunkSize))
    return error;
  // The program of a chunk, and the time to compile it, grow with its size.
  constexpr int64_t mostTokens = 256;
  if (options.chunkSize > mostTokens)
    return makeUsageFault("option '--chunk-size' needs an integer from 1 to " +
                          llvm::Twine(mostTokens) + ", not " +
                          quoteName(chunkSize));
  if (llvm::Error error = parseCount(segments, options.segments))
    return error;
  if (llvm::is_contained(options.forms, Form::Auto) ||
      llvm::is_contained(options.forms, Form::Chunk))
    return llvm::Error::success();
  std::string reason =
      ("form '" + getName(options.forms.front()) + "' has no ").str();
  if (llvm::Error error = refuse(chunkSize, reason + "chunks"))
    return error;
  return refuse(segments, reason + "segments");
}

static llvm::Error parseThreads(Options &options) {
  options.threads = llvm::hardware_concurrency().compute_thread_count();
  if (threads.empty())
    return llvm::Error::success();
  constexpr unsigned most = 1024;
  unsigned count;
  if (llvm::StringRef(threads).getAsInteger(10, count) || count == 0 ||
      count > most)
    return makeUsageFault("option '--threads' needs an integer from 1 to " +
                          llvm::Twine(most) + ", not " + quoteName(threads));
  options.threads = count;
  return llvm::Error::success();
}

static llvm::Error parseTolerance(Options &options) {
  if (tolerance.empty())
    return llvm::Error::success();
  double value;
  if (llvm::StringRef(tolerance).getAsDouble(value) || !std::isfinite(value) ||
      value <= 0)
    return makeUsageFault("option '--tolerance' needs a positive number, not " +
                          quoteName(tolerance));
  options.tolerance = value;
  return llvm::Error::success();
}

/// The options that all commands but `list` have; those that `explain` lacks
/// keep their defaults there.
static llvm::Error parseCommon(Options &options) {
  options.spec = spec;
  // An argument that is there and empty is not one left out.
  if (options.spec.empty() && spec.getNumOccurrences() != 0)
    return makeUsageFault("unknown spec ''",
                          {"give a name of 'larc list' or a .mlir file"});
  if (llvm::StringRef(options.spec).ends_with(".so"))
    return makeLaterFault("compiled libraries as SPEC",
                          "give a name of 'larc list' or a .mlir file");
  if (llvm::Error error =
          parseForm(form.empty() ? "auto" : form.c_str(),
                    options.command == Command::Bench, options.forms))
    return error;
  if (llvm::Error error = parseChunkOptions(options))
    return error;
  if (!dtype.empty()) {
    auto type = parseDTypeOption("option '--dtype'", dtype);
    if (!type)
      return type.takeError();
    options.dtype = *type;
  }
  if (!gateDType.empty()) {
    auto type = parseDTypeOption("option '--gate-dtype'", gateDType);
    if (!type)
      return type.takeError();
    options.gateDType = *type;
  }
  for (llvm::StringRef entry : set) {
    auto [name, value] = entry.split('=');
    if (name.empty() || !entry.contains('='))
      return makeUsageFault("option '--set' needs NAME=VALUE, not " +
                            quoteName(entry));
    if (llvm::is_contained(llvm::make_first_range(options.attributes), name))
      return makeUsageFault("attribute " + quoteName(name) +
                            " is set twice with '--set'");
    options.attributes.emplace_back(name.str(), value.str());
  }
  if (!target.empty())
    if (llvm::Error error = checkTarget(target))
      return error;
  if (llvm::Error error = parseThreads(options))
    return error;
  if (llvm::Error error = parseTolerance(options))
    return error;
  options.json = json;
  options.timing = timing;
  options.printIRAfter = printIRAfter;
  return llvm::Error::success();
}

static llvm::Error makeSpecMissingFault() {
  return makeUsageFault("no spec is given",
                        {"give a name of 'larc list' or a .mlir file"});
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

static llvm::Error parseRun(Options &options) {
  if (inputs.empty())
    return makeUsageFault("'larc run' needs '--inputs=FILE'");
  options.inputs = inputs;
  options.outputs = outputs;
  options.gradients = grad;
  if (options.json && options.outputs == "-")
    return makeUsageFault(
        "'--json' and '--outputs=-' both write to the standard output");
  return refuse(uselessTolerance, "'larc run' compares nothing");
}

static llvm::Error parseCheck(Options &options) {
  options.data.assign(data.begin(), data.end());
  options.noGradients = noGrad;
  if (!options.data.empty() && !checkDims.empty())
    return makeUsageFault("'larc check' takes '--data' or '--dims', not both");
  if (checkDims.empty())
    for (const cl::Option *option :
         std::initializer_list<const cl::Option *>{&seed, &seqlens, &heads})
      if (llvm::Error error =
              refuse(*option, "it is about random inputs, which need '--dims'"))
        return error;
  if (!options.data.empty())
    return llvm::Error::success();
  if (checkDims.empty())
    return makeUsageFault("'larc check' needs either '--data=FILE' or "
                          "'--dims=NAME=SIZE,...'");
  if (options.spec.empty())
    return makeSpecMissingFault();
  auto dims = parseDims(checkDims, /*allowRanges=*/false);
  if (!dims)
    return dims.takeError();
  options.dims = std::move(*dims);
  if (!seed.empty() && llvm::StringRef(seed).getAsInteger(10, options.seed))
    return makeUsageFault("option '--seed' needs an integer from 0 on, not " +
                          quoteName(seed));
  if (!seqlens.empty()) {
    auto lengths = parseLengths(seqlens);
    if (!lengths)
      return lengths.takeError();
    options.sequenceLengths = std::move(*lengths);
  }
  if (!heads.empty()) {
    auto counts = parseHeadCounts(heads);
    if (!counts)
      return counts.takeError();
    options.headCounts = std::move(*counts);
  }
  return llvm::Error::success();
}

/// A plot has an axis of T, which is logarithmic.
static llvm::Error parsePlot(Options &options) {
  if (plot.empty())
    return llvm::Error::success();
  options.plot = plot;
  if (options.plot == "-")
    return makeUsageFault(
        "'--plot=-' and the table both write to the standard output");
  llvm::StringRef extension = llvm::sys::path::extension(options.plot);
  if (!extension.empty() && !extension.equals_insensitive(".svg"))
    return makeUsageFault("option '--plot' writes SVG, not " +
                              quoteName(extension),
                          {"give a name that ends in .svg"});
  auto tokens = llvm::find_if(
      options.dims, [](const DimValues &dim) { return dim.name == "T"; });
  if (tokens == options.dims.end() || tokens->values.size() < 2)
    return makeUsageFault("option '--plot' needs a range of T",
                          {"such as '--dims=T=1024:16384:x2,...'"});
  if (tokens->values.front() == 0)
    return makeUsageFault(
        "option '--plot' has a logarithmic axis of T and cannot show T=0");
  return llvm::Error::success();
}

static llvm::Error parseBench(Options &options) {
  if (options.spec.empty())
    return makeSpecMissingFault();
  if (benchDims.empty())
    return makeUsageFault("'larc bench' needs '--dims=NAME=SIZE,...'");
  auto dims = parseDims(benchDims, /*allowRanges=*/true);
  if (!dims)
    return dims.takeError();
  options.dims = std::move(*dims);
  if (llvm::Error error = parsePlot(options))
    return error;
  return refuse(uselessTolerance, "'larc bench' compares nothing");
}

static llvm::Error parseExplain(Options &options) {
  if (options.spec.empty())
    return makeSpecMissingFault();
  if (!explainDims.empty()) {
    auto dims = parseDims(explainDims, /*allowRanges=*/false);
    if (!dims)
      return dims.takeError();
    options.dims = std::move(*dims);
  }
  if (!format.empty() && format != "text" && format != "markdown")
    return makeValueFault("option '--format'", format, {"text", "markdown"});
  options.markdown = format == "markdown";
  return llvm::Error::success();
}

static llvm::Error parseCompile(Options &options) {
  if (options.spec.empty())
    return makeSpecMissingFault();
  if (options.forms.front() == Form::Reference)
    return makeUsageFault(
        "form 'reference' is interpreted and cannot be compiled");
  if (llvm::Error error =
          refuse(uselessTolerance, "'larc compile' compares nothing"))
    return error;
  if (llvm::Error error =
          refuse(threads, "the caller of compiled code chooses its threads"))
    return error;
  if (llvm::Error error = parseEmit(options))
    return error;
  if (!compileDims.empty()) {
    auto dims = parseDims(compileDims, /*allowRanges=*/false);
    if (!dims)
      return dims.takeError();
    options.dims = std::move(*dims);
  }
  options.cpu = cpu;
  if (options.emit == Emit::Larc) {
    for (const cl::Option *option :
         std::initializer_list<const cl::Option *>{&cpu, &dtype, &gateDType})
      if (llvm::Error error = refuse(
              *option, "what '--emit=larc' writes has no types and no target"))
        return error;
    for (const cl::Option *option :
         std::initializer_list<const cl::Option *>{&chunkSize, &segments})
      if (llvm::Error error =
              refuse(*option, "what '--emit=larc' writes is one token's step"))
        return error;
  }
  // An entry point runs the tasks that it is given; who calls it cuts.
  if (options.segments > 1)
    if (llvm::Error error =
            refuse(segments, "what 'compile' writes cuts no sequence"))
      return error;
  if (options.emit == Emit::Chunk && options.forms.front() == Form::Recurrent)
    return makeUsageFault("'--emit=chunk' writes the form 'chunk', not "
                          "'--form=recurrent'");
  options.output = output;
  if (options.output.empty()) {
    if (options.emit == Emit::Object)
      return makeUsageFault("'--emit=obj' needs '-o FILE'");
    options.output = "-";
  }
  if (options.json && options.output == "-")
    return makeUsageFault("'--json' needs '-o FILE': the code would go to the "
                          "standard output too");
  return llvm::Error::success();
}

static void printVersion(llvm::raw_ostream &os) {
  os << "larc version " LARC_VERSION_STRING "\n"
     << "  with LLVM and MLIR " LLVM_VERSION_STRING "\n";
}

llvm::Expected<Options> driver::parseOptions(int argc,
                                             const char *const *argv) {
  if (llvm::Error error =
          checkCommandLine(llvm::ArrayRef(argv, argc).drop_front()))
    return error;

  // LLVM's own options are not part of the interface.
  const cl::OptionCategory *categories[] = {
      &tensorCategory, &formCategory, &comparisonCategory, &inspectionCategory};
  cl::HideUnrelatedOptions(categories);
  cl::SetVersionPrinter(printVersion);
  std::string messages;
  llvm::raw_string_ostream errors(messages);
  if (!cl::ParseCommandLineOptions(
          argc, argv,
          "larc compiles the recurrences of linear attention\n\n"
          "  SPEC is a built-in name ('larc list'), FILE.mlir, or "
          "FILE.mlir:NAME.\n",
          &errors))
    return makeUsageFault(llvm::StringRef(messages).rtrim());

  Options options;
  if (listCommand) {
    options.command = Command::List;
    options.json = listJSON;
    return options;
  }
  llvm::Error (*parseCommand)(Options &) = parseRun;
  options.command = Command::Run;
  if (checkCommand) {
    options.command = Command::Check;
    parseCommand = parseCheck;
  } else if (explainCommand) {
    options.command = Command::Explain;
    parseCommand = parseExplain;
  } else if (benchCommand) {
    options.command = Command::Bench;
    parseCommand = parseBench;
  } else if (compileCommand) {
    options.command = Command::Compile;
    parseCommand = parseCompile;
  }
  if (llvm::Error error = parseCommon(options))
    return error;
  if (llvm::Error error = parseCommand(options))
    return error;
  return options;
}
