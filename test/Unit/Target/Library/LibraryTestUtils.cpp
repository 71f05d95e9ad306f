//===- LibraryTestUtils.cpp - Compiled libraries in tests -------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryTestUtils.h"

#include "larc/InitAll.h"
#include "larc/Specs/Specs.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace larc;
using namespace larc::test;

void LibraryTest::SetUp() {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  context.appendDialectRegistry(registry);
  llvm::SmallString<128> created;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("larc-test", created));
  folder = created.str().str();
}

void LibraryTest::TearDown() { llvm::sys::fs::remove_directories(folder); }

std::string LibraryTest::getPath(llvm::StringRef name) const {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

void LibraryTest::writeFile(llvm::StringRef name, llvm::StringRef text) const {
  std::error_code error;
  llvm::raw_fd_ostream os(getPath(name), error);
  ASSERT_FALSE(error) << error.message();
  os << text;
}

RecurrenceOp LibraryTest::bind(llvm::StringRef spec, Dims dims,
                               const Values &values) {
  RecurrenceOp loaded = load(spec);
  auto module = flatten(loaded, values);
  if (mlir::failed(module))
    return {};
  owned.push_back(std::move(*module));
  RecurrenceOp recurrence = getRecurrence(*owned.back());
  EXPECT_TRUE(mlir::succeeded(bindDims(recurrence, dims)));
  return recurrence;
}

LibraryContents LibraryTest::describe(RecurrenceOp recurrence, DType dtype) {
  LibraryContents contents;
  contents.recurrence = recurrence;
  contents.dtype = contents.gateDType = dtype;
  contents.stateDType = dtype == DType::F64 ? DType::F64 : DType::F32;
  return contents;
}

LibraryContents LibraryTest::compile(RecurrenceOp recurrence, DType dtype) {
  LibraryContents contents = describe(recurrence, dtype);
  auto code = compileForLibrary(recurrence,
                                CPUOptions::uniform(recurrence, dtype, dtype));
  EXPECT_TRUE(mlir::succeeded(code));
  contents.cpu = std::move(*code);
  return contents;
}

CudaCode LibraryTest::makeCudaCode(unsigned computeCapability) {
  CudaForm form;
  form.form = LARC_FORM_RECURRENT;
  form.cubin = "no machine code";
  CudaFormLaunch launch;
  launch.kernel = "by_token";
  launch.warps = 2;
  launch.sharedBytes = 50000;
  launch.parts = 2;
  form.launches.push_back(launch);
  CudaCode code;
  code.computeCapability = computeCapability;
  code.forms.push_back(std::move(form));
  return code;
}

std::string LibraryTest::write(LibraryContents &contents,
                               llvm::StringRef name) {
  std::string path =
      getPath(name.empty() ? "lib" + contents.getName() + ".so" : name.str());
  std::error_code code;
  llvm::raw_fd_ostream os(path, code);
  EXPECT_FALSE(code) << code.message();
  if (llvm::Error error = writeLibrary(contents, os))
    ADD_FAILURE() << llvm::toString(std::move(error));
  return path;
}

std::unique_ptr<LoadedLibrary>
LibraryTest::loadLibrary(LibraryContents &contents) {
  return take(LoadedLibrary::open(write(contents)));
}

Problem LibraryTest::makeProblem(const LoadedLibrary &library,
                                 const RandomInputs &request) {
  owned.push_back(take(library.parseSpec(context)));
  RecurrenceOp spec = getRecurrence(*owned.back());
  TensorMap inputs = take(makeRandomInputs(spec, {}, request));
  ConversionOptions conversion;
  conversion.dtype = library.getManifest().dtype;
  conversion.gateDType = library.getManifest().gateDType;
  return take(bindProblem(spec, {}, std::move(inputs), conversion,
                          /*needCotangents=*/false));
}

TensorMap LibraryTest::runLibrary(const LoadedLibrary &library,
                                  Problem &problem,
                                  const LibraryRunOptions &options) {
  TensorMap results = take(createResults(problem, /*float64=*/false));
  if (llvm::Error error = library.run(problem, results, options))
    ADD_FAILURE() << llvm::toString(std::move(error));
  return results;
}

TensorMap LibraryTest::runReferenceOf(Problem &problem) {
  TensorMap inputs;
  for (const auto &[name, tensor] : problem.storage)
    inputs.emplace(name, take(isFloat(tensor.getDType())
                                  ? tensor.convertTo(DType::F64)
                                  : tensor.clone()));
  ConversionOptions conversion;
  conversion.allFloat64 = true;
  Problem wide = take(bindProblem(problem.recurrence, {}, std::move(inputs),
                                  conversion, /*needCotangents=*/false));
  return take(runReference(wide, {}));
}
