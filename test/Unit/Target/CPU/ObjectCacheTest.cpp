//===- ObjectCacheTest.cpp - Compiled code kept on disk -------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ObjectCache.h"

#include "CompiledTestUtils.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdlib>
#include <fstream>
#include <thread>

using namespace larc;
using namespace larc::test;
namespace fs = llvm::sys::fs;

namespace {

/// Variables of the environment, which come back at the end.
class Environment {
public:
  ~Environment() {
    for (const auto &[name, value] : old)
      write(name, value);
  }
  void set(const char *name, std::optional<std::string> value) {
    if (llvm::none_of(old, [&](auto &entry) { return entry.first == name; })) {
      const char *before = std::getenv(name);
      old.emplace_back(name, before ? std::optional<std::string>(before)
                                    : std::nullopt);
    }
    write(name, value);
  }

private:
  static void write(const std::string &name,
                    const std::optional<std::string> &value) {
    if (value)
      ::setenv(name.c_str(), value->c_str(), /*overwrite=*/1);
    else
      ::unsetenv(name.c_str());
  }
  std::vector<std::pair<std::string, std::optional<std::string>>> old;
};

/// A fresh folder for each test.
class Folder {
public:
  Folder() { EXPECT_FALSE(fs::createUniqueDirectory("larc-cache", path)); }
  ~Folder() { fs::remove_directories(path); }

  std::string operator/(llvm::StringRef name) const {
    llvm::SmallString<128> result = path;
    llvm::sys::path::append(result, name);
    return result.str().str();
  }
  /// The entries in the subfolder `name`.
  std::vector<std::string> listEntries(llvm::StringRef name) const {
    std::vector<std::string> entries;
    std::error_code code;
    for (fs::directory_iterator it(*this / name, code), end; !code && it != end;
         it.increment(code))
      if (llvm::sys::path::filename(it->path()).starts_with("llvmcache-"))
        entries.push_back(it->path());
    return entries;
  }

private:
  llvm::SmallString<128> path;
};

class ObjectCacheTest : public ::testing::Test {
protected:
  std::string load(llvm::StringRef key) {
    std::optional<CachedObject> entry = cache.load(key);
    return entry ? (entry->metadata + "|" + entry->object->getBuffer()).str()
                 : "nothing";
  }
  void store(llvm::StringRef key, llvm::StringRef object,
             llvm::StringRef metadata) {
    EXPECT_FALSE(llvm::errorToBool(cache.store(key, object, metadata)));
  }
  static std::string read(const std::string &path) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : "";
  }
  static void write(const std::string &path, llvm::StringRef text) {
    std::ofstream(path, std::ios::binary).write(text.data(), text.size());
  }

  Folder folder;
  ObjectCache cache{folder / "a/b"};
};

TEST_F(ObjectCacheTest, KeepsWhatIsStored) {
  EXPECT_EQ(load("key"), "nothing");
  store("key", llvm::StringRef("ob\0ject", 7), "meta");
  EXPECT_EQ(load("key"), std::string("meta|ob\0ject", 12));
  EXPECT_EQ(load("other"), "nothing");
  store("", "", "");
  EXPECT_EQ(load(""), "|");
  store("key", "new", "");
  EXPECT_EQ(load("key"), "|new");
  EXPECT_EQ(folder.listEntries("a/b").size(), 2u);
}

TEST_F(ObjectCacheTest, IsPrivate) {
  store("key", "object", "meta");
  fs::file_status status;
  ASSERT_FALSE(fs::status(cache.getPath("key"), status));
  EXPECT_EQ(status.permissions(), fs::owner_read | fs::owner_write);
  ASSERT_FALSE(fs::status(folder / "a", status));
  EXPECT_EQ(status.permissions(), fs::owner_all);
}

TEST_F(ObjectCacheTest, DoesNotTrustWhatOthersCanWrite) {
  store("key", "object", "meta");
  std::string path = cache.getPath("key");
  for (fs::perms more : {fs::group_write, fs::others_write}) {
    ASSERT_FALSE(fs::setPermissions(path, fs::all_read | more));
    EXPECT_EQ(load("key"), "nothing");
  }
  store("key", "object", "meta");
  EXPECT_EQ(load("key"), "meta|object");
}

TEST_F(ObjectCacheTest, DoesNotTrustDamage) {
  store("key", "object", "meta");
  std::string path = cache.getPath("key"), whole = read(path);
  ASSERT_FALSE(whole.empty());
  for (size_t size = 0; size < whole.size(); ++size) {
    write(path, llvm::StringRef(whole).take_front(size));
    EXPECT_EQ(load("key"), "nothing") << "cut to " << size;
    std::string changed = whole;
    changed[size] ^= 0x80;
    write(path, changed);
    EXPECT_EQ(load("key"), "nothing") << "byte " << size;
  }
  write(path, whole + "x");
  EXPECT_EQ(load("key"), "nothing");
  store("key", "object", "meta");
  EXPECT_EQ(load("key"), "meta|object");
}

TEST_F(ObjectCacheTest, ComparesKeys) {
  store("one", "object", "meta");
  ASSERT_FALSE(fs::rename(cache.getPath("one"), cache.getPath("two")));
  EXPECT_EQ(load("two"), "nothing");
}

TEST_F(ObjectCacheTest, SaysWhatCannotBeWritten) {
  write(folder / "file", "");
  ObjectCache inFile(folder / "file/cache");
  EXPECT_EQ(inFile.load("key"), std::nullopt);
  llvm::Error error = inFile.store("key", "object", "meta");
  EXPECT_NE(llvm::toString(std::move(error)).find("file/cache: cannot create"),
            std::string::npos);
  // A folder in the entry's place.
  ASSERT_FALSE(fs::create_directories(cache.getPath("key") + "/x"));
  EXPECT_EQ(load("key"), "nothing");
  EXPECT_TRUE(llvm::errorToBool(cache.store("key", "object", "meta")));
}

TEST_F(ObjectCacheTest, IsSharedByWritersAndReaders) {
  std::string object(100000, 'x');
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 20; ++j) {
        if (llvm::errorToBool(cache.store("key", object, "meta")))
          ++wrong;
        std::optional<CachedObject> entry = cache.load("key");
        // A writer replaces it at once: there is always one.
        if (!entry || entry->object->getBuffer() != object)
          ++wrong;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(load("key"), "meta|" + object);
}

TEST_F(ObjectCacheTest, IsWhereTheEnvironmentSays) {
  Environment environment;
  environment.set("LARC_CACHE", std::nullopt);
  environment.set("LARC_CACHE_DIR", "/one");
  environment.set("XDG_CACHE_HOME", "/two");
  environment.set("HOME", "/three");
  EXPECT_EQ(ObjectCache::fromEnvironment().getFolder(), "/one");
  environment.set("LARC_CACHE_DIR", "");
  EXPECT_EQ(ObjectCache::fromEnvironment().getFolder(), "/two/larc");
  environment.set("XDG_CACHE_HOME", "relative");
  EXPECT_EQ(ObjectCache::fromEnvironment().getFolder(), "/three/.cache/larc");
  environment.set("XDG_CACHE_HOME", std::nullopt);
  EXPECT_EQ(ObjectCache::fromEnvironment().getFolder(), "/three/.cache/larc");
  environment.set("LARC_CACHE", "off");
  EXPECT_FALSE(ObjectCache::fromEnvironment().isEnabled());
}

TEST(BuildIdentity, IsThatOfTheLinker) {
  llvm::StringRef identity = getBuildIdentity();
  EXPECT_TRUE(identity.starts_with("build ")) << identity.str();
  // This executable, LLVM and MLIR.
  EXPECT_GE(identity.count('\n'), 1u);
}

/// Compiled recurrences, kept in a folder of the test.
class CompiledCacheTest : public CompiledTest {
protected:
  static constexpr const char *source =
      "larc.recurrence @sums(%x[K]) state(%s[K]) -> (o[K]) {\n"
      "  %next = larc.add %s, %x\n"
      "  larc.yield %next, %next\n"
      "}\n";

  void SetUp() override {
    CompiledTest::SetUp();
    environment.set("LARC_CACHE", std::nullopt);
    environment.set("LARC_CACHE_DIR", folder / "cache");
  }
  void run(llvm::StringRef text = source, DType dtype = DType::F32,
           int64_t size = 5) {
    RecurrenceOp spec = parse(text);
    Shape shape;
    shape.tokens = 9;
    check(spec, makeInputs(spec, {{"K", size}}, shape, /*seed=*/1), dtype,
          1e-5);
  }
  std::vector<std::string> listEntries() const {
    return folder.listEntries("cache");
  }

  Folder folder;
  Environment environment;
};

TEST_F(CompiledCacheTest, OneEntryForEachCode) {
  run();
  EXPECT_EQ(listEntries().size(), 1u);
  run();
  EXPECT_EQ(listEntries().size(), 1u);
  // Where a text comes from does not matter, and what it says does.
  run("\n\n" + std::string(source));
  EXPECT_EQ(listEntries().size(), 1u);
  run(source, DType::F64);
  EXPECT_EQ(listEntries().size(), 2u);
  run(source, DType::F32, /*size=*/6);
  EXPECT_EQ(listEntries().size(), 3u);
  std::string other = source;
  other.replace(other.find("larc.add"), 8, "larc.sub");
  run(other);
  EXPECT_EQ(listEntries().size(), 4u);
}

TEST_F(CompiledCacheTest, LoadsWithoutCompiling) {
  run();
  ASSERT_EQ(listEntries().size(), 1u);
  fs::file_status before, after;
  ASSERT_FALSE(fs::status(listEntries()[0], before));
  run();
  ASSERT_FALSE(fs::status(listEntries()[0], after));
  // What is compiled is stored again, as another file.
  EXPECT_EQ(before.getUniqueID(), after.getUniqueID());
}

TEST_F(CompiledCacheTest, RebuildsDamage) {
  run();
  ASSERT_EQ(listEntries().size(), 1u);
  std::string path = listEntries()[0];
  uint64_t size = 0;
  ASSERT_FALSE(fs::file_size(path, size));
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(std::streamoff(size / 2));
  file.write("damage", 6);
  file.close();
  run();
  ASSERT_EQ(listEntries().size(), 1u);
  auto text = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(bool(text));
  EXPECT_EQ((*text)->getBuffer().find("damage"), llvm::StringRef::npos);
}

TEST_F(CompiledCacheTest, CountsTheSameWork) {
  RecurrenceOp spec = parse(source);
  ASSERT_TRUE(llvm::succeeded(bindDims(spec, {{"K", 8}})));
  CPUOptions options = CPUOptions::uniform(spec, DType::F32, DType::F32);
  auto compiled = CompiledRecurrence::compile(spec, options);
  auto loaded = CompiledRecurrence::compile(spec, options);
  ASSERT_TRUE(llvm::succeeded(compiled) && llvm::succeeded(loaded));
  EXPECT_GT((*compiled)->getTokenCost().flops, 0);
  EXPECT_EQ((*compiled)->getTokenCost().flops, (*loaded)->getTokenCost().flops);
  EXPECT_EQ((*compiled)->getTokenCost().bytes, (*loaded)->getTokenCost().bytes);
  EXPECT_EQ((*compiled)->getWorkspaceBytes(), (*loaded)->getWorkspaceBytes());
}

TEST_F(CompiledCacheTest, WarnsOnceAndComputes) {
  std::ofstream((folder / "cache").c_str()) << "a file";
  std::vector<std::string> messages;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          messages.push_back(diagnostic.str());
                                          return mlir::success();
                                        });
  run();
  run(source, DType::F64);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_NE(messages[0].find("compiled code cannot be kept: "),
            std::string::npos);
}

} // namespace
