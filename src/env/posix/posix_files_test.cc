#include "env/posix/posix_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <thread>

#include "env/testing/temporary_directory.h"

namespace sabia::env {
namespace {

TEST(PosixFiles, WriteReplacesAtomicallyAndKeepsTheMode) {
  TemporaryDirectory dir;
  PosixFiles files;
  const Path path = dir.path() / "keys";
  ASSERT_TRUE(files.WriteAtomically(path, "one", {.mode = 0600}));
  ASSERT_TRUE(files.WriteAtomically(path, "two", {.mode = 0600}));
  EXPECT_EQ(files.Read(path, 100).value(), "two");
  EXPECT_EQ(files.List(dir.path()).value(), std::vector<std::string>{"keys"});
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST(PosixFiles, ErrorsTellWhatTheCallerCanDo) {
  TemporaryDirectory dir;
  PosixFiles files;
  EXPECT_EQ(files.Read(dir.path() / "missing", 100).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(files.WriteAtomically(dir.path() / "big", std::string(100, 'x'), {}));
  EXPECT_EQ(files.Read(dir.path() / "big", 10).error().code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(files.List(dir.path() / "missing").error().code, ErrorCode::kNotFound);
}

TEST(PosixFiles, RemovingIsIdempotentAndDoesNotFollowLinks) {
  TemporaryDirectory dir;
  PosixFiles files;
  ASSERT_TRUE(files.MakeDirectories(dir.path() / "a/b"));
  ASSERT_TRUE(files.WriteAtomically(dir.path() / "kept", "x", {}));
  std::filesystem::create_symlink(dir.path() / "kept", dir.path() / "a/link");
  ASSERT_TRUE(files.RemoveTree(dir.path() / "a"));
  ASSERT_TRUE(files.RemoveTree(dir.path() / "a"));
  EXPECT_TRUE(files.Exists(dir.path() / "kept").value());
  EXPECT_FALSE(files.Exists(dir.path() / "a").value());
}

TEST(LockExclusively, WaitsOutALookAndRefusesAHolder) {
  TemporaryDirectory dir;
  const Path path = dir.path() / "lock";
  const UniqueFd first = *OpenFile(path, O_RDWR | O_CREAT);
  const UniqueFd second = *OpenFile(path, O_RDWR);
  UniqueFd looker = *OpenFile(path, O_RDWR);
  ASSERT_EQ(::flock(looker.get(), LOCK_SH), 0);
  std::thread look([&looker] { looker.Reset(); });
  EXPECT_TRUE(LockExclusively(first.get()));
  look.join();
  EXPECT_TRUE(IsLocked(path));
  EXPECT_EQ(LockExclusively(second.get()).error().code, ErrorCode::kConflict);
}

TEST(IsLocked, OnlyAMissingOrFreeFileIsNotLocked) {
  TemporaryDirectory dir;
  const Path path = dir.path() / "lock";
  EXPECT_FALSE(IsLocked(path));
  const UniqueFd file = *OpenFile(path, O_RDWR | O_CREAT);
  EXPECT_FALSE(IsLocked(path));
  std::filesystem::create_symlink(path, dir.path() / "link");
  EXPECT_TRUE(IsLocked(dir.path() / "link")) << "a link is not the file";
}

}  // namespace
}  // namespace sabia::env
