//===- ObjectCache.cpp - Compiled code kept on disk -----------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Support/ObjectCache.h"

#include "larc/Support/Error.h"
#include "larc/Support/FileOutput.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <atomic>
#include <elf.h>
#include <link.h>
#include <unistd.h>

using namespace larc;
namespace fs = llvm::sys::fs;
namespace endian = llvm::support::endian;

/// What all entries together may take, and how long an unused one stays.
static constexpr uint64_t maxCacheBytes = uint64_t(256) << 20;
static constexpr std::chrono::hours maxUnusedTime(30 * 24);

/// An entry starts with this, followed by the sizes of its parts (u64, little
/// endian), the key, the metadata, the object, and the hash of all before.
static constexpr llvm::StringLiteral magic = "larc object cache 1\n";
static constexpr size_t numParts = 3;
static constexpr size_t headerSize = magic.size() + numParts * sizeof(uint64_t);
static constexpr size_t hashSize = LLVM_BLAKE3_OUT_LEN;

static std::string getHash(llvm::ArrayRef<llvm::StringRef> parts) {
  llvm::BLAKE3 hasher;
  for (llvm::StringRef part : parts)
    hasher.update(part);
  auto hash = hasher.final<hashSize>();
  return std::string(hash.begin(), hash.end());
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

static std::string getVariable(llvm::StringRef name) {
  return llvm::sys::Process::GetEnv(name).value_or("");
}

ObjectCache ObjectCache::fromEnvironment() {
  if (getVariable("LARC_CACHE") == "off")
    return ObjectCache("");
  if (std::string folder = getVariable("LARC_CACHE_DIR"); !folder.empty())
    return ObjectCache(std::move(folder));
  // A relative path is none, by the specification of base directories.
  llvm::SmallString<256> path(getVariable("XDG_CACHE_HOME"));
  if (!llvm::sys::path::is_absolute(path)) {
    path.clear();
    if (!llvm::sys::path::home_directory(path))
      return ObjectCache("");
    llvm::sys::path::append(path, ".cache");
  }
  llvm::sys::path::append(path, "larc");
  return ObjectCache(path.str().str());
}

std::string ObjectCache::getPath(llvm::StringRef key) const {
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(
      path, "llvmcache-" + llvm::toHex(getHash(key), /*LowerCase=*/true));
  return path.str().str();
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// True if nobody but this user and root can have written the file.
static bool isOwn(int descriptor) {
  fs::file_status status;
  if (fs::status(descriptor, status) || !fs::is_regular_file(status))
    return false;
  const fs::perms othersWrite = fs::group_write | fs::others_write;
  return (status.getUser() == ::geteuid() || status.getUser() == 0) &&
         (status.permissions() & othersWrite) == fs::no_perms;
}

/// The text of the file, unless somebody else may have written it.
static std::unique_ptr<llvm::MemoryBuffer> readOwn(llvm::StringRef path) {
  llvm::Expected<fs::file_t> file = fs::openNativeFileForRead(path);
  if (!file) {
    llvm::consumeError(file.takeError());
    return nullptr;
  }
  std::unique_ptr<llvm::MemoryBuffer> result;
  // Read and not mapped: a file cut short later would end the process.
  if (isOwn(*file))
    if (auto buffer = llvm::MemoryBuffer::getOpenFile(
            *file, path, /*FileSize=*/-1, /*RequiresNullTerminator=*/false,
            /*IsVolatile=*/true))
      result = std::move(*buffer);
  fs::closeFile(*file);
  return result;
}

std::optional<CachedObject> ObjectCache::load(llvm::StringRef key) const {
  std::unique_ptr<llvm::MemoryBuffer> buffer = readOwn(getPath(key));
  if (!buffer)
    return std::nullopt;
  llvm::StringRef text = buffer->getBuffer();
  if (text.size() < headerSize + hashSize || !text.starts_with(magic))
    return std::nullopt;
  std::array<llvm::StringRef, numParts> parts;
  llvm::StringRef rest = text.drop_front(headerSize).drop_back(hashSize);
  for (size_t i = 0; i < numParts; ++i) {
    uint64_t size =
        endian::read64le(text.data() + magic.size() + i * sizeof(uint64_t));
    if (size > rest.size())
      return std::nullopt;
    parts[i] = rest.take_front(size);
    rest = rest.drop_front(size);
  }
  if (!rest.empty() || parts[0] != key ||
      getHash(text.drop_back(hashSize)) != text.take_back(hashSize))
    return std::nullopt;
  // The copy is aligned as readers of object files expect.
  return CachedObject{llvm::MemoryBuffer::getMemBufferCopy(parts[2]),
                      parts[1].str()};
}

llvm::Error ObjectCache::store(llvm::StringRef key, llvm::StringRef object,
                               llvm::StringRef metadata) const {
  if (std::error_code code = fs::create_directories(
          folder, /*IgnoreExisting=*/true, fs::owner_all))
    return makeFileFault(folder, "cannot create: " + code.message());

  std::string header = magic.str();
  for (llvm::StringRef part : {key, metadata, object}) {
    char size[sizeof(uint64_t)];
    endian::write64le(size, part.size());
    header.append(size, sizeof(size));
  }
  std::string hash = getHash({header, key, metadata, object});
  std::string path = getPath(key);
  // Permissions would pass to what replaces the file: one with others than
  // ours goes away first. An ordinary entry stays, since another writer may be
  // about to replace it, too. If it cannot be removed, it cannot be replaced,
  // which is told then.
  const fs::perms entryPerms = fs::owner_read | fs::owner_write;
  fs::file_status status;
  if (!fs::status(path, status) && status.permissions() != entryPerms)
    fs::remove(path);
  if (llvm::Error error = writeFileAtomically(
          path,
          [&](llvm::raw_ostream &os) {
            os << header << key << metadata << object << hash;
            return llvm::Error::success();
          },
          entryPerms))
    return error;

  llvm::CachePruningPolicy policy;
  policy.Expiration = maxUnusedTime;
  policy.MaxSizeBytes = maxCacheBytes;
  llvm::pruneCache(folder, policy);
  return llvm::Error::success();
}

void larc::warnOfCache(mlir::MLIRContext *context, llvm::Error error) {
  static std::atomic<bool> warned{false};
  std::string reason = llvm::toString(std::move(error));
  if (warned.exchange(true))
    return;
  mlir::InFlightDiagnostic warning =
      mlir::emitWarning(mlir::UnknownLoc::get(context))
      << "compiled code cannot be kept: " << reason;
  warning.attachNote() << "LARC_CACHE_DIR names another folder for it, and "
                          "LARC_CACHE=off keeps none";
}

//===----------------------------------------------------------------------===//
// The compiler's own identity
//===----------------------------------------------------------------------===//

namespace {
/// A file that is loaded into this process: the executable, or a library.
class Image {
public:
  explicit Image(const dl_phdr_info &info) : info(info) {}

  bool contains(const void *address) const;
  llvm::StringRef getName() const { return info.dlpi_name; }
  /// What the linker left, or what tells the file; empty if there is neither.
  std::string getIdentity() const;

private:
  llvm::ArrayRef<ElfW(Phdr)> segments() const {
    return {info.dlpi_phdr, info.dlpi_phnum};
  }
  llvm::StringRef getMemory(const ElfW(Phdr) & segment) const {
    return {reinterpret_cast<const char *>(info.dlpi_addr + segment.p_vaddr),
            size_t(segment.p_memsz)};
  }

  const dl_phdr_info &info;
};
} // namespace

bool Image::contains(const void *address) const {
  const char *byte = static_cast<const char *>(address);
  return llvm::any_of(segments(), [&](const ElfW(Phdr) & segment) {
    llvm::StringRef memory = getMemory(segment);
    return segment.p_type == PT_LOAD && byte >= memory.begin() &&
           byte < memory.end();
  });
}

/// The build identity in a segment of notes; empty if there is none.
static llvm::StringRef findBuildID(llvm::StringRef notes, size_t alignment) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes.data(), sizeof(header));
    notes = notes.drop_front(sizeof(header));
    llvm::StringRef name = notes.take_front(header.n_namesz);
    notes = notes.drop_front(
        std::min<size_t>(notes.size(), llvm::alignTo(name.size(), alignment)));
    llvm::StringRef value = notes.take_front(header.n_descsz);
    notes = notes.drop_front(
        std::min<size_t>(notes.size(), llvm::alignTo(value.size(), alignment)));
    if (header.n_type == NT_GNU_BUILD_ID && name == llvm::StringRef("GNU", 4))
      return value;
  }
  return {};
}

std::string Image::getIdentity() const {
  for (const ElfW(Phdr) &segment : segments()) {
    if (segment.p_type != PT_NOTE)
      continue;
    llvm::StringRef id =
        findBuildID(getMemory(segment), segment.p_align == 8 ? 8 : 4);
    if (!id.empty())
      return "build " + llvm::toHex(id, /*LowerCase=*/true);
  }
  // The executable itself has no name here.
  std::string path = getName().empty() ? "/proc/self/exe" : getName().str();
  fs::file_status status;
  llvm::SmallString<256> realPath;
  if (fs::status(path, status) || fs::real_path(path, realPath))
    return "";
  return ("file " + realPath + " size " + llvm::Twine(status.getSize()) +
          " changed " +
          llvm::Twine(
              status.getLastModificationTime().time_since_epoch().count()))
      .str();
}

static std::string makeBuildIdentity() {
  struct Search {
    std::string text;
    bool isComplete = true;
  } search;
  auto visit = [](dl_phdr_info *info, size_t, void *data) {
    auto &search = *static_cast<Search *>(data);
    Image image(*info);
    llvm::StringRef file = llvm::sys::path::filename(image.getName());
    if (!image.contains(reinterpret_cast<const void *>(&makeBuildIdentity)) &&
        !file.starts_with("libLLVM") && !file.starts_with("libMLIR"))
      return 0;
    std::string identity = image.getIdentity();
    search.isComplete &= !identity.empty();
    search.text += identity + '\n';
    return 0;
  };
  dl_iterate_phdr(visit, &search);
  return search.isComplete ? search.text : "";
}

const std::string &larc::getBuildIdentity() {
  static const std::string identity = makeBuildIdentity();
  return identity;
}
