//===- SafetensorsTest.cpp - Reading and writing safetensors --------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Support/Safetensors.h"

#include "larc/Support/Error.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <cstdio>
#include <sys/stat.h>
#include <thread>

using namespace larc;
using llvm::cantFail;

namespace {

/// A file with the given header and `dataSize` bytes of data.
static std::string makeFile(llvm::StringRef header, size_t dataSize = 0) {
  char length[8];
  llvm::support::endian::write64le(length, header.size());
  return std::string(length, 8) + header.str() + std::string(dataSize, '\0');
}

static std::string errorOf(llvm::StringRef content) {
  llvm::Expected<TensorFile> file = parseSafetensors(content, "f");
  return file ? "no error" : renderError(file.takeError());
}

static std::string serialize(const TensorFile &file) {
  std::string text;
  llvm::raw_string_ostream os(text);
  cantFail(writeSafetensors(os, file));
  return text;
}

struct BadHeader {
  const char *header;
  size_t dataSize;
  /// What follows `f: error: `.
  const char *message;
};

const BadHeader badHeaders[] = {
    // Not a JSON object.
    {"", 0,
     "expected the header to start with '{', found the end of the header"},
    {"[]", 0,
     "expected the header to start with '{', found '[' at byte 0 of the "
     "header"},
    {" {}", 0,
     "expected the header to start with '{', found '{' at byte 1 of the "
     "header"},
    {"{", 0, "expected a key of the header, found the end of the header"},
    {"{} x", 0,
     "expected nothing after the object, found 'x' at byte 3 of the header"},
    {"{,}", 0,
     "expected a key of the header, found ',' at byte 1 of the header"},
    {"{\"a\"}", 0,
     "expected ':' after the key 'a', found '}' at byte 4 of the header"},
    {"{\"a", 0, "string at byte 1 of the header does not end"},
    {"{\"a\\", 0, "string at byte 1 of the header does not end"},
    {"{\"a\\\"", 0, "string at byte 1 of the header does not end"},
    {"{\"a\\x\":1}", 0,
     "bad escape sequence in the string at byte 1 of the header"},
    {"{\"a\nb\":1}", 0,
     "control character in a string at byte 3 of the header"},
    {"{\"\xff\":1}", 0, "header is not UTF-8: bad byte 2"},
    {"{\"__metadata__\":{\"a\":\"b\"},}", 0,
     "expected a key of the header, found '}' at byte 26 of the header"},
    // Metadata.
    {"{\"__metadata__\":[]}", 0,
     "expected '__metadata__' to be an object, found '[' at byte 16 of the "
     "header"},
    {"{\"__metadata__\":null}", 0,
     "expected '__metadata__' to be an object, found 'n' at byte 16 of the "
     "header"},
    {"{\"__metadata__\":{\"period\":4}}", 0,
     "expected the value of 'period' in '__metadata__' to be a string, found "
     "'4' at byte 26 of the header"},
    {"{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", 0,
     "'__metadata__' has two entries named 'a'"},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", 0,
     "the header has two entries named '__metadata__'"},
    // Entries.
    {"{\"q\":1}", 0,
     "expected tensor 'q' to be an object, found '1' at byte 5 of the header"},
    {"{\"q\":{}}", 0, "tensor 'q' has no dtype"},
    {"{\"q\":{\"dtype\":\"F32\"}}", 0, "tensor 'q' has no shape"},
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":[]}}", 0,
     "tensor 'q' has no data_offsets"},
    {"{\"q\":{\"dtype\":32,\"shape\":[],\"data_offsets\":[0,4]}}", 4,
     "expected dtype of tensor 'q' to be a string, found '3' at byte 14 of the "
     "header"},
    {"{\"q\":{\"dtype\":\"F8_E4M3\",\"shape\":[],\"data_offsets\":[0,1]}}", 1,
     "tensor 'q' has dtype 'F8_E4M3', expected one of F64, F32, F16, BF16, "
     "I32, "
     "I64, BOOL"},
    {"{\"q\":{\"dtype\":\"f32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4,
     "tensor 'q' has dtype 'f32', expected one of F64, F32, F16, BF16, I32, "
     "I64, BOOL"},
    {"{\"q\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}", 0,
     "tensor 'q' has two entries named 'dtype'"},
    {"{\"q\":{\"dtype\":\"F32\",\"d\\u0074ype\":\"F32\"}}", 0,
     "tensor 'q' has two entries named 'dtype'"},
    // Shapes.
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":4,\"data_offsets\":[0,16]}}", 16,
     "expected shape of tensor 'q' to be a list, found '4' at byte 28 of the "
     "header"},
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":[\"4\"],\"data_offsets\":[0,16]}}",
     16,
     "expected an element of shape of tensor 'q' to be a non-negative integer, "
     "found '\"' at byte 29 of the header"},
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":[-4],\"data_offsets\":[0,16]}}", 16,
     "expected an element of shape of tensor 'q' to be a non-negative integer, "
     "found '-4'"},
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":[4.0],\"data_offsets\":[0,16]}}", 16,
     "expected an element of shape of tensor 'q' to be a non-negative integer, "
     "found '4.0'"},
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":[4e0],\"data_offsets\":[0,16]}}", 16,
     "expected an element of shape of tensor 'q' to be a non-negative integer, "
     "found '4e0'"},
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":[04],\"data_offsets\":[0,16]}}", 16,
     "malformed number at byte 29 of the header"},
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":[4.],\"data_offsets\":[0,16]}}", 16,
     "malformed number at byte 29 of the header"},
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":[-],\"data_offsets\":[0,16]}}", 16,
     "malformed number at byte 29 of the header"},
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":[4,],\"data_offsets\":[0,16]}}", 16,
     "expected an element of shape of tensor 'q' to be a non-negative integer, "
     "found ']' at byte 31 of the header"},
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":[4 4],\"data_offsets\":[0,16]}}", 16,
     "expected ',' or ']' in shape of tensor 'q', found '4' at byte 31 of the "
     "header"},
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":[9007199254740993],"
     "\"data_offsets\":[0,16]}}",
     16,
     "an element of shape of tensor 'q' is '9007199254740993', more than 2^53"},
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":[99999999999999999999999],"
     "\"data_offsets\":[0,16]}}",
     16,
     "an element of shape of tensor 'q' is '99999999999999999999999', more "
     "than "
     "2^53"},
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],"
     "\"data_offsets\":[0,0]}}",
     0,
     "tensor 'q': shape [4294967296, 4294967296] has more elements than 64 "
     "bits "
     "can count"},
    {"{\"q\":{\"dtype\":\"F64\",\"shape\":[4294967296,1073741824],"
     "\"data_offsets\":[0,0]}}",
     0,
     "tensor 'q' of shape [4294967296, 1073741824] and dtype F64 has more "
     "bytes "
     "than 64 bits can count"},
    // Offsets.
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[16]}}", 16,
     "data_offsets of tensor 'q' has 1 elements, expected 2"},
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16,32]}}", 16,
     "data_offsets of tensor 'q' has 3 elements, expected 2"},
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[16,0]}}", 16,
     "data_offsets of tensor 'q' decrease from 16 to 0"},
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[-16,0]}}", 16,
     "expected an element of data_offsets of tensor 'q' to be a non-negative "
     "integer, found '-16'"},
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,12]}}", 12,
     "tensor 'q' of shape [4] and dtype F32 takes 16 bytes, but its "
     "data_offsets 0 and 12 enclose 12"},
    {"{\"q\":{\"dtype\":\"BF16\",\"shape\":[],\"data_offsets\":[0,4]}}", 4,
     "tensor 'q' of shape [] and dtype BF16 takes 2 bytes, but its "
     "data_offsets 0 and 4 enclose 4"},
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}", 15,
     "tensor 'q' ends at byte 16 of the data, but there are 15 bytes\n"
     "note: the file may be truncated"},
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}", 17,
     "the tensors end at byte 16 of the data, but there are 17 bytes"},
    {"{}", 1, "the tensors end at byte 0 of the data, but there are 1 bytes"},
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[4,20]}}", 20,
     "bytes 0 to 4 of the data, before tensor 'q', belong to no tensor"},
    {"{\"q\":{\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[0,8]},"
     "\"k\":{\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[4,12]}}",
     12,
     "tensor 'k' starts at byte 4 of the data, but tensor 'q' before it ends "
     "at "
     "byte 8"},
    {"{\"q\":{\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[0,8]},"
     "\"k\":{\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
     8,
     "tensor 'q' starts at byte 0 of the data, but tensor 'k' before it ends "
     "at "
     "byte 8"},
    {"{\"q\":{\"dtype\":\"I32\",\"shape\":[0],\"data_offsets\":[4,4]},"
     "\"k\":{\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
     8,
     "tensor 'q' starts at byte 4 of the data, but tensor 'k' before it ends "
     "at "
     "byte 8"},
    {"{\"q\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[0,4]},"
     "\"q\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[4,8]}}",
     8, "the header has two entries named 'q'"},
    // Unknown keys must still be JSON.
    {"{\"q\":{\"x\":nul}}", 0,
     "expected a value, found 'n' at byte 10 of the header"},
    {"{\"q\":{\"x\":1.e5}}", 0, "malformed number at byte 10 of the header"},
};

TEST(Safetensors, BadHeaders) {
  for (const BadHeader &bad : badHeaders)
    EXPECT_EQ(errorOf(makeFile(bad.header, bad.dataSize)),
              std::string("f: error: ") + bad.message)
        << bad.header;
}

TEST(Safetensors, BadLengths) {
  EXPECT_EQ(errorOf(""),
            "f: error: file is empty, expected a safetensors file");
  EXPECT_EQ(errorOf("1234567"),
            "f: error: file of 7 bytes is too short for a safetensors file");
  EXPECT_EQ(errorOf(llvm::StringRef("\5\0\0\0\0\0\0\0{}  ", 12)),
            "f: error: header of 5 bytes is longer than the file of 12 bytes\n"
            "note: this may not be a safetensors file");
  EXPECT_EQ(errorOf("PK\3\4 is a zip file"),
            "f: error: header of 2338328217762614096 bytes is longer than the "
            "format's limit of 100000000 bytes\n"
            "note: this may not be a safetensors file");
  EXPECT_EQ(errorOf(std::string(8, '\xff')),
            "f: error: header of 18446744073709551615 bytes is longer than the "
            "format's limit of 100000000 bytes\n"
            "note: this may not be a safetensors file");
  EXPECT_EQ(errorOf(llvm::StringRef("\0\xe1\xf5\5\0\0\0\0", 8)),
            "f: error: header of 100000000 bytes is longer than the file of 8 "
            "bytes\nnote: this may not be a safetensors file");
  // A zero byte is not the end of the text.
  EXPECT_EQ(
      errorOf(makeFile(llvm::StringRef("{\0}", 3))),
      "f: error: expected a key of the header, found '\\x00' at byte 1 of "
      "the header");
  EXPECT_EQ(
      errorOf(makeFile(llvm::StringRef("{}\0", 3))),
      "f: error: expected nothing after the object, found '\\x00' at byte "
      "2 of the header");
}

TEST(Safetensors, DeepNesting) {
  std::string deep(2'000'000, '[');
  std::string message = errorOf(makeFile("{\"q\":{\"x\":" + deep));
  EXPECT_EQ(message, "f: error: header nests deeper than 32 levels at byte 41");
  std::string objects = "{\"q\":";
  for (int i = 0; i < 100000; ++i)
    objects += "{\"x\":";
  EXPECT_NE(errorOf(makeFile(objects)).find("nests deeper"), std::string::npos);
  EXPECT_EQ(errorOf(makeFile(deep)).find("f: error: expected the header"), 0u);
}

TEST(Safetensors, EveryTruncationIsAnError) {
  TensorFile file;
  file.tensors["q"] = cantFail(Tensor::fromValues(DType::F32, {2}, {1, 2}));
  file.tensors["k"] = cantFail(Tensor::fromValues(DType::F16, {1}, {3}));
  file.metadata["spec"] = "x";
  std::string content = serialize(file);
  EXPECT_EQ(errorOf(content), "no error");
  for (size_t size = 0; size < content.size(); ++size)
    EXPECT_NE(errorOf(llvm::StringRef(content).take_front(size)), "no error");
  EXPECT_NE(errorOf(content + "x"), "no error");
}

TEST(Safetensors, EveryByteChangeIsHandled) {
  TensorFile file;
  file.tensors["q"] = cantFail(Tensor::fromValues(DType::F32, {2}, {1, 2}));
  file.tensors["\xc3\xbc"] = cantFail(Tensor::create(DType::Bool, {3, 0}));
  file.metadata["a\n\"b"] = "\\";
  std::string content = serialize(file);
  for (size_t i = 0; i < content.size(); ++i) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = content;
      changed[i] = char(byte);
      llvm::Expected<TensorFile> result = parseSafetensors(changed);
      if (!result) {
        llvm::consumeError(result.takeError());
        continue;
      }
      // What can be read can be written, and then reads the same.
      std::string again = serialize(*result);
      EXPECT_EQ(serialize(cantFail(parseSafetensors(again))), again);
    }
  }
}

TEST(Safetensors, LenientCases) {
  // Any order of the entries and of the data, white space, escapes, unknown
  // keys, empty tensors anywhere between others, and no tensors at all.
  TensorFile file = cantFail(parseSafetensors(makeFile(
      "{ \"v\" : {\"shape\":[1, 2],\"data_offsets\":[4 ,12],\"dtype\":\"F32\","
      "\"more\":[{\"a\":[1,-2.5e+3,true,null,false,\"\\\"x\"]},{},[]]},\n"
      "\t\"\\u0071\":{\"data_offsets\":[0,4],\"dtype\":\"I32\",\"shape\":[]},\r"
      "\"e\":{\"data_offsets\":[4,4],\"dtype\":\"F64\",\"shape\":[3,0]},"
      "\"__metadata__\":{\"k\\n\":\"\\ud83d\\ude00\"}}   ",
      12)));
  ASSERT_EQ(file.tensors.size(), 3u);
  EXPECT_EQ(file.tensors.at("v").getShape(), llvm::ArrayRef<int64_t>({1, 2}));
  EXPECT_EQ(file.tensors.at("q").getRank(), 0);
  EXPECT_EQ(file.tensors.at("e").getNumElements(), 0);
  EXPECT_EQ(file.metadata.at("k\n"), "\xf0\x9f\x98\x80");
  EXPECT_TRUE(cantFail(parseSafetensors(makeFile("{}"))).tensors.empty());
}

TEST(Safetensors, DataIsLittleEndianRowMajor) {
  std::string content = makeFile(
      "{\"q\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}");
  content += llvm::StringRef("\0\0\x80\x3f\0\0\0\xc0", 8);
  TensorFile file = cantFail(parseSafetensors(content));
  const Tensor &q = file.tensors.at("q");
  EXPECT_EQ(q.getAs<double>(0), 1);
  EXPECT_EQ(q.getAs<double>(1), -2);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(q.getRawData()) % 64, 0u);
}

TEST(Safetensors, WritesSortedAndAligned) {
  TensorFile file;
  file.metadata = {{"spec", "x"}, {"link", "softmax"}};
  file.tensors["b"] = cantFail(Tensor::fromValues(DType::Bool, {1}, {1}));
  file.tensors["a"] = cantFail(Tensor::fromValues(DType::BF16, {1}, {1}));
  file.tensors["z"] = cantFail(Tensor::fromValues(DType::F64, {1, 1}, {1}));
  file.tensors["i"] = cantFail(Tensor::fromValues(DType::I32, {}, {1}));
  std::string content = serialize(file);
  uint64_t length = llvm::support::endian::read64le(content.data());
  EXPECT_EQ(length % 8, 0u);
  EXPECT_EQ(
      llvm::StringRef(content).substr(8, length).rtrim(' '),
      "{\"__metadata__\":{\"link\":\"softmax\",\"spec\":\"x\"},"
      "\"a\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[12,14]},"
      "\"b\":{\"dtype\":\"BOOL\",\"shape\":[1],\"data_offsets\":[14,15]},"
      "\"i\":{\"dtype\":\"I32\",\"shape\":[],\"data_offsets\":[8,12]},"
      "\"z\":{\"dtype\":\"F64\",\"shape\":[1,1],\"data_offsets\":[0,8]}}");
  EXPECT_EQ(content.size(), 8 + length + 15);
  TensorFile back = cantFail(parseSafetensors(content));
  EXPECT_EQ(back.metadata, file.metadata);
  for (const auto &[name, tensor] : file.tensors) {
    EXPECT_EQ(back.tensors.at(name).getDType(), tensor.getDType());
    EXPECT_EQ(back.tensors.at(name).getShape(), tensor.getShape());
    EXPECT_EQ(back.tensors.at(name).getAs<double>(0), 1);
  }
}

TEST(Safetensors, BadNamesAreNotWritten) {
  auto write = [](const TensorFile &file) {
    return renderError(writeSafetensors(llvm::nulls(), file));
  };
  TensorFile reserved, notUTF8, metadata;
  reserved.tensors["__metadata__"] = Tensor();
  EXPECT_EQ(write(reserved), "error: no tensor of a safetensors file can be "
                             "named '__metadata__'");
  notUTF8.tensors["\xff"] = Tensor();
  EXPECT_EQ(write(notUTF8),
            "error: name of tensor '\xef\xbf\xbd' is not UTF-8");
  metadata.metadata["a"] = "\xff";
  EXPECT_EQ(write(metadata), "error: metadata 'a' is not UTF-8");
}

//===----------------------------------------------------------------------===//
// Files.
//===----------------------------------------------------------------------===//

class SafetensorsFile : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("larc-tensors", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string pathOf(llvm::StringRef name) {
    llvm::SmallString<128> path = folder;
    llvm::sys::path::append(path, name);
    return path.str().str();
  }
  static std::string readError(llvm::StringRef path) {
    llvm::Expected<TensorFile> file = readSafetensors(path);
    return file ? "no error" : renderError(file.takeError());
  }
  static void writeText(llvm::StringRef path, llvm::StringRef text) {
    std::error_code code;
    llvm::raw_fd_ostream os(path, code);
    os << text;
  }

  llvm::SmallString<128> folder;
};

TEST_F(SafetensorsFile, RoundTrip) {
  TensorFile file;
  for (DType type : allDTypes)
    file.tensors["t." + getName(type).str()] =
        cantFail(Tensor::fromValues(type, {2, 2}, {0, 1, 1, 0}));
  file.tensors["empty"] = cantFail(Tensor::create(DType::F32, {5, 0, 2}));
  file.metadata["spec"] = "x";
  std::string path = pathOf("a.safetensors");
  cantFail(writeSafetensors(path, file));
  TensorFile back = cantFail(readSafetensors(path));
  EXPECT_EQ(serialize(back), serialize(file));
}

TEST_F(SafetensorsFile, BadPaths) {
  std::string missing = pathOf("missing");
  EXPECT_EQ(readError(missing),
            missing +
                ": error: cannot open for reading: No such file or directory");
  EXPECT_EQ(readError(folder),
            folder.str().str() + ": error: cannot read: is a directory");
  EXPECT_EQ(readError("/dev/null"),
            "/dev/null: error: file is empty, expected a safetensors file");
  EXPECT_EQ(
      readError("/dev/zero"),
      "/dev/zero: error: expected the header to start with '{', found the end "
      "of the header");
  std::string bad = pathOf("missing/out");
  EXPECT_EQ(renderError(writeSafetensors(bad, TensorFile())),
            bad +
                ": error: cannot open for writing: No such file or directory");
}

TEST_F(SafetensorsFile, HugeClaimsTakeNoMemory) {
  // A file of a few bytes that claims a terabyte.
  std::string path = pathOf("huge");
  writeText(path,
            makeFile("{\"q\":{\"dtype\":\"F32\",\"shape\":[1073741824,256]"
                     ",\"data_offsets\":[0,1099511627776]}}",
                     4));
  EXPECT_EQ(readError(path),
            path +
                ": error: tensor 'q' ends at byte 1099511627776 of the data, "
                "but there are 4 bytes\nnote: the file may be truncated");
}

/// Reads a pipe into which `content` is written.
static std::string readPipe(llvm::StringRef path, llvm::StringRef content) {
  if (mkfifo(path.str().c_str(), 0600) != 0)
    return "no pipe";
  std::thread writer([&] {
    std::error_code code;
    llvm::raw_fd_ostream os(path, code, llvm::sys::fs::CD_OpenExisting);
    if (!code)
      os << content;
    os.flush();
    os.clear_error();
  });
  llvm::Expected<TensorFile> file = readSafetensors(path);
  writer.join();
  std::remove(path.str().c_str());
  return file ? serialize(*file) : renderError(file.takeError());
}

TEST_F(SafetensorsFile, Pipes) {
  TensorFile file;
  file.tensors["q"] = cantFail(Tensor::create(DType::F32, {100, 100}));
  std::string content = serialize(file);
  std::string path = pathOf("pipe");
  EXPECT_EQ(readPipe(path, content), content);
  EXPECT_EQ(readPipe(path, llvm::StringRef(content).drop_back()),
            path +
                ": error: file ends after 39999 of the 40000 bytes of tensor "
                "'q'");
  EXPECT_EQ(readPipe(path, content + "x"),
            path +
                ": error: the tensors end at byte 40000 of the data, but the "
                "file goes on");
  EXPECT_EQ(readPipe(path, llvm::StringRef("\0\1\0\0\0\0\0\0{}", 10)),
            path + ": error: header of 256 bytes is longer than the file");
}

} // namespace
