//===- ObjectCacheTest.cpp - Compiled code kept on disk -------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Support/ObjectCache.h"

#include "FileTestUtils.h"

#include <atomic>
#include <fstream>
#include <thread>

using namespace larc;
using namespace larc::test;
namespace fs = llvm::sys::fs;

namespace {

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

} // namespace
