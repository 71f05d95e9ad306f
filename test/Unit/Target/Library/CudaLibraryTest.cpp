//===- CudaLibraryTest.cpp - Libraries on a GPU that there is not -*- C++ -*-=//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeDriver.h"
#include "LibraryTestUtils.h"

#include "larc/Support/Error.h"

#include <cmath>
#include <dlfcn.h>

using namespace larc;
using namespace larc::test;

namespace {

/// What a kernel was given for a tensor.
struct SeenTensor {
  uint64_t pointer;
  int64_t sequence, row, head;
  int32_t group;
};

struct SeenLaunch {
  std::string kernel;
  unsigned grid, block, shared;
  const void *stream;
  uint64_t offsets, slots, positions;
  int64_t tokens;
  int32_t heads;
  std::vector<SeenTensor> tensors;
  int32_t segments;
  bool overlaps;
  uint64_t workspace;
  /// As the driver of the tests makes them.
  std::vector<larc_cu_tensor_map> maps;
};

/// Takes parameters one after the other, each at a multiple of its size.
class ParameterReader {
public:
  explicit ParameterReader(const std::string &bytes) : bytes(bytes) {}

  template <typename T>
  T next() {
    T value;
    at = llvm::alignTo(at, sizeof(T));
    EXPECT_LE(at + sizeof(T), bytes.size());
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    at += sizeof(T);
    return value;
  }
  bool isAtEnd() const { return at == bytes.size(); }
  void skipTo(size_t offset) {
    EXPECT_LE(at, offset);
    at = offset;
  }
  larc_cu_tensor_map nextMap() {
    larc_cu_tensor_map map;
    EXPECT_LE(at + sizeof(map), bytes.size());
    std::memcpy(&map, bytes.data() + at, sizeof(map));
    at += sizeof(map);
    return map;
  }

private:
  const std::string &bytes;
  size_t at = 0;
};

/// Libraries for GPUs, with a driver that notes what it is asked for.
class CudaLibraryTest : public LibraryTest {
protected:
  /// Has the last error at an operation in `message` while it lives.
  mlir::ScopedDiagnosticHandler keepMessage(std::string &message) {
    return {&context, [&message](mlir::Diagnostic &diagnostic) {
              message = diagnostic.str();
              return mlir::success();
            }};
  }

  static void SetUpTestSuite() {
    // Whoever asks for libcuda.so.1 from here on gets this one, by its name.
    void *handle = dlopen(LARC_TEST_FAKE_DRIVER, RTLD_NOW | RTLD_GLOBAL);
    ASSERT_TRUE(handle) << dlerror();
    auto find =
        reinterpret_cast<FakeDriverFunction>(dlsym(handle, fakeDriverFunction));
    ASSERT_TRUE(find);
    driver = find();
  }
  void SetUp() override {
    LibraryTest::SetUp();
    driver->reset();
    RecurrenceOp op = bind("gla", {{"K", 16}, {"V", 24}});
    contents = describe(op, DType::BF16);
    contents.cuda.push_back(makeCudaCode());
    shape.target = LARC_CUDA;
    shape.sequences = 3;
    shape.tokens = 5;
    shape.heads = 4;
    for (size_t i = 0; i < tensors.size(); ++i)
      tensors[i] = reinterpret_cast<const void *>(0x10000 * (i + 1));
  }
  void open() {
    library = loadLibrary(contents);
    functions = &library->getFunctions();
    driver->onLaunch = [this](const larc_cu_launch_config &config,
                              const std::string &kernel,
                              const std::string &parameters) {
      ParameterReader reader(parameters);
      SeenLaunch launch = {};
      launch.kernel = kernel;
      launch.grid = config.gridX;
      launch.block = config.blockX;
      launch.shared = config.sharedBytes;
      launch.stream = config.stream;
      launch.overlaps = config.attributeCount == 1 &&
                        config.attributes->id == LARC_CU_LAUNCH_PROGRAMMATIC &&
                        config.attributes->value.programmatic == 1;
      launch.offsets = reader.next<uint64_t>();
      launch.slots = reader.next<uint64_t>();
      launch.positions = reader.next<uint64_t>();
      launch.tokens = reader.next<int64_t>();
      launch.heads = reader.next<int32_t>();
      for (uint32_t i = 0; i < functions->tensors; ++i) {
        SeenTensor &tensor = launch.tensors.emplace_back();
        tensor.pointer = reader.next<uint64_t>();
        tensor.sequence = reader.next<int64_t>();
        tensor.row = reader.next<int64_t>();
        tensor.head = reader.next<int64_t>();
        tensor.group = reader.next<int32_t>();
      }
      if (!reader.isAtEnd()) {
        launch.segments = reader.next<int32_t>();
        launch.workspace = reader.next<uint64_t>();
      }
      if (!reader.isAtEnd())
        reader.skipTo(fakeMapsOffset);
      while (!reader.isAtEnd())
        launch.maps.push_back(reader.nextMap());
      EXPECT_TRUE(reader.isAtEnd());
      launches.push_back(launch);
    };
  }
  void TearDown() override {
    if (functions)
      functions->release(plan);
    library.reset();
    LibraryTest::TearDown();
  }
  std::string makePlan(larc_status wanted = LARC_OK,
                       const larc_layout *layouts = nullptr) {
    functions->release(plan);
    larc_status status = functions->plan(&shape, layouts, &plan);
    EXPECT_EQ(status, wanted) << functions->message();
    return functions->message();
  }
  std::string run(larc_status wanted = LARC_OK,
                  const larc_lists *lists = nullptr, void *memory = nullptr) {
    launches.clear();
    larc_status status =
        functions->run(plan, tensors.data(), lists, memory, stream);
    EXPECT_EQ(status, wanted) << functions->message();
    return functions->message();
  }

  static FakeDriver *driver;
  LibraryContents contents;
  std::unique_ptr<LoadedLibrary> library;
  const larc_library *functions = nullptr;
  larc_shape shape = {};
  larc_plan *plan = nullptr;
  std::vector<const void *> tensors = std::vector<const void *>(7);
  void *stream = reinterpret_cast<void *>(0x77);
  std::vector<SeenLaunch> launches;
};

FakeDriver *CudaLibraryTest::driver = nullptr;

TEST_F(CudaLibraryTest, Launches) {
  open();
  makePlan();
  EXPECT_EQ(driver->sharedBytes["by_token"], 50000);
  run();
  ASSERT_EQ(launches.size(), 1u);
  const SeenLaunch &launch = launches[0];
  EXPECT_EQ(launch.kernel, "by_token");
  EXPECT_EQ(launch.grid, 3u * 4 * 2);
  EXPECT_EQ(launch.block, 64u);
  EXPECT_EQ(launch.shared, 50000u);
  EXPECT_EQ(launch.stream, stream);
  EXPECT_EQ(launch.offsets, 0u);
  EXPECT_EQ(launch.slots, 0u);
  EXPECT_EQ(launch.positions, 0u);
  EXPECT_EQ(launch.tokens, 5);
  EXPECT_EQ(launch.heads, 4);
  EXPECT_EQ(launch.segments, 0); // which this kernel does not take
  const SeenTensor &v = launch.tensors[2], &state = launch.tensors[5];
  EXPECT_EQ(v.pointer, 0x30000u);
  EXPECT_EQ(v.head, 24);
  EXPECT_EQ(v.row, 4 * 24);
  EXPECT_EQ(v.sequence, 5 * 4 * 24);
  EXPECT_EQ(v.group, 1);
  EXPECT_EQ(state.pointer, 0x60000u);
  EXPECT_EQ(state.row, 24);
  EXPECT_EQ(state.head, 16 * 24);
  EXPECT_EQ(state.sequence, 4 * 16 * 24);
}

TEST_F(CudaLibraryTest, DoesNothingElseInARun) {
  open();
  makePlan();
  driver->calls.clear();
  for (int i = 0; i < 3; ++i)
    run();
  EXPECT_EQ(driver->calls,
            (std::map<std::string, int>{{"cuLaunchKernelEx", 3}}));
  // Nothing to do: no launch at all.
  shape.sequences = 0;
  makePlan();
  driver->calls.clear();
  run();
  EXPECT_TRUE(driver->calls.empty());
  // No tokens: states are still copied.
  shape.sequences = 3;
  shape.tokens = 0;
  makePlan();
  run();
  EXPECT_EQ(launches.size(), 1u);
}

TEST_F(CudaLibraryTest, FindsTensors) {
  open();
  shape.packed = 1;
  larc_layout layouts[7] = {};
  layouts[0].heads = 2;
  layouts[1].strided = 1;
  layouts[1].token = 4096;
  layouts[1].head = 64;
  makePlan(LARC_OK, layouts);
  int64_t offsets[4] = {};
  int32_t slots[3] = {};
  int64_t positions[3] = {};
  larc_lists lists = {offsets, slots, positions};
  tensors[5] = tensors[6];
  run(LARC_OK, &lists);
  ASSERT_EQ(launches.size(), 1u);
  const SeenLaunch &launch = launches[0];
  EXPECT_EQ(launch.offsets, reinterpret_cast<uint64_t>(offsets));
  EXPECT_EQ(launch.slots, reinterpret_cast<uint64_t>(slots));
  EXPECT_EQ(launch.positions, reinterpret_cast<uint64_t>(positions));
  const SeenTensor &q = launch.tensors[0], &k = launch.tensors[1];
  EXPECT_EQ(q.group, 2);
  EXPECT_EQ(q.row, 2 * 16);
  EXPECT_EQ(q.sequence, 0);
  EXPECT_EQ(k.row, 4096);
  EXPECT_EQ(k.head, 64);
  EXPECT_EQ(launch.tensors[5].pointer, launch.tensors[6].pointer);
  run(LARC_INVALID);
}

TEST_F(CudaLibraryTest, HasRowsOfInitialValues) {
  RecurrenceOp op = bind("abc", {{"K", 16}, {"V", 16}, {"M", 8}});
  contents.recurrence = op;
  open();
  const LibraryManifest &manifest = library->getManifest();
  tensors.resize(manifest.tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    bool isInitial =
        manifest.tensors[i].role == LibraryTensor::Role::InitialState;
    tensors[i] =
        isInitial ? nullptr : reinterpret_cast<const void *>(0x10000 * (i + 1));
  }
  makePlan();
  run();
  ASSERT_EQ(launches.size(), 1u);
  unsigned infinite = 0;
  for (auto [i, tensor] : llvm::enumerate(manifest.tensors)) {
    if (tensor.role != LibraryTensor::Role::InitialState)
      continue;
    const SeenTensor &seen = launches[0].tensors[i];
    EXPECT_EQ(seen.sequence, 0);
    EXPECT_EQ(seen.row, 0);
    EXPECT_EQ(seen.head, 0);
    EXPECT_EQ(seen.pointer % 16, 0u);
    const auto *row = reinterpret_cast<const float *>(seen.pointer);
    int64_t size = tensor.sizes.empty() ? 1 : tensor.sizes.back();
    for (int64_t j = 0; j < size; ++j)
      EXPECT_EQ(row[j], row[0]);
    infinite += std::isinf(row[0]);
  }
  EXPECT_EQ(infinite, 1u);
}

TEST_F(CudaLibraryTest, ChecksAlignment) {
  open();
  larc_layout layouts[7] = {};
  layouts[2].strided = 1;
  layouts[2].sequence = 800;
  layouts[2].token = 100;
  layouts[2].head = 24;
  EXPECT_EQ(makePlan(LARC_INVALID, layouts),
            "tensor 'v': expected a distance between tokens that is a multiple "
            "of 8 elements, found 100");
  shape.tokens = 1;
  makePlan(LARC_OK, layouts);
  // A single sequence may have any slot.
  shape.sequences = 1;
  layouts[5].strided = 1;
  layouts[5].sequence = 1002;
  layouts[5].head = 16 * 24;
  EXPECT_EQ(makePlan(LARC_INVALID, layouts),
            "tensor 'state.S': expected a distance between sequences that is a "
            "multiple of 4 elements, found 1002");
  layouts[5].sequence = 1004;
  makePlan(LARC_OK, layouts);
  tensors[3] = reinterpret_cast<const void *>(0x40008);
  EXPECT_EQ(run(LARC_INVALID),
            "tensor 'g' does not lie at a multiple of 16 bytes");
}

TEST_F(CudaLibraryTest, HasManySequences) {
  open();
  shape.sequences = 1 << 20;
  shape.heads = 128;
  makePlan();
  run();
  EXPECT_EQ(launches.at(0).grid, 1u << 28);
  EXPECT_EQ(launches.at(0).tensors[2].head * 128 * 5,
            launches.at(0).tensors[2].sequence);
  shape.sequences = 1 << 24;
  EXPECT_NE(makePlan(LARC_TOO_LARGE).find("16777216 sequences of 128 heads"),
            std::string::npos);
}

TEST_F(CudaLibraryTest, ChoosesForms) {
  CudaForm chunk;
  chunk.form = LARC_FORM_CHUNK;
  chunk.chunkSize = 64;
  chunk.leastTokens = 100;
  chunk.cubin = "no machine code either";
  chunk.leastSegmentTokens = 512;
  chunk.segmentBytes = 1000;
  CudaFormLaunch summarise;
  summarise.kernel = "summaries";
  summarise.warps = 4;
  summarise.segmented = summarise.onlyIfCut = true;
  CudaFormLaunch scan = summarise;
  scan.kernel = "chunks";
  scan.onlyIfCut = false;
  chunk.launches = {summarise, scan};
  contents.cuda[0].forms.push_back(chunk);
  open();
  makePlan();
  larc_plan_info info;
  functions->describe(plan, &info);
  EXPECT_EQ(info.form, LARC_FORM_RECURRENT);
  // Long sequences of few heads are cut.
  shape.tokens = 4096;
  makePlan();
  functions->describe(plan, &info);
  EXPECT_EQ(info.form, LARC_FORM_CHUNK);
  EXPECT_EQ(info.chunk_size, 64);
  EXPECT_EQ(info.segments, 8);
  EXPECT_EQ(info.launches, 2);
  EXPECT_EQ(info.blocks, 3 * 4 * 8);
  EXPECT_EQ(info.workspace_bytes, llvm::alignTo(3 * 4 * 8 * 1000, 256));
  EXPECT_NE(run(LARC_INVALID).find("expected a workspace of "),
            std::string::npos);
  void *memory = reinterpret_cast<void *>(0x100000);
  run(LARC_OK, nullptr, memory);
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].kernel, "summaries");
  EXPECT_EQ(launches[1].kernel, "chunks");
  // The second may start before the first has ended, which waits for all
  // before.
  EXPECT_FALSE(launches[0].overlaps);
  EXPECT_TRUE(launches[1].overlaps);
  EXPECT_EQ(launches[1].segments, 8);
  EXPECT_EQ(launches[1].workspace, 0x100000u);
  EXPECT_EQ(launches[1].grid, 96u);
  // Whole sequences need no memory.
  shape.segments = 1;
  makePlan();
  functions->describe(plan, &info);
  EXPECT_EQ(info.workspace_bytes, 0);
  run(LARC_OK);
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].kernel, "chunks");
  EXPECT_FALSE(launches[0].overlaps);
  EXPECT_EQ(launches[0].grid, 12u);
  // By the average length.
  shape.packed = 1;
  shape.tokens = 290;
  makePlan();
  functions->describe(plan, &info);
  EXPECT_EQ(info.form, LARC_FORM_RECURRENT);
  shape.form = LARC_FORM_CHUNK;
  makePlan();
  functions->describe(plan, &info);
  EXPECT_EQ(info.form, LARC_FORM_CHUNK);
}

/// Chunks whose kernels copy q and v by tensor maps.
static CudaForm makeMappedForm() {
  CudaForm form;
  form.form = LARC_FORM_CHUNK;
  form.chunkSize = 32;
  form.leastTokens = 16;
  form.cubin = "no machine code either";
  form.leastSegmentTokens = 128;
  form.segmentBytes = 1000;
  form.maps = {{0, 32, DType::BF16}, {2, 32, DType::BF16}};
  CudaFormLaunch scan;
  scan.kernel = "chunks";
  scan.warps = 4;
  scan.segmented = true;
  form.launches = {scan};
  return form;
}

/// The words of a map of bf16: extents, distances, and the box.
static std::vector<uint64_t> getMapWords(uint64_t address,
                                         std::vector<uint64_t> dims,
                                         std::vector<uint64_t> strides,
                                         uint64_t rows) {
  std::vector<uint64_t> words = {
      uint64_t(LARC_CU_TENSOR_BF16) << 32 | LARC_CU_SWIZZLE_128, address};
  words.insert(words.end(), dims.begin(), dims.end());
  words.insert(words.end(), strides.begin(), strides.end());
  words.insert(words.end(), {64, 1, rows, 1});
  return words;
}
static std::vector<uint64_t> getMapWords(const larc_cu_tensor_map &map) {
  return std::vector<uint64_t>(map.opaque, map.opaque + 13);
}

TEST_F(CudaLibraryTest, MakesTensorMaps) {
  contents.cuda[0].forms.push_back(makeMappedForm());
  open();
  shape.tokens = 100;
  shape.segments = 1;
  larc_layout layouts[7] = {};
  layouts[0].heads = 2; // which share a head of q
  makePlan(LARC_OK, layouts);
  driver->calls.clear();
  run();
  EXPECT_EQ(driver->calls,
            (std::map<std::string, int>{{"cuLaunchKernelEx", 1},
                                        {"cuTensorMapEncodeTiled", 2}}));
  ASSERT_EQ(launches.size(), 1u);
  std::vector<larc_cu_tensor_map> maps = launches[0].maps;
  ASSERT_EQ(maps.size(), 4u);
  EXPECT_EQ(getMapWords(maps[0]),
            getMapWords(0x10000, {16, 2, 100, 3}, {32, 64, 6400}, 32));
  EXPECT_EQ(getMapWords(maps[2]),
            getMapWords(0x30000, {24, 4, 100, 3}, {48, 192, 19200}, 32));
  // Nothing lies behind the ends of sequences that are not packed.
  EXPECT_EQ(maps[1].opaque[1], 0u);
  EXPECT_EQ(maps[3].opaque[1], 0u);

  // Packed sequences are one, and their ends are copied row by row.
  shape.packed = 1;
  makePlan();
  larc_lists lists = {};
  lists.offsets = reinterpret_cast<const int64_t *>(0x999000);
  run(LARC_OK, &lists);
  maps = launches.at(0).maps;
  EXPECT_EQ(getMapWords(maps[2]),
            getMapWords(0x30000, {24, 4, 100, 1}, {48, 192, 48}, 32));
  EXPECT_EQ(getMapWords(maps[3]),
            getMapWords(0x30000, {24, 4, 100, 1}, {48, 192, 48}, 1));
}

TEST_F(CudaLibraryTest, MapsRepeatedTensors) {
  contents.cuda[0].forms.push_back(makeMappedForm());
  open();
  shape.tokens = 100;
  shape.segments = 1;
  // All sequences and heads have the same values.
  larc_layout layouts[7] = {};
  layouts[2].strided = 1;
  layouts[2].token = 96;
  makePlan(LARC_OK, layouts);
  run();
  EXPECT_EQ(getMapWords(launches.at(0).maps.at(2)),
            getMapWords(0x30000, {24, 1, 100, 1}, {48, 192, 48}, 32));
  // A tensor that is not there has no map.
  shape.tokens = 0;
  shape.form = LARC_FORM_CHUNK;
  makePlan();
  tensors[2] = nullptr;
  run();
  EXPECT_EQ(launches.at(0).maps.at(2).opaque[1], 0u);
}

/// What maps cannot describe has the form that needs none.
TEST_F(CudaLibraryTest, ChoosesFormsByDistances) {
  contents.cuda[0].forms.push_back(makeMappedForm());
  open();
  shape.tokens = 100;
  larc_layout layouts[7] = {};
  layouts[2].strided = 1;
  layouts[2].sequence = 9600;
  layouts[2].head = 24;
  larc_plan_info info;
  for (int64_t token : {int64_t(0), int64_t(-96), int64_t(1) << 40}) {
    SCOPED_TRACE(token);
    layouts[2].token = token;
    shape.form = LARC_FORM_AUTO;
    makePlan(LARC_OK, layouts);
    functions->describe(plan, &info);
    EXPECT_EQ(info.form, LARC_FORM_RECURRENT);
    shape.form = LARC_FORM_CHUNK;
    EXPECT_EQ(makePlan(LARC_UNSUPPORTED, layouts),
              "kernels cannot copy tensor 'v': it has 100 tokens at a distance "
              "of " +
                  std::to_string(token) + " elements");
  }
  layouts[2].token = 96;
  makePlan(LARC_OK, layouts);
  functions->describe(plan, &info);
  EXPECT_EQ(info.form, LARC_FORM_CHUNK);
  // Nor are there others than the driver makes.
  driver->errors["cuTensorMapEncodeTiled"] = 1;
  EXPECT_EQ(makePlan(LARC_UNSUPPORTED, layouts),
            "kernels cannot copy tensor 'q': the driver makes no tensor map of "
            "it (error 1)");
  shape.form = LARC_FORM_AUTO;
  makePlan(LARC_OK, layouts);
  functions->describe(plan, &info);
  EXPECT_EQ(info.form, LARC_FORM_RECURRENT);
  driver->errors.clear();
  makePlan(LARC_OK, layouts);
  driver->errors["cuTensorMapEncodeTiled"] = 1;
  void *memory = reinterpret_cast<void *>(0x100000);
  EXPECT_EQ(run(LARC_DEVICE_FAILED, nullptr, memory),
            "cannot make a tensor map of 'q': as the test wants it "
            "(CUDA_ERROR_FAKE 1)");
  EXPECT_TRUE(launches.empty());
}

/// Of kernels with maps and without, those that can bring the tensors, the
/// former if both can.
TEST_F(CudaLibraryTest, ChoosesAmongCopies) {
  CudaForm mapped = makeMappedForm(), copied = makeMappedForm();
  copied.maps.clear();
  copied.launches[0].kernel = "copies";
  contents.cuda[0].forms.push_back(copied);
  contents.cuda[0].forms.push_back(mapped);
  open();
  shape.tokens = 100;
  void *memory = reinterpret_cast<void *>(0x100000);
  larc_layout layouts[7] = {};
  layouts[2].strided = 1;
  layouts[2].sequence = 9600;
  layouts[2].head = 24;
  for (larc_form form : {LARC_FORM_AUTO, LARC_FORM_CHUNK})
    for (int64_t token : {0, 96}) {
      SCOPED_TRACE(token);
      layouts[2].token = token;
      shape.form = form;
      makePlan(LARC_OK, layouts);
      launches.clear();
      run(LARC_OK, nullptr, memory);
      ASSERT_FALSE(launches.empty());
      EXPECT_EQ(launches[0].kernel, token == 0 ? "copies" : "chunks");
      EXPECT_EQ(launches[0].maps.size(), token == 0 ? 0u : 4u);
    }
}

TEST_F(CudaLibraryTest, DiscardsFinals) {
  open();
  shape.discard_finals = 1;
  makePlan();
  size_t bytes = functions->workspace(plan);
  EXPECT_EQ(bytes, 4u * 16 * 24 * 4);
  tensors[6] = nullptr;
  run(LARC_OK, nullptr, reinterpret_cast<void *>(0x200000));
  EXPECT_EQ(launches.at(0).tensors[6].pointer, 0x200000u);
  EXPECT_EQ(launches.at(0).tensors[6].sequence, 0);
  EXPECT_EQ(launches.at(0).tensors[6].head, 16 * 24);
  shape.discard_finals = 0;
  makePlan();
  EXPECT_EQ(run(LARC_INVALID), "tensor 'final.S' is null");
}

TEST_F(CudaLibraryTest, ChoosesCode) {
  contents.cuda.push_back(makeCudaCode(80));
  contents.cuda.back().forms[0].launches[0].kernel = "for_80";
  contents.cuda.push_back(makeCudaCode(86));
  contents.cuda.back().forms[0].launches[0].kernel = "for_86";
  open();
  auto launchOn = [&](int major, int minor) {
    driver->major = major;
    driver->minor = minor;
    ++driver->context;
    makePlan();
    run();
    return launches.at(0).kernel;
  };
  EXPECT_EQ(launchOn(9, 0), "by_token");
  EXPECT_EQ(launchOn(8, 0), "for_80");
  EXPECT_EQ(launchOn(8, 9), "for_86");
  driver->major = 10;
  driver->minor = 0;
  ++driver->context;
  EXPECT_EQ(makePlan(LARC_UNSUPPORTED),
            "the library has no code for GPUs of compute capability 10.0");
}

TEST_F(CudaLibraryTest, KeepsContextsApart) {
  open();
  makePlan();
  EXPECT_EQ(driver->modulesLoaded, 1);
  makePlan();
  EXPECT_EQ(driver->modulesLoaded, 1);
  driver->context = 2;
  EXPECT_EQ(functions->load(LARC_CUDA), LARC_OK);
  EXPECT_EQ(driver->modulesLoaded, 2);
  EXPECT_EQ(driver->buffersAllocated, 2);
  EXPECT_EQ(functions->unload(LARC_CUDA), LARC_OK);
  EXPECT_EQ(driver->modulesLoaded, 1);
  EXPECT_EQ(driver->buffersAllocated, 1);
  driver->context = 1;
  functions->release(plan);
  plan = nullptr;
  EXPECT_EQ(functions->unload(LARC_CUDA), LARC_OK);
  EXPECT_EQ(driver->modulesLoaded, 0);
  EXPECT_EQ(driver->buffersAllocated, 0);
  driver->context = 0;
  EXPECT_EQ(makePlan(LARC_NO_DEVICE),
            "no CUDA context is current in this thread: choose a GPU first");
}

TEST_F(CudaLibraryTest, ReportsErrors) {
  open();
  driver->errors["cuModuleLoadData"] = 200;
  EXPECT_EQ(makePlan(LARC_DEVICE_FAILED),
            "cannot load the kernels of form 'recurrent': as the test wants it "
            "(CUDA_ERROR_FAKE 200)");
  driver->errors.clear();
  driver->errors["cuModuleGetFunction"] = 500;
  EXPECT_EQ(makePlan(LARC_DEVICE_FAILED).find("cannot find the kernel"), 0u);
  EXPECT_EQ(driver->modulesLoaded, 0);
  driver->errors.clear();
  makePlan();
  driver->errors["cuLaunchKernelEx"] = 1;
  EXPECT_EQ(run(LARC_DEVICE_FAILED).find("cannot launch the kernel 'by_token'"),
            0u);
}

/// Tensors of the host go to the device and back.
TEST_F(CudaLibraryTest, RunsOnHostTensors) {
  open();
  RandomInputs request;
  request.dims = {{"B", 2}, {"T", 1}, {"H", 2}, {"K", 16}, {"V", 24}};
  Problem problem = makeProblem(*library, request);
  LibraryRunOptions options;
  options.target = LARC_CUDA;
  TensorMap results = runLibrary(*library, problem, options);
  ASSERT_EQ(launches.size(), 1u);
  // Nobody wrote them.
  for (double value : getValues(results.at("out.o")))
    EXPECT_TRUE(std::isnan(value));
  // In place, and in a graph.
  launches.clear();
  LibraryTimeOptions time;
  time.samples = 5;
  LibraryTimes times = take(library->measure(problem, results, options, time));
  EXPECT_EQ(times.milliseconds.size(), 5u);
  EXPECT_EQ(launches.at(0).tensors[5].pointer,
            launches.at(0).tensors[6].pointer);
  EXPECT_EQ(driver->calls["cuGraphLaunch"], 6);
  larc_plan_info info = take(library->describe(problem, options));
  EXPECT_EQ(info.blocks, 8);
  int before = driver->buffersAllocated;
  library.reset();
  functions = nullptr;
  EXPECT_EQ(before, 1);
  EXPECT_EQ(driver->buffersAllocated, 0);
}

/// The driver knows of a GPU's capability only when it compiles for it.
TEST_F(CudaLibraryTest, RefusesCopyUnitsThatAreNotThere) {
  RecurrenceOp op = bind("gla", {{"K", 64}, {"V", 64}});
  std::string message;
  mlir::ScopedDiagnosticHandler handler = keepMessage(message);
  CudaOptions options = CudaOptions::uniform(op, DType::BF16, DType::BF16);
  options.copies = CudaCopies::Bulk;
  options.computeCapability = 86;
  EXPECT_TRUE(mlir::failed(compileForCuda(op, options)));
  EXPECT_EQ(message, "cannot have its chunks copied by a unit on GPUs of "
                     "compute capability 8.6: only 9.0 has it");
}

/// Real kernels, where there is an assembler.
TEST_F(CudaLibraryTest, HoldsCompiledKernels) {
  RecurrenceOp op = bind("gla", {{"K", 64}, {"V", 64}});
  std::string message;
  mlir::ScopedDiagnosticHandler handler = keepMessage(message);
  auto code =
      compileForCuda(op, CudaOptions::uniform(op, DType::BF16, DType::BF16));
  if (mlir::failed(code)) {
    if (llvm::StringRef(message).contains("no ptxas"))
      GTEST_SKIP() << message;
    FAIL() << message;
  }
  contents = describe(op, DType::BF16);
  contents.cuda.push_back(std::move(*code));
  open();
  makePlan();
  run();
  ASSERT_GE(launches.size(), 1u);
  EXPECT_EQ(launches[0].kernel, "larc_gla_by_token");
  EXPECT_EQ(launches[0].block % 32, 0u);
}

} // namespace
