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
#include "Flags.h"
#include "Targets.h"

#include "larc/Support/Error.h"
#include "larc/Target/CPU/CompiledRecurrence.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Threading.h"

#include <cmath>

using namespace larc;
using namespace larc::driver;
using namespace larc::driver::flags;
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

llvm::StringRef driver::getName(Emit emit) {
  switch (emit) {
  case Emit::Larc:
    return "larc";
  case Emit::Chunk:
    return "chunk";
  case Emit::Tile:
    return "tile";
  case Emit::LLVM:
    return "llvm";
  case Emit::Assembly:
    return "asm";
  case Emit::Object:
    return "obj";
  case Emit::PTX:
    return "ptx";
  case Emit::Cubin:
    return "cubin";
  case Emit::Library:
    return "lib";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static llvm::Expected<DType> parseDTypeOption(llvm::StringRef option,
                                              llvm::StringRef value) {
  std::optional<DType> type = parseDType(value);
  if (type && isFloat(*type))
    return *type;
  return makeValueFault(option, value, {"f64", "f32", "f16", "bf16"});
}

static llvm::Error parseForm(llvm::StringRef value, Options &options) {
  bool isBench = options.command == Command::Bench;
  llvm::SmallVectorImpl<Form> &forms = options.forms;
  llvm::SmallVector<llvm::StringRef> parts;
  value.split(parts, ',');
  if (parts.size() > 1 && !isBench && options.command != Command::Check)
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
      options.allForms = true;
      if (!options.hasCuda() && !options.isLibrary)
        add(Form::Reference);
      add(Form::Recurrent);
      if (options.hasCuda() ? hasCudaForm(Form::Chunk)
                            : llvm::is_contained(getCPUForms(), CPUForm::Chunk))
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

static llvm::Error parseEmit(Options &options) {
  static constexpr Emit kinds[] = {Emit::Larc, Emit::Chunk,    Emit::Tile,
                                   Emit::LLVM, Emit::Assembly, Emit::Object,
                                   Emit::PTX,  Emit::Cubin,    Emit::Library};
  options.emit = Emit::Library;
  if (emit.empty())
    return llvm::Error::success();
  llvm::SmallVector<llvm::StringRef> names;
  for (Emit kind : kinds) {
    if (emit == driver::getName(kind)) {
      options.emit = kind;
      return llvm::Error::success();
    }
    names.push_back(driver::getName(kind));
  }
  return makeValueFault("option '--emit'", emit, names);
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
  for (const cl::Option *option : std::initializer_list<const cl::Option *>{
           &chunkSize, &copies, &laneArrivals})
    if (llvm::Error error = refuse(*option, reason + "chunks"))
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
  options.isLibrary = isLibraryFile(options.spec);
  if (llvm::Error error = parseTargets(options))
    return error;
  if (llvm::Error error =
          parseForm(form.empty() ? "auto" : form.c_str(), options))
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
  if (!stateDType.empty()) {
    std::optional<DType> type = parseDType(stateDType);
    if (type != DType::F32 && type != DType::BF16)
      return makeValueFault("option '--state-dtype'", stateDType,
                            {"f32", "bf16"});
    options.stateDType = type;
  }
  options.ptxas = ptxas;
  auto way = llvm::StringSwitch<std::optional<CudaCopies>>(copies)
                 .Cases({"", "auto"}, CudaCopies::Auto)
                 .Case("async", CudaCopies::Async)
                 .Case("bulk", CudaCopies::Bulk)
                 .Default(std::nullopt);
  if (!way)
    return makeValueFault("option '--copies'", copies,
                          {"auto", "async", "bulk"});
  options.copies = *way;
  options.laneArrivals = laneArrivals;
  if (llvm::Error error = parseThreads(options))
    return error;
  if (llvm::Error error = parseTolerance(options))
    return error;
  options.json = json;
  options.timing = timing;
  options.printIRAfter = printIRAfter;
  if (options.isLibrary)
    return checkLibraryOptions(options);
  return checkTargetOptions(options);
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

/// Fills in a case from the values of options, which are empty where they were
/// not given.
static llvm::Error parseCase(llvm::StringRef dims, llvm::StringRef seed,
                             llvm::StringRef seqlens, llvm::StringRef heads,
                             RandomCase &result) {
  auto sizes = parseDims(dims, /*allowRanges=*/false);
  if (!sizes)
    return sizes.takeError();
  result.dims = std::move(*sizes);
  if (!seed.empty() && seed.getAsInteger(10, result.seed))
    return makeUsageFault("option '--seed' needs an integer from 0 on, not " +
                          quoteName(seed));
  if (!seqlens.empty()) {
    auto lengths = parseLengths(seqlens);
    if (!lengths)
      return lengths.takeError();
    result.sequenceLengths = std::move(*lengths);
  }
  if (!heads.empty()) {
    auto counts = parseHeadCounts(heads);
    if (!counts)
      return counts.takeError();
    result.headCounts = std::move(*counts);
  }
  return llvm::Error::success();
}

/// Reads a case from a line of a file.
static llvm::Error parseCaseLine(llvm::StringRef line, RandomCase &result) {
  result.text = line.str();
  llvm::StringMap<llvm::StringRef> values;
  llvm::SmallVector<llvm::StringRef> words;
  llvm::SplitString(line, words);
  for (llvm::StringRef word : words) {
    auto [name, value] = word.split('=');
    if (!llvm::is_contained({"--dims", "--seed", "--seqlens", "--heads"}, name))
      return makeUsageFault(
          "a case has no option " + quoteName(name),
          {"it has '--dims', '--seed', '--seqlens' and '--heads'"});
    if (value.empty() || !values.try_emplace(name, value).second)
      return makeUsageFault("a case has each option once, with a value, not " +
                            quoteName(word));
  }
  if (!values.contains("--dims"))
    return makeUsageFault("a case needs '--dims=NAME=SIZE,...'");
  return parseCase(values["--dims"], values["--seed"], values["--seqlens"],
                   values["--heads"], result);
}

static llvm::Error readCases(Options &options) {
  auto buffer = llvm::MemoryBuffer::getFile(cases);
  if (!buffer)
    return makeFault("cannot read " + quoteName(cases) + ": " +
                     buffer.getError().message());
  for (llvm::line_iterator line(**buffer, /*SkipBlanks=*/true, '#');
       !line.is_at_eof(); ++line) {
    llvm::StringRef text = line->split('#').first.trim();
    if (text.empty())
      continue;
    RandomCase &added = options.cases.emplace_back();
    added.place = cases + ":" + std::to_string(line.line_number());
    if (llvm::Error error = parseCaseLine(text, added))
      return addFile(std::move(error), added.place);
  }
  if (options.cases.empty())
    return makeFault(quoteName(cases) + " has no cases");
  return llvm::Error::success();
}

static llvm::Error parseCheck(Options &options) {
  options.data.assign(data.begin(), data.end());
  options.noGradients = noGrad;
  options.twice = twice;
  int sources = int(!options.data.empty()) + int(!checkDims.empty()) +
                int(!cases.empty());
  if (sources > 1)
    return makeUsageFault(
        "'larc check' takes one of '--data', '--dims' and '--cases'");
  if (checkDims.empty())
    for (const cl::Option *option :
         std::initializer_list<const cl::Option *>{&seed, &seqlens, &heads})
      if (llvm::Error error = refuse(
              *option, cases.empty() ? "it is about random inputs, which need "
                                       "'--dims'"
                                     : "the lines of '--cases' have it"))
        return error;
  if (!options.data.empty())
    return llvm::Error::success();
  if (sources == 0)
    return makeUsageFault("'larc check' needs '--data=FILE', "
                          "'--dims=NAME=SIZE,...' or '--cases=FILE'");
  if (options.spec.empty())
    return makeSpecMissingFault();
  if (!cases.empty())
    return readCases(options);
  return parseCase(checkDims, seed, seqlens, heads,
                   options.cases.emplace_back());
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
  options.peers = peers;
  if (llvm::Error error = checkPeers(options))
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
  if (llvm::Error error = checkEmit(options))
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
  options.header = header;
  if (options.output.empty()) {
    if (options.emit == Emit::Object || options.emit == Emit::Cubin ||
        options.emit == Emit::Library)
      return makeUsageFault("'--emit=" + driver::getName(options.emit) +
                            "' needs '-o FILE'");
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
          "  SPEC is a built-in name ('larc list'), FILE.mlir, FILE.mlir:NAME, "
          "or\n  LIBRARY.so that 'larc compile' made.\n",
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
