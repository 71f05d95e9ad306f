//===- LibraryTest.cpp - Libraries on the CPU -------------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryTestUtils.h"

#include "larc/Support/Safetensors.h"

#include "llvm/Support/Program.h"

#include <dlfcn.h>
#include <thread>

using namespace larc;
using namespace larc::test;

namespace {

TEST_F(LibraryTest, SaysWhatItIs) {
  RecurrenceOp op = bind("gla", {{"K", 16}, {"V", 24}});
  LibraryContents contents = compile(op, DType::BF16);
  auto library = loadLibrary(contents);
  const LibraryManifest &manifest = library->getManifest();
  EXPECT_EQ(manifest.name, "gla");
  EXPECT_EQ(manifest.version, LARC_VERSION_STRING);
  EXPECT_EQ(manifest.dtype, DType::BF16);
  EXPECT_EQ(manifest.stateDType, DType::F32);
  ASSERT_EQ(manifest.tensors.size(), 7u);
  EXPECT_EQ(manifest.tensors[0].name, "q");
  EXPECT_EQ(manifest.tensors[4].name, "out.o");
  EXPECT_EQ(manifest.tensors[4].role, LibraryTensor::Role::Output);
  EXPECT_EQ(manifest.tensors[4].dtype, DType::BF16);
  EXPECT_EQ(manifest.tensors[5].name, "state.S");
  EXPECT_FALSE(manifest.tensors[5].required);
  EXPECT_EQ(manifest.tensors[5].sizes, (llvm::SmallVector<int64_t>{16, 24}));
  EXPECT_EQ(manifest.tensors[6].name, "final.S");
  ASSERT_EQ(manifest.code.size(), 1u);
  EXPECT_EQ(manifest.code[0].target, "cpu");
  EXPECT_EQ(manifest.code[0].forms,
            (std::vector<std::string>{"recurrent", "chunk"}));
}

TEST_F(LibraryTest, RunsAsTheReference) {
  struct Case {
    const char *spec;
    std::vector<std::pair<std::string, int64_t>> dims;
    Values values;
  };
  const Case cases[] = {
      {"gla", {{"K", 16}, {"V", 24}}, {}},
      {"gsa", {{"K", 16}, {"V", 8}, {"M", 8}}, {}},
      {"retention", {{"K", 16}, {"V", 8}}, {}},
      {"mlstm", {{"K", 8}, {"V", 8}}, {}},
  };
  for (const Case &test : cases) {
    SCOPED_TRACE(test.spec);
    RecurrenceOp op = bind(test.spec, test.dims, test.values);
    ASSERT_TRUE(op);
    LibraryContents contents = compile(op);
    auto library = loadLibrary(contents);
    RandomInputs request;
    request.dims = {{"B", 2}, {"T", 37}, {"H", 2}};
    llvm::append_range(request.dims, test.dims);
    for (bool packed : {false, true}) {
      request.initialStates = packed;
      if (packed) {
        request.dims[0].second = 1;
        request.lengths = {5, 0, 32};
      }
      Problem problem = makeProblem(*library, request);
      TensorMap expected = runReferenceOf(problem);
      for (larc_form form :
           {LARC_FORM_AUTO, LARC_FORM_RECURRENT, LARC_FORM_CHUNK}) {
        LibraryRunOptions options;
        options.form = form;
        options.threads = 2;
        expectClose(runLibrary(*library, problem, options), expected, 2e-5);
      }
    }
  }
}

TEST_F(LibraryTest, SharesHeads) {
  RecurrenceOp op = bind("gla", {{"K", 8}, {"V", 8}});
  LibraryContents contents = compile(op);
  auto library = loadLibrary(contents);
  RandomInputs request;
  request.dims = {{"B", 1}, {"T", 9}, {"H", 4}, {"K", 8}, {"V", 8}};
  request.headCounts = {{"q", 2}, {"k", 1}};
  Problem problem = makeProblem(*library, request);
  expectClose(runLibrary(*library, problem, {}), runReferenceOf(problem), 2e-5);
  request.dims[1].second = 0;
  Problem empty = makeProblem(*library, request);
  expectClose(runLibrary(*library, empty, {}), runReferenceOf(empty), 2e-5);
}

TEST_F(LibraryTest, ResumesInsideOfAPeriod) {
  TensorFile file = take(readSafetensors(
      LARC_TEST_DATA_DIR "/nested_gdn2__intervals-1.2.4_period-4_promotion-"
                         "learned__resumed.safetensors"));
  Problem bound = take(bindProblem(
      load("nested_gdn2"), Values{{"intervals", "1,2,4"}, {"period", "4"}},
      cloneTensors(file.tensors), {}, false));
  LibraryContents contents = compile(bound.recurrence, bound.outputDType);
  auto library = loadLibrary(contents);
  owned.push_back(take(library->parseSpec(context)));
  Problem problem = take(bindProblem(getRecurrence(*owned.back()), {},
                                     cloneTensors(file.tensors), {}, false));
  EXPECT_TRUE(llvm::any_of(problem.positions, [](int64_t p) { return p; }));
  TensorMap expected;
  for (auto &[name, tensor] : file.tensors)
    if (llvm::StringRef(name).starts_with("out.") ||
        llvm::StringRef(name).starts_with("final."))
      expected.emplace(name, std::move(tensor));
  EXPECT_GT(expected.size(), 1u);
  expectClose(runLibrary(*library, problem, {}), expected, 2e-5);
}

/// The interface itself, on dense tensors of one float each.
class InterfaceTest : public LibraryTest {
protected:
  void SetUp() override {
    LibraryTest::SetUp();
    RecurrenceOp op = bind("gla", {{"K", 4}, {"V", 4}});
    contents = compile(op);
    library = loadLibrary(contents);
    functions = &library->getFunctions();
    shape.target = LARC_CPU;
    shape.sequences = 3;
    shape.tokens = 2;
    shape.heads = 1;
  }
  void TearDown() override {
    functions->release(plan);
    library.reset();
    LibraryTest::TearDown();
  }
  std::string messageOf(larc_status wanted, larc_status status) {
    EXPECT_EQ(status, wanted);
    return functions->message();
  }

  LibraryContents contents;
  std::unique_ptr<LoadedLibrary> library;
  const larc_library *functions = nullptr;
  larc_shape shape = {};
  larc_plan *plan = nullptr;
};

TEST_F(InterfaceTest, RefusesShapes) {
  EXPECT_EQ(messageOf(LARC_INVALID, functions->plan(nullptr, nullptr, &plan)),
            "expected a shape and a place for the plan");
  larc_shape wrong = shape;
  wrong.heads = -1;
  EXPECT_EQ(messageOf(LARC_INVALID, functions->plan(&wrong, nullptr, &plan)),
            "expected a shape without negative sizes, found 3 sequences, 2 "
            "tokens, -1 heads");
  wrong = shape;
  wrong.sequences = int64_t(1) << 40;
  messageOf(LARC_TOO_LARGE, functions->plan(&wrong, nullptr, &plan));
  wrong = shape;
  wrong.target = larc_target(5);
  EXPECT_EQ(messageOf(LARC_INVALID, functions->plan(&wrong, nullptr, &plan)),
            "unknown target 5");
  wrong = shape;
  wrong.heads = 6;
  larc_layout layouts[7] = {};
  layouts[1].heads = 4;
  EXPECT_EQ(messageOf(LARC_INVALID, functions->plan(&wrong, layouts, &plan)),
            "tensor 'k' has 4 heads, expected a number that divides 6");
  layouts[1].heads = 0;
  layouts[6].heads = 3;
  EXPECT_EQ(messageOf(LARC_INVALID, functions->plan(&wrong, layouts, &plan)),
            "tensor 'final.S' has 3 heads, expected 6");
  wrong = shape;
  wrong.target = LARC_CUDA;
  EXPECT_NE(functions->plan(&wrong, nullptr, &plan), LARC_OK);
  EXPECT_EQ(plan, nullptr);
}

TEST_F(InterfaceTest, RefusesPointers) {
  ASSERT_EQ(functions->plan(&shape, nullptr, &plan), LARC_OK);
  const void *tensors[7] = {};
  alignas(256) static char workspace[1 << 16];
  ASSERT_LE(functions->workspace(plan), sizeof(workspace));
  EXPECT_EQ(messageOf(LARC_INVALID, functions->run(plan, tensors, nullptr,
                                                   workspace, nullptr)),
            "tensor 'q' is null");
  float numbers[64] = {};
  llvm::fill(tensors, numbers);
  tensors[2] = reinterpret_cast<char *>(numbers) + 1;
  EXPECT_EQ(messageOf(LARC_INVALID, functions->run(plan, tensors, nullptr,
                                                   workspace, nullptr)),
            "tensor 'v' does not lie at a multiple of 4 bytes");
  tensors[2] = numbers;
  EXPECT_EQ(messageOf(LARC_INVALID,
                      functions->run(plan, tensors, nullptr, nullptr, nullptr))
                .find("expected a workspace of "),
            0u);
  int64_t offsets[4] = {};
  larc_lists lists = {};
  lists.offsets = offsets;
  EXPECT_EQ(messageOf(LARC_INVALID, functions->run(plan, tensors, &lists,
                                                   workspace, nullptr)),
            "the plan is not for packed sequences: expected no offsets");
}

/// Views, slots, final states in place and final states that nobody wants.
TEST_F(InterfaceTest, FindsTensors) {
  constexpr int64_t sequences = 3, tokens = 2, size = 4;
  // q, k, v and g side by side in one row of each token.
  std::vector<float> fused(sequences * tokens * 4 * size);
  for (size_t i = 0; i < fused.size(); ++i)
    fused[i] = 0.01f * float(i % 17) - 0.05f;
  std::vector<float> out(sequences * tokens * size, -1.0f), dense = out;
  std::vector<float> pool(5 * size * size, 0.5f), states = pool;
  states.resize(sequences * size * size);
  larc_layout layouts[7] = {};
  for (int i = 0; i < 4; ++i) {
    layouts[i].strided = 1;
    layouts[i].sequence = tokens * 4 * size;
    layouts[i].token = 4 * size;
  }
  ASSERT_EQ(functions->plan(&shape, layouts, &plan), LARC_OK)
      << functions->message();
  std::vector<char> memory(functions->workspace(plan) + 256);
  void *workspace = reinterpret_cast<void *>(
      llvm::alignTo(reinterpret_cast<uintptr_t>(memory.data()), 256));
  const void *tensors[7] = {&fused[0],        &fused[size], &fused[2 * size],
                            &fused[3 * size], dense.data(), states.data(),
                            states.data()};
  ASSERT_EQ(functions->run(plan, tensors, nullptr, workspace, nullptr),
            LARC_OK);
  // The same in slots, but for the second sequence, which has none.
  int32_t slots[sequences] = {4, -1, 0};
  larc_lists lists = {};
  lists.slots = slots;
  tensors[4] = out.data();
  tensors[5] = tensors[6] = pool.data();
  ASSERT_EQ(functions->run(plan, tensors, &lists, workspace, nullptr), LARC_OK);
  auto expectEqual = [&](const std::vector<float> &got, int64_t at,
                         const std::vector<float> &expected, int64_t from,
                         int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      EXPECT_EQ(got[at + i], expected[from + i]) << at + i;
  };
  constexpr int64_t matrix = size * size, row = tokens * size;
  expectEqual(pool, 4 * matrix, states, 0, matrix);
  expectEqual(pool, 0, states, 2 * matrix, matrix);
  expectEqual(out, 0, dense, 0, row);
  expectEqual(out, 2 * row, dense, 2 * row, row);
  for (int64_t i = row; i < 2 * row; ++i)
    EXPECT_EQ(out[i], -1.0f);
  for (int64_t i = matrix; i < 4 * matrix; ++i)
    EXPECT_EQ(pool[i], 0.5f);

  functions->release(plan);
  shape.discard_finals = 1;
  ASSERT_EQ(functions->plan(&shape, layouts, &plan), LARC_OK);
  memory.assign(functions->workspace(plan) + 256, 0);
  workspace = reinterpret_cast<void *>(
      llvm::alignTo(reinterpret_cast<uintptr_t>(memory.data()), 256));
  std::vector<float> initial(sequences * matrix, 0.5f);
  tensors[4] = out.data();
  tensors[5] = initial.data();
  tensors[6] = nullptr;
  ASSERT_EQ(functions->run(plan, tensors, nullptr, workspace, nullptr),
            LARC_OK);
  EXPECT_EQ(out, dense);
}

TEST_F(InterfaceTest, RunsInThreads) {
  shape.sequences = 1;
  ASSERT_EQ(functions->plan(&shape, nullptr, &plan), LARC_OK);
  std::vector<float> inputs(8, 0.25f);
  std::vector<std::vector<float>> outputs(4, std::vector<float>(8));
  std::vector<std::thread> threads;
  std::vector<std::string> messages(4);
  threads.reserve(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    threads.emplace_back([&, i] {
      std::vector<char> memory(functions->workspace(plan) + 256);
      void *workspace = reinterpret_cast<void *>(
          llvm::alignTo(reinterpret_cast<uintptr_t>(memory.data()), 256));
      std::vector<float> state(16);
      const void *tensors[7] = {inputs.data(), inputs.data(),     inputs.data(),
                                inputs.data(), outputs[i].data(), nullptr,
                                state.data()};
      EXPECT_EQ(functions->run(plan, tensors, nullptr, workspace, nullptr),
                LARC_OK);
      // What is wrong in one thread is no other's business.
      if (i == 2)
        functions->run(plan, nullptr, nullptr, workspace, nullptr);
      messages[i] = functions->message();
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::vector<float> &output : outputs)
    EXPECT_EQ(output, outputs[0]);
  EXPECT_EQ(messages[0], "");
  EXPECT_EQ(messages[2], "expected a plan and tensors");
}

TEST_F(LibraryTest, MayBeManyInOneProcess) {
  RecurrenceOp op = bind("gla", {{"K", 8}, {"V", 8}});
  LibraryContents first = compile(op);
  LibraryContents second = compile(op, DType::F64);
  second.name = "other one";
  EXPECT_EQ(second.getName(), "other_one");
  std::vector<std::unique_ptr<LoadedLibrary>> libraries;
  for (LibraryContents *contents : {&first, &second})
    libraries.push_back(loadLibrary(*contents));
  for (const std::unique_ptr<LoadedLibrary> &library : libraries) {
    RandomInputs request;
    request.dims = {{"B", 1}, {"T", 5}, {"H", 2}, {"K", 8}, {"V", 8}};
    Problem problem = makeProblem(*library, request);
    expectClose(runLibrary(*library, problem, {}), runReferenceOf(problem),
                2e-5);
  }
}

TEST_F(LibraryTest, ExportsNothingElse) {
  RecurrenceOp op = bind("gla", {{"K", 8}, {"V", 8}});
  LibraryContents contents = compile(op);
  std::string path = write(contents);
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(handle) << dlerror();
  for (const char *name :
       {"larc_gla_plan", "larc_gla_run", "larc_gla_release", "larc_gla_load",
        "larc_gla_unload", "larc_gla_message", "larc_gla_workspace",
        "larc_gla_describe", "larc_gla_library", LARC_LIBRARY_FUNCTION})
    EXPECT_TRUE(dlsym(handle, name)) << name;
  for (const char *name : {"larc_rt_run", "larc_library_data", "larc_fail",
                           "larc_gla_by_token", "larc_gla_by_chunk"})
    EXPECT_FALSE(dlsym(handle, name)) << name;
  dlclose(handle);
}

TEST_F(LibraryTest, RefusesOtherFiles) {
  writeFile("text.so", "no library");
  EXPECT_FALSE(LoadedLibrary::isLibrary(getPath("text.so")));
  EXPECT_FALSE(LoadedLibrary::isLibrary(getPath("missing.so")));
  auto opened = LoadedLibrary::open(getPath("text.so"));
  ASSERT_FALSE(bool(opened));
  EXPECT_NE(llvm::toString(opened.takeError()).find("cannot be loaded"),
            std::string::npos);
  opened = LoadedLibrary::open("/lib/x86_64-linux-gnu/libm.so.6");
  ASSERT_FALSE(bool(opened));
  llvm::consumeError(opened.takeError());
}

TEST_F(LibraryTest, RefusesContents) {
  RecurrenceOp op = bind("gla", {{"K", 8}, {"V", 8}});
  LibraryContents contents = describe(op);
  std::string text;
  llvm::raw_string_ostream os(text);
  EXPECT_EQ(llvm::toString(writeLibrary(contents, os)),
            "a library needs code for one target at least");
  contents = compile(op);
  contents.stateDType = DType::BF16;
  EXPECT_EQ(llvm::toString(writeLibrary(contents, os)),
            "code for CPUs has states of type f32, found bf16");
  EXPECT_TRUE(text.empty());
}

/// A program in C, and one in C++, that are linked with a library.
TEST_F(LibraryTest, IsUsedFromC) {
  RecurrenceOp op = bind("gla", {{"K", 4}, {"V", 8}});
  LibraryContents contents = compile(op);
  std::string path = write(contents);
  EXPECT_TRUE(LoadedLibrary::isLibrary(path));
  writeFile("gla.h", writeLibraryHeader(contents));
  llvm::StringRef program = R"c(
#include "gla.h"
#include "gla.h" /* twice is once */
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  float q[2 * larc_gla_size_K], v[2 * larc_gla_size_V];
  float o[2 * larc_gla_size_V], S[larc_gla_size_K * larc_gla_size_V];
  larc_shape shape = {LARC_CPU};
  larc_gla_tensors tensors = {0};
  larc_plan_info info;
  larc_plan *plan;
  void *workspace;
  int i;
  for (i = 0; i < 2 * larc_gla_size_K; ++i) q[i] = 0.0f;
  q[0] = 1.0f;
  q[larc_gla_size_K] = 2.0f;
  for (i = 0; i < 2 * larc_gla_size_V; ++i) v[i] = (float)i;
  shape.sequences = 1;
  shape.tokens = 2;
  shape.heads = 1;
  if (larc_gla_plan(&shape, NULL, &plan) != LARC_OK) {
    puts(larc_gla_message());
    return 1;
  }
  workspace = aligned_alloc(256, larc_gla_workspace(plan) + 256 -
                                     larc_gla_workspace(plan) % 256);
  tensors.q = tensors.k = tensors.g = q;
  tensors.v = v;
  tensors.out_o = o;
  tensors.final_S = S;
  if (larc_gla_run(plan, &tensors, NULL, workspace, NULL) != LARC_OK) {
    puts(larc_gla_message());
    return 1;
  }
  larc_gla_describe(plan, &info);
  larc_gla_release(plan);
  free(workspace);
  printf("%d %d %.3f\n", (int)info.form, (int)info.blocks, o[1]);
  tensors.q = NULL;
  return larc_gla_library()->version == LARC_LIBRARY_VERSION ? 0 : 1;
}
)c";
  writeFile("program.c", program);
  writeFile("program.cpp", program);
  for (auto [compiler, source] :
       {std::pair(LARC_TEST_C_COMPILER, "program.c"),
        std::pair(LARC_TEST_CXX_COMPILER, "program.cpp")}) {
    SCOPED_TRACE(source);
    std::string binary = getPath("program"), messages = getPath("messages");
    std::string rpath = "-Wl,-rpath," + folder;
    std::string file = getPath(source);
    std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""),
                                                  llvm::StringRef(messages),
                                                  llvm::StringRef(messages)};
    auto run = [&](llvm::ArrayRef<llvm::StringRef> arguments) {
      int status = llvm::sys::ExecuteAndWait(arguments[0], arguments,
                                             std::nullopt, redirects);
      auto text = llvm::MemoryBuffer::getFile(messages);
      EXPECT_EQ(status, 0) << (*text)->getBuffer().str();
      return (*text)->getBuffer().str();
    };
    run({compiler, "-Wall", "-Wextra", "-Werror",
         "-Wno-missing-field-initializers", file, path, rpath, "-o", binary});
    // State rows decay by exp(g), are read by q: 0.5 is 1 / sqrt(4).
    EXPECT_EQ(run({binary}), "1 1 0.500\n");
  }
}

} // namespace
