//===- ObjectCache.h - Compiled code kept on disk ---------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An entry is a file of its own, `llvmcache-HASH` (the name that LLVM's pruning
// takes for its own), whose hash is that of the key. It holds the whole key, so
// that another key of the same hash is not mistaken for it, and a checksum of
// everything, so that a damaged or shortened file is not trusted. Files appear
// by renaming: any number of processes may share a folder.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_SUPPORT_OBJECTCACHE_H
#define LARC_SUPPORT_OBJECTCACHE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <optional>
#include <string>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace larc {

/// An object file, and what its user keeps beside it.
struct CachedObject {
  std::unique_ptr<llvm::MemoryBuffer> object;
  std::string metadata;
};

/// Object files by the text of all that they depend on.
class ObjectCache {
public:
  /// The cache in `folder`, which is made when something is stored; an empty
  /// name turns it off.
  explicit ObjectCache(std::string folder) : folder(std::move(folder)) {}

  /// The cache in `LARC_CACHE_DIR`, else `$XDG_CACHE_HOME/larc`, else
  /// `~/.cache/larc`; off with `LARC_CACHE=off`, or where none of these exists.
  static ObjectCache fromEnvironment();

  bool isEnabled() const { return !folder.empty(); }
  llvm::StringRef getFolder() const { return folder; }

  /// What was stored under `key`; nothing unless that is there whole and
  /// unchanged, in a file that nobody but this user or root may write.
  std::optional<CachedObject> load(llvm::StringRef key) const;

  /// Keeps `object` and `metadata` under `key`, in place of what was there, and
  /// now and then removes what was not used for long. Only this user may read
  /// or write the file.
  llvm::Error store(llvm::StringRef key, llvm::StringRef object,
                    llvm::StringRef metadata) const;

  /// The file of `key`.
  std::string getPath(llvm::StringRef key) const;

private:
  std::string folder;
};

/// Warns, once a process, that code cannot be kept for the reason `error`,
/// which costs time only.
void warnOfCache(mlir::MLIRContext *context, llvm::Error error);

/// A text that differs between any two builds of this compiler or of the LLVM
/// and MLIR that it runs with: the build identities that linkers leave in the
/// files that are loaded; where there is none, the file's name, size and time
/// of change. Empty if that cannot be told either: then nothing may be cached.
const std::string &getBuildIdentity();

} // namespace larc

#endif // LARC_SUPPORT_OBJECTCACHE_H
