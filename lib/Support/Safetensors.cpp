//===- Safetensors.cpp - Reading and writing safetensors ------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Support/Safetensors.h"

#include "SafetensorsHeader.h"
#include "larc/Support/Error.h"
#include "larc/Support/FileOutput.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace larc;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;
namespace fs = llvm::sys::fs;

/// Bytes before the header.
static constexpr uint64_t lengthSize = 8;
/// The format's own limit, which keeps a bad length from taking all memory.
static constexpr uint64_t maxHeaderSize = 100'000'000;

//===----------------------------------------------------------------------===//
// Reading.
//===----------------------------------------------------------------------===//

namespace {

/// A sequence of bytes that is read once from front to back.
class ByteSource {
public:
  virtual ~ByteSource() = default;
  /// Fills `target`, or as much of it as there are bytes, and returns how many
  /// were read.
  virtual Expected<size_t> read(llvm::MutableArrayRef<char> target) = 0;
  /// The number of all bytes, where it is known in advance.
  virtual std::optional<uint64_t> getSize() const = 0;
};

class BufferSource final : public ByteSource {
public:
  explicit BufferSource(StringRef buffer) : rest(buffer), size(buffer.size()) {}

  Expected<size_t> read(llvm::MutableArrayRef<char> target) override {
    size_t count = std::min(target.size(), rest.size());
    llvm::copy(rest.take_front(count), target.begin());
    rest = rest.drop_front(count);
    return count;
  }
  std::optional<uint64_t> getSize() const override { return size; }

private:
  StringRef rest;
  uint64_t size;
};

class FileSource final : public ByteSource {
public:
  FileSource(fs::file_t file, std::optional<uint64_t> size)
      : file(file), size(size) {}

  Expected<size_t> read(llvm::MutableArrayRef<char> target) override {
    size_t done = 0;
    while (done < target.size()) {
      Expected<size_t> count =
          fs::readNativeFile(file, target.drop_front(done));
      if (!count)
        return makeFault("cannot read: " + llvm::toString(count.takeError()));
      if (*count == 0)
        break;
      done += *count;
    }
    return done;
  }
  std::optional<uint64_t> getSize() const override { return size; }

private:
  fs::file_t file;
  std::optional<uint64_t> size;
};

} // namespace

/// Fills `target` or fails, saying that the file ends inside `what`.
static Error readAll(ByteSource &source, llvm::MutableArrayRef<char> target,
                     const Twine &what) {
  Expected<size_t> count = source.read(target);
  if (!count)
    return count.takeError();
  if (*count == target.size())
    return Error::success();
  return makeFault("file ends after " + Twine(*count) + " of the " +
                   Twine(target.size()) + " bytes of " + what);
}

/// Reads the header's text. Memory grows with what is there, not with the
/// length that the file claims.
static Error readHeaderText(ByteSource &source, uint64_t length,
                            std::string &text) {
  constexpr uint64_t step = 1 << 20;
  while (text.size() < length) {
    size_t done = text.size();
    text.resize(std::min(length, done + step));
    Expected<size_t> count = source.read(
        llvm::MutableArrayRef<char>(text.data() + done, text.size() - done));
    if (!count)
      return count.takeError();
    if (*count < text.size() - done)
      return makeFault("header of " + Twine(length) +
                       " bytes is longer than the file");
  }
  return Error::success();
}

static Expected<TensorFile> readFrom(ByteSource &source) {
  std::optional<uint64_t> size = source.getSize();
  char lengthBytes[lengthSize];
  Expected<size_t> count = source.read(lengthBytes);
  if (!count)
    return count.takeError();
  if (*count == 0)
    return makeFault("file is empty, expected a safetensors file");
  if (*count < lengthSize)
    return makeFault("file of " + Twine(*count) +
                     " bytes is too short for a safetensors file");
  uint64_t length = llvm::support::endian::read64le(lengthBytes);
  if (length > maxHeaderSize)
    return makeFault("header of " + Twine(length) +
                         " bytes is longer than the format's limit of " +
                         Twine(maxHeaderSize) + " bytes",
                     {"this may not be a safetensors file"});
  if (size && length > *size - lengthSize)
    return makeFault("header of " + Twine(length) +
                         " bytes is longer than the file of " + Twine(*size) +
                         " bytes",
                     {"this may not be a safetensors file"});
  std::string text;
  if (Error error = readHeaderText(source, length, text))
    return std::move(error);

  std::optional<uint64_t> available;
  if (size)
    available = *size - lengthSize - length;
  Expected<SafetensorsHeader> header = parseSafetensorsHeader(text, available);
  if (!header)
    return header.takeError();

  TensorFile file;
  file.metadata = std::move(header->metadata);
  for (const TensorEntry &entry : header->entries) {
    Expected<Tensor> tensor =
        Tensor::createUninitialized(entry.type, entry.shape, entry.name);
    if (!tensor)
      return tensor.takeError();
    if (Error error = readAll(
            source, {tensor->getRawData(), size_t(tensor->getByteSize())},
            "tensor " + quoteName(entry.name)))
      return std::move(error);
    file.tensors.emplace(entry.name, std::move(*tensor));
  }
  char extra;
  count = source.read(extra);
  if (!count)
    return count.takeError();
  if (*count != 0)
    return makeFault("the tensors end at byte " + Twine(header->dataSize) +
                     " of the data, but the file goes on");
  return std::move(file);
}

Expected<TensorFile> larc::parseSafetensors(StringRef buffer, StringRef name) {
  BufferSource source(buffer);
  Expected<TensorFile> file = readFrom(source);
  if (!file)
    return addFile(file.takeError(), name);
  return file;
}

/// Reads from an open file, whose size counts only if it is a regular one.
static Expected<TensorFile> readFrom(fs::file_t handle) {
  fs::file_status status;
  if (std::error_code code = fs::status(handle, status))
    return makeFault("cannot read: " + code.message());
  if (fs::is_directory(status))
    return makeFault("cannot read: is a directory");
  std::optional<uint64_t> size;
  if (fs::is_regular_file(status))
    size = status.getSize();
  FileSource source(handle, size);
  return readFrom(source);
}

Expected<TensorFile> larc::readSafetensors(StringRef path) {
  auto named = [](Expected<TensorFile> file,
                  StringRef name) -> Expected<TensorFile> {
    if (!file)
      return addFile(file.takeError(), name);
    return file;
  };
  if (path == "-")
    return named(readFrom(fs::getStdinHandle()), "<stdin>");
  Expected<fs::file_t> handle = fs::openNativeFileForRead(path);
  if (!handle)
    return makeFileFault(path, "cannot open for reading: " +
                                   llvm::toString(handle.takeError()));
  llvm::scope_exit close([&] { fs::closeFile(*handle); });
  return named(readFrom(*handle), path);
}

//===----------------------------------------------------------------------===//
// Writing.
//===----------------------------------------------------------------------===//

static Error checkNames(const TensorFile &file) {
  for (const auto &[name, tensor] : file.tensors) {
    if (name == "__metadata__")
      return makeFault("no tensor of a safetensors file can be named "
                       "'__metadata__'");
    if (!llvm::json::isUTF8(name))
      return makeFault("name of tensor " + quoteName(name) + " is not UTF-8");
  }
  for (const auto &[key, value] : file.metadata)
    if (!llvm::json::isUTF8(key) || !llvm::json::isUTF8(value))
      return makeFault("metadata " + quoteName(key) + " is not UTF-8");
  return Error::success();
}

Error larc::writeSafetensors(llvm::raw_ostream &os, const TensorFile &file) {
  if (Error error = checkNames(file))
    return error;

  using Named = const TensorMap::value_type *;
  std::vector<Named> order;
  for (const auto &named : file.tensors)
    order.push_back(&named);
  llvm::sort(order, [](Named a, Named b) {
    int64_t widthA = getByteWidth(a->second.getDType());
    int64_t widthB = getByteWidth(b->second.getDType());
    return widthA != widthB ? widthA > widthB : a->first < b->first;
  });
  std::map<StringRef, int64_t> begins;
  int64_t end = 0;
  for (Named named : order) {
    begins[named->first] = end;
    end += named->second.getByteSize();
  }

  std::string header;
  llvm::raw_string_ostream headerOS(header);
  llvm::json::OStream json(headerOS);
  json.object([&] {
    if (!file.metadata.empty())
      json.attributeObject("__metadata__", [&] {
        for (const auto &[key, value] : file.metadata)
          json.attribute(key, value);
      });
    for (const auto &[name, tensor] : file.tensors)
      json.attributeObject(name, [&, &name = name, &tensor = tensor] {
        json.attribute("dtype", getFileName(tensor.getDType()));
        json.attributeArray("shape", [&] {
          for (int64_t size : tensor.getShape())
            json.value(size);
        });
        json.attributeArray("data_offsets", [&] {
          json.value(begins[name]);
          json.value(begins[name] + tensor.getByteSize());
        });
      });
  });
  header.resize(llvm::alignTo(header.size(), 8), ' ');

  char lengthBytes[lengthSize];
  llvm::support::endian::write64le(lengthBytes, header.size());
  os.write(lengthBytes, lengthSize);
  os << header;
  for (Named named : order)
    os.write(named->second.getRawData(), named->second.getByteSize());
  return Error::success();
}

Error larc::writeSafetensors(StringRef path, const TensorFile &file) {
  return writeFileAtomically(
      path, [&](llvm::raw_ostream &os) { return writeSafetensors(os, file); });
}
