//===- Session.cpp - What the commands share ------------------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"

#include "CommandLine.h"
#include "Dims.h"

#include "larc/Analysis/Summaries.h"
#include "larc/Dialect/Larc/Transforms/Flatten.h"
#include "larc/Execution/Compare.h"
#include "larc/InitAll.h"
#include "larc/Reference/Reference.h"
#include "larc/Support/Error.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace larc;
using namespace larc::driver;

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// Prints `FILE:LINE:COL: error: MESSAGE` on one line and then the notes.
/// Further lines of a message become notes. Returns the first line.
static std::string printDiagnostic(mlir::Diagnostic &diagnostic) {
  std::string output;
  llvm::raw_string_ostream os(output);
  auto printPlace = [&](mlir::Location location) {
    if (auto place = location->findInstanceOf<mlir::FileLineColLoc>()) {
      os << place.getFilename().getValue() << ':' << place.getLine() << ':'
         << place.getColumn() << ": ";
    }
  };
  auto print = [&](mlir::Diagnostic &part, llvm::StringRef label) {
    std::string text = part.str();
    llvm::SmallVector<llvm::StringRef> lines;
    llvm::StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef line : lines) {
      printPlace(part.getLocation());
      os << label << ": " << line << '\n';
      label = "note";
    }
  };
  llvm::StringRef label;
  switch (diagnostic.getSeverity()) {
  case mlir::DiagnosticSeverity::Error:
    label = "error";
    break;
  case mlir::DiagnosticSeverity::Warning:
    label = "warning";
    break;
  case mlir::DiagnosticSeverity::Note:
  case mlir::DiagnosticSeverity::Remark:
    label = "note";
    break;
  }
  print(diagnostic, label);
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    print(note, "note");
  llvm::errs() << output;
  return llvm::StringRef(output).split('\n').first.str();
}

static mlir::DialectRegistry makeRegistry() {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  registerReferenceModels(registry);
  return registry;
}

Session::Session(const Options &options)
    : options(options),
      // One recurrence leaves nothing to do in parallel for a pass.
      context(makeRegistry(), mlir::MLIRContext::Threading::DISABLED),
      diagnostics(&context, [this](mlir::Diagnostic &diagnostic) {
        std::string line = printDiagnostic(diagnostic);
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
          lastDiagnostic = std::move(line);
      }) {
  // Operations are shown by their place; their text would drown the message.
  context.printOpOnDiagnostic(false);
}

llvm::Error Session::makePrintedFault() { return makeFault(""); }

int Session::report(llvm::Error error, std::string *firstLine) {
  int exitCode = 0;
  if (firstLine)
    *firstLine = lastDiagnostic;
  llvm::Error rest = llvm::handleErrors(
      std::move(error), [&](std::unique_ptr<Fault> fault) -> llvm::Error {
        // A diagnostic was printed when it was found.
        if (!fault->getMessage().empty())
          return llvm::Error(std::move(fault));
        exitCode = 1;
        return llvm::Error::success();
      });
  if (rest) {
    int restCode = 1;
    std::string text = renderError(std::move(rest), &restCode);
    llvm::errs() << text << '\n';
    if (firstLine)
      *firstLine = llvm::StringRef(text).split('\n').first.str();
    exitCode = std::max(exitCode, restCode);
  }
  return exitCode;
}

void Session::noteOnce(const llvm::Twine &text) {
  std::string line = text.str();
  if (llvm::is_contained(printedNotes, line))
    return;
  llvm::errs() << "note: " << line << '\n';
  printedNotes.push_back(std::move(line));
}

bool driver::isUsageFault(const llvm::Error &error) {
  bool usage = false;
  llvm::visitErrors(error, [&](const llvm::ErrorInfoBase &info) {
    if (info.isA<Fault>())
      usage |= static_cast<const Fault &>(info).getKind() == FaultKind::Usage;
  });
  return usage;
}

/// Makes all faults of `error` faults of `kind`; those that were of another get
/// the file `path`.
static llvm::Error changeKind(llvm::Error error, FaultKind kind,
                              llvm::StringRef path) {
  return llvm::handleErrors(
      std::move(error), [&](std::unique_ptr<Fault> fault) -> llvm::Error {
        if (fault->getKind() == kind || fault->getMessage().empty())
          return llvm::Error(std::move(fault));
        return llvm::make_error<Fault>(
            kind, path.str(), fault->getMessage().str(), fault->getNotes());
      });
}

llvm::Error driver::blameFile(llvm::Error error, llvm::StringRef path) {
  return llvm::handleErrors(
      std::move(error), [&](std::unique_ptr<Fault> fault) -> llvm::Error {
        llvm::Error same = llvm::Error(std::move(fault));
        return isUsageFault(same) ? std::move(same)
                                  : addFile(std::move(same), path);
      });
}

llvm::Error driver::blameCommandLine(llvm::Error error) {
  return changeKind(std::move(error), FaultKind::Usage, /*path=*/"");
}

//===----------------------------------------------------------------------===//
// Specs and attributes
//===----------------------------------------------------------------------===//

llvm::Expected<RecurrenceOp> Session::getSpec(llvm::StringRef name) {
  auto it = specs.find(name);
  if (it != specs.end())
    return it->second.recurrence;
  PhaseTimer::Scope scope(timer, "parse");
  llvm::Expected<LoadedSpec> spec = loadSpec(context, name);
  if (!spec)
    return spec.takeError();
  return specs.emplace(name.str(), std::move(*spec)).first->second.recurrence;
}

llvm::Error Session::checkAttributes(RecurrenceOp recurrence) const {
  llvm::SmallVector<llvm::StringRef> known;
  for (auto decl :
       recurrence.getAttributeDecls().getAsRange<AttributeDeclAttr>())
    known.push_back(decl.getName().getValue());
  for (const auto &[name, value] : options.attributes) {
    AttributeDeclAttr decl = recurrence.lookupAttribute(name);
    std::string specName = quoteName(recurrence.getSymName());
    if (!decl) {
      std::string note = "it has no attributes";
      if (!known.empty())
        note = "its attributes are " + llvm::join(known, ", ");
      return makeUsageFault("spec " + specName + " has no attribute " +
                                quoteName(name) + didYouMean(name, known),
                            {note});
    }
    llvm::Expected<mlir::Attribute> parsed = parseAttributeValue(decl, value);
    if (!parsed)
      return makeUsageFault(llvm::toString(parsed.takeError()));
  }
  return llvm::Error::success();
}

llvm::Expected<SpecChoice> Session::chooseSpec(const TensorFile *file,
                                               llvm::StringRef path) {
  if (options.isLibrary)
    return chooseLibrarySpec(file, path);
  SpecChoice choice;
  choice.name = options.spec;
  bool fromFile = false;
  if (choice.name.empty() && file) {
    auto it = file->metadata.find("spec");
    if (it == file->metadata.end())
      return makeUsageFault("no spec is given, and the metadata of " +
                                quoteName(path) + " names none",
                            {"give a name of 'larc list' or a .mlir file"});
    choice.name = it->second;
    fromFile = true;
  }
  llvm::Expected<RecurrenceOp> recurrence = getSpec(choice.name);
  if (!recurrence)
    return fromFile
               ? changeKind(recurrence.takeError(), FaultKind::Content, path)
               : recurrence.takeError();
  choice.recurrence = *recurrence;
  if (llvm::Error error = checkAttributes(choice.recurrence))
    return std::move(error);

  // Later values win: the command line's come last.
  std::map<std::string, std::string> values;
  if (file) {
    for (const auto &[name, value] : file->metadata) {
      AttributeDeclAttr decl = choice.recurrence.lookupAttribute(name);
      if (!decl ||
          llvm::is_contained(llvm::make_first_range(options.attributes), name))
        continue;
      llvm::Expected<mlir::Attribute> parsed = parseAttributeValue(decl, value);
      if (!parsed)
        return makeFileFault(path,
                             "metadata: " + llvm::toString(parsed.takeError()));
      values[name] = value;
    }
  }
  for (const auto &[name, value] : options.attributes)
    values[name] = value;
  choice.attributes.assign(values.begin(), values.end());
  return choice;
}

//===----------------------------------------------------------------------===//
// Computing
//===----------------------------------------------------------------------===//

DType driver::getResultDType(Form form, const Problem &problem) {
  return form == Form::Reference ? DType::F64 : problem.outputDType;
}

double driver::getDefaultLimit(Form form, const Problem &problem,
                               DType storedState) {
  // With `--gate-dtype` alone, float64 data give float64 outputs of a float32
  // state.
  DType computed = form == Form::Reference ? DType::F64 : problem.stateDType;
  double limit = std::max(getDefaultTolerance(getResultDType(form, problem)),
                          getDefaultTolerance(computed));
  if (storedState == DType::F32)
    return limit;
  return std::max(limit, getDefaultTolerance(storedState));
}

llvm::Expected<Form> Session::resolveForm(Form form, bool gradients) {
  // Segments are of chunks.
  bool hasChunkOptions = options.chunkSize != 0 || options.segments != 0;
  if (runsLibrary() && form == Form::Auto && hasChunkOptions)
    form = Form::Chunk;
  if (options.isLibrary && form != Form::Auto && !library->hasForm(form))
    return makeUsageFault("option '--form' cannot be honoured: the library "
                          "has no form '" +
                          driver::getName(form) + "' for this target");
  if (runsLibrary()) {
    if (!gradients)
      return form;
    return makeUsageFault(
        options.isLibrary
            ? "libraries have no gradients in this version"
            : "the target 'cuda' has no gradients in this version",
        {"leave them out with --no-grad"});
  }
  if (form == Form::Auto && gradients) {
    if (hasChunkOptions)
      return makeUsageFault("options '--chunk-size' and '--segments' cannot be "
                            "honoured: gradients have no compiled form in this "
                            "version");
    noteOnce("gradients have no compiled form in this version: computing with "
             "--form=reference");
    return Form::Reference;
  }
  if (form == Form::Auto && hasChunkOptions)
    form = Form::Chunk;
  if (form == Form::Chunk && !llvm::is_contained(getCPUForms(), CPUForm::Chunk))
    return makeLaterFault("the form 'chunk'",
                          "forms are auto, reference and recurrent");
  if ((form == Form::Recurrent || form == Form::Chunk) && gradients)
    return makeUsageFault(
        "form '" + getName(form) + "' has no gradients in this version",
        {options.command == Command::Check
             ? "leave them out with --no-grad, or use --form=reference"
             : "leave --grad out, or use --form=reference"});
  return form;
}

llvm::Expected<Form> Session::chooseForm(const SpecChoice &spec, Form form,
                                         Problem &problem) {
  if (runsLibrary()) {
    llvm::Expected<Library *> code = getLibrary(spec, problem, form);
    if (!code)
      return code.takeError();
    llvm::Expected<larc_plan_info> plan =
        (*code)->code->describe(problem, (*code)->getRun(form));
    if (!plan)
      return plan.takeError();
    return fromLibraryForm(plan->form);
  }
  if (form != Form::Auto)
    return form;
  return chooseCall(problem, Form::Auto).form == CPUForm::Chunk
             ? Form::Chunk
             : Form::Recurrent;
}

FormChoice Session::chooseCall(Problem &problem, Form form) {
  CPUOptions types = CPUOptions::of(problem);
  std::string key;
  llvm::raw_string_ostream os(key);
  types.print(os);
  problem.recurrence->print(os);
  auto it = costs.find(key);
  if (it == costs.end()) {
    PhaseTimer::Scope scope(timer, "choose form");
    mlir::FailureOr<CostModel> made =
        CostModel::create(problem.recurrence, types);
    // What cannot be counted cannot be compiled either, which says why.
    if (mlir::failed(made))
      return {};
    it = costs.try_emplace(key, std::move(*made)).first;
  }
  setFormOptions(types, form);
  return it->second.choose(CallShape::of(problem, options.threads), types,
                           form == Form::Auto);
}

static bool hasGate(RecurrenceOp recurrence) {
  auto isGate = [](OperandDeclAttr decl) {
    return decl.getKind() == OperandKind::Gate;
  };
  return llvm::any_of(
             recurrence.getTokenOperands().getAsRange<OperandDeclAttr>(),
             isGate) ||
         llvm::any_of(recurrence.getConstants().getAsRange<OperandDeclAttr>(),
                      isGate);
}

llvm::Error Session::checkConversions(RecurrenceOp recurrence) const {
  if (!options.gateDType || hasGate(recurrence))
    return llvm::Error::success();
  return makeUsageFault("option '--gate-dtype' cannot be honoured: spec " +
                        quoteName(recurrence.getSymName()) + " has no gates");
}

llvm::Error
Session::checkDims(const SpecChoice &spec,
                   llvm::ArrayRef<std::pair<std::string, int64_t>> dims,
                   llvm::ArrayRef<llvm::StringRef> required) {
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> module =
      flatten(spec.recurrence, spec.attributes);
  if (mlir::failed(module))
    return makePrintedFault();
  return bindDimsOption(getRecurrence(**module), dims, required);
}

llvm::Expected<Problem> Session::bind(const SpecChoice &spec, TensorMap tensors,
                                      Form form, bool gradients,
                                      std::optional<DType> defaultDType) {
  if (llvm::Error error = checkConversions(spec.recurrence))
    return std::move(error);
  if (llvm::Error error = checkPrintIRAfter(form))
    return std::move(error);
  PhaseTimer::Scope scope(timer, "bind");
  ConversionOptions conversion;
  conversion.dtype = options.dtype ? options.dtype : defaultDType;
  conversion.gateDType = options.gateDType;
  if (options.isLibrary)
    conversion = getLibraryConversion();
  conversion.allFloat64 = form == Form::Reference;
  llvm::Expected<Problem> problem =
      bindProblem(spec.recurrence, spec.attributes, std::move(tensors),
                  conversion, gradients);
  if (!problem)
    return problem.takeError();
  if (llvm::Error error = roundStates(*problem))
    return std::move(error);
  if (llvm::Error error = printFlattening(spec, problem->recurrence))
    return std::move(error);
  return problem;
}

CompileHooks Session::getCompileHooks() const {
  CompileHooks hooks;
  hooks.printIRAfter = options.printIRAfter;
  hooks.timing = options.timing;
  return hooks;
}

void Session::setFormOptions(CPUOptions &types, Form form) const {
  if (form != Form::Chunk)
    return;
  types.form = CPUForm::Chunk;
  types.chunkSize = options.chunkSize;
  types.segments = options.segments;
}

/// A segment has a chunk at least: of the longest sequence, since shorter ones
/// may be anything beside it.
static llvm::Error checkSegments(const CPUOptions &types,
                                 const Problem &problem) {
  if (types.segments <= 1)
    return llvm::Error::success();
  int64_t longest = 0;
  for (int64_t n = 0; n < problem.numSequences; ++n)
    longest = std::max(longest, problem.getLength(n));
  int64_t chunks = llvm::divideCeil(longest, types.chunkSize);
  if (types.segments <= std::max<int64_t>(chunks, 1))
    return llvm::Error::success();
  return makeUsageFault(
      "option '--segments' cannot be honoured: the longest sequence has " +
      llvm::Twine(longest) + " tokens, which make " + llvm::Twine(chunks) +
      " chunks of up to " + llvm::Twine(types.chunkSize) + ", and not " +
      llvm::Twine(types.segments) + " segments");
}

llvm::Expected<Compiled *> Session::getCompiled(const SpecChoice &spec,
                                                Problem &problem, Form form) {
  CPUOptions types = CPUOptions::of(problem);
  setFormOptions(types, form);
  if (form == Form::Chunk && types.chunkSize == 0)
    types.chunkSize = chooseCall(problem, form).chunkSize;
  if (llvm::Error error = checkSegments(types, problem))
    return std::move(error);
  // What the code depends on, as text.
  std::string key;
  llvm::raw_string_ostream os(key);
  os << spec.name << ' ';
  types.print(os);
  problem.recurrence->print(os);
  auto it = compiled.find(key);
  if (it != compiled.end())
    return &it->second;
  if (types.segments > 1 && mlir::failed(summarize(problem.recurrence)))
    return makeUsageFault("option '--segments' cannot be honoured: spec " +
                          quoteName(spec.name) +
                          " has states that do not compose");
  PhaseTimer::Scope scope(timer, "compile");
  Clock::time_point start = Clock::now();
  mlir::FailureOr<std::unique_ptr<CompiledRecurrence>> code =
      CompiledRecurrence::compile(problem.recurrence, types, getCompileHooks());
  if (mlir::failed(code))
    return makePrintedFault();
  Compiled &entry = compiled[key];
  entry.recurrence = std::move(*code);
  entry.milliseconds = getMilliseconds(Clock::now() - start);
  return &entry;
}

llvm::Expected<TensorMap> Session::compute(const SpecChoice &spec,
                                           Problem &problem, Form form,
                                           bool gradients,
                                           llvm::StringRef what) {
  if (form == Form::Reference) {
    PhaseTimer::Scope scope(timer, "run reference");
    Progress progress(what.str());
    ReferenceOptions reference;
    reference.gradients = gradients;
    reference.threads = options.threads;
    reference.progress = [&](double fraction) { progress.update(fraction); };
    return runReference(problem, reference);
  }
  llvm::Expected<TensorMap> results = createResults(problem, /*float64=*/false);
  if (!results)
    return results;
  if (runsLibrary()) {
    // Compiled for what was asked for, of which `form` was chosen.
    llvm::Expected<Library *> code =
        getLibrary(spec, problem, options.forms.front());
    if (!code)
      return code.takeError();
    PhaseTimer::Scope scope(timer, "run");
    Ticker ticker(what.str());
    if (llvm::Error error =
            (*code)->code->run(problem, *results, (*code)->getRun(form)))
      return std::move(error);
    return results;
  }
  llvm::Expected<Compiled *> code = getCompiled(spec, problem, form);
  if (!code)
    return code.takeError();
  PhaseTimer::Scope scope(timer, "run");
  // Compiled code does not say how far it is.
  Ticker ticker(what.str());
  if (llvm::Error error =
          (*code)->recurrence->run(problem, *results, options.threads))
    return std::move(error);
  return results;
}
