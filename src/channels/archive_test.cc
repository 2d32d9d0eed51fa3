#include "channels/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "env/posix/posix_files.h"
#include "env/testing/temporary_directory.h"

namespace sabia::channels {
namespace {

namespace fs = std::filesystem;
const Cancelled kNever = [] { return false; };

class ArchiveTest : public testing::Test {
 protected:
  ArchiveTest() {
    for (const char* name : {"a", "b", "out"}) CHECK(files_.MakeDirectories(base_.path() / name));
  }
  void Write(const std::string& path, const std::string& content) {
    CHECK(files_.MakeDirectories((base_.path() / path).parent_path()));
    CHECK(files_.WriteAtomically(base_.path() / path, content,
                                 {.durability = env::Durability::kVolatile}));
  }
  std::string Read(const std::string& path) {
    return files_.Read(base_.path() / path, 1 << 20).value_or("?");
  }
  env::Path tar() const { return base_.path() / "x.tar.gz"; }
  env::Path out() const { return base_.path() / "out"; }

  // An archive with one member of our choice, as an attacker would make it.
  struct Member {
    std::string name;
    std::string link;  // symbolic
    std::string hard;  // hard link
    unsigned type = AE_IFREG;
  };
  void Forge(const std::vector<Member>& members) {
    struct archive* a = ::archive_write_new();
    ::archive_write_add_filter_gzip(a);
    ::archive_write_set_format_pax_restricted(a);
    ::archive_write_open_filename(a, tar().c_str());
    for (const Member& member : members) {
      struct archive_entry* entry = ::archive_entry_new();
      ::archive_entry_set_pathname(entry, member.name.c_str());
      ::archive_entry_set_filetype(entry, member.link.empty() ? member.type : AE_IFLNK);
      ::archive_entry_set_perm(entry, 0644);
      if (!member.link.empty()) ::archive_entry_set_symlink(entry, member.link.c_str());
      if (!member.hard.empty()) ::archive_entry_set_hardlink(entry, member.hard.c_str());
      const bool data = member.link.empty() && member.hard.empty() && member.type == AE_IFREG;
      ::archive_entry_set_size(entry, data ? 4 : 0);
      ::archive_write_header(a, entry);
      if (data) ::archive_write_data(a, "evil", 4);
      ::archive_entry_free(entry);
    }
    ::archive_write_close(a);
    ::archive_write_free(a);
  }

  env::TemporaryDirectory base_;
  env::PosixFiles files_;
};

TEST_F(ArchiveTest, RoundTripKeepsContentModesAndLinks) {
  Write("a/model.bin", std::string(300'000, 'm'));
  Write("a/code/run.sh", "#!/bin/sh\n");
  ::chmod((base_.path() / "a/code/run.sh").c_str(), 0755);
  fs::create_symlink("model.bin", base_.path() / "a/latest");
  files_.MakeDirectories(base_.path() / "a/empty");
  ASSERT_EQ(::mkfifo((base_.path() / "a/fifo").c_str(), 0644), 0);
  std::vector<std::string> left_out;
  const auto entries = MergeTrees({base_.path() / "a"}, &left_out);
  ASSERT_TRUE(entries);
  EXPECT_EQ(left_out, std::vector<std::string>{"fifo (FIFO)"});
  ASSERT_TRUE(PackTar(*entries, tar(), 1, kNever));
  ASSERT_TRUE(UnpackArchive(tar(), out(), {}));
  EXPECT_EQ(Read("out/model.bin"), std::string(300'000, 'm'));
  EXPECT_EQ(fs::read_symlink(out() / "latest"), "model.bin");
  EXPECT_TRUE(fs::is_directory(out() / "empty"));
  EXPECT_NE(fs::status(out() / "code/run.sh").permissions() & fs::perms::owner_exec,
            fs::perms::none);
  EXPECT_FALSE(fs::exists(fs::symlink_status(out() / "fifo")));
}

TEST_F(ArchiveTest, EmptyTreeMakesAnEmptyArchive) {
  const auto entries = MergeTrees({base_.path() / "a", base_.path() / "missing"});
  ASSERT_TRUE(entries);
  EXPECT_TRUE(entries->empty());
  ASSERT_TRUE(PackTar(*entries, tar(), 1, kNever));
  EXPECT_TRUE(UnpackArchive(tar(), out(), {}));
  EXPECT_TRUE(fs::is_empty(out()));
}

TEST_F(ArchiveTest, TreesMergeInOneOrderAndClashesAreNamed) {
  Write("a/z", "1");
  Write("a/d/x", "1");
  Write("b/d/y", "2");
  Write("b/a", "2");
  const auto merged = MergeTrees({base_.path() / "a", base_.path() / "b"});
  ASSERT_TRUE(merged);
  std::vector<std::string> paths;
  for (const TreeFile& file : *merged) paths.push_back(file.path);
  EXPECT_THAT(paths, testing::ElementsAre("a", "d", "d/x", "d/y", "z"));
  Write("b/d/x", "2");
  const auto clash = MergeTrees({base_.path() / "a", base_.path() / "b"});
  ASSERT_FALSE(clash);
  EXPECT_EQ(clash.error().code, ErrorCode::kConflict);
  EXPECT_THAT(clash.error().message, testing::HasSubstr("'d/x'"));
}

TEST_F(ArchiveTest, HostileArchivesAreRefused) {
  const std::vector<std::vector<Member>> hostile = {
      {{.name = "../evil"}},
      {{.name = "a/../../evil"}},
      {{.name = "/tmp/sabia-evil"}},
      {{.name = "dir", .link = "/tmp"}, {.name = "dir/sabia-evil"}},
      {{.name = "up", .link = ".."}, {.name = "up/evil"}},
      {{.name = "hard", .hard = "../../etc/passwd"}},
      {{.name = "hard", .hard = "/etc/passwd"}},
      {{.name = "pipe", .type = AE_IFIFO}},
      {{.name = "device", .type = AE_IFCHR}},
  };
  for (const auto& members : hostile) {
    Forge(members);
    const Status unpacked = UnpackArchive(tar(), out(), {});
    EXPECT_FALSE(unpacked) << members.back().name;
    EXPECT_FALSE(fs::exists(base_.path() / "evil"));
    EXPECT_FALSE(fs::exists("/tmp/sabia-evil"));
  }
}

TEST_F(ArchiveTest, NamesWithDotSlashAreFine) {
  Forge({{.name = "./", .type = AE_IFDIR}, {.name = "./train.py"}});
  ASSERT_TRUE(UnpackArchive(tar(), out(), {}));
  EXPECT_EQ(Read("out/train.py"), "evil");
}

TEST_F(ArchiveTest, LimitsHold) {
  Write("a/big", std::string(10'000, 'x'));
  Write("a/two", "x");
  ASSERT_TRUE(PackTar(*MergeTrees({base_.path() / "a"}), tar(), 1, kNever));
  EXPECT_EQ(UnpackArchive(tar(), out(), {.bytes_max = 5'000}).error().code,
            ErrorCode::kResourceExhausted);
  EXPECT_EQ(UnpackArchive(tar(), out(), {.entries_max = 1}).error().code,
            ErrorCode::kResourceExhausted);
}

TEST_F(ArchiveTest, WhatIsNoArchiveIsRefused) {
  Write("x.tar.gz", "this is no archive");
  const Status unpacked = UnpackArchive(tar(), out(), {});
  ASSERT_FALSE(unpacked);
  EXPECT_EQ(unpacked.error().code, ErrorCode::kInvalidArgument);
}

TEST_F(ArchiveTest, CancelStopsPacking) {
  Write("a/big", std::string(10'000, 'x'));
  const Status packed = PackTar(*MergeTrees({base_.path() / "a"}), tar(), 1, [] { return true; });
  ASSERT_FALSE(packed);
  EXPECT_EQ(packed.error().code, ErrorCode::kTimeout);
}

}  // namespace
}  // namespace sabia::channels
