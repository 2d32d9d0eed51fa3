#include "channels/local_view.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/check.h"
#include "channels/beneath.h"
#include "channels/download.h"
#include "env/posix/posix_files.h"
#include "env/testing/temporary_directory.h"
#include "wire/testing/fake_s3_client.h"

namespace sabia::channels {
namespace {

const Cancelled kNever = [] { return false; };

class LocalViewTest : public testing::Test {
 protected:
  LocalViewTest() { CHECK(files_.MakeDirectories(root())); }
  env::Path root() const { return base_.path() / "root"; }
  ListedObject Blob(const std::string& path, const std::string& content) {
    const env::Path blob = base_.path() / ("blob" + std::to_string(count_++));
    CHECK(files_.WriteAtomically(blob, content,
                                 {.mode = 0444, .durability = env::Durability::kVolatile}));
    return {path, content.size(), blob.native(), "", "", ""};
  }
  std::string Read(const std::string& path) {
    return files_.Read(root() / path, 1 << 20).value_or("?");
  }
  ino_t Inode(const env::Path& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
  }

  env::TemporaryDirectory base_;
  env::PosixFiles files_;
  int count_ = 0;
};

TEST_F(LocalViewTest, LinksWithoutCopying) {
  const std::vector<ListedObject> objects = {Blob("a/b/c", "one"), Blob("a/d", "two"),
                                             Blob("e", "")};
  const auto stats = BuildView(objects, root(), LinkMode::kHardLink, kNever);
  ASSERT_TRUE(stats) << stats.error().message;
  EXPECT_EQ(stats->files, 3u);
  EXPECT_EQ(stats->bytes, 6u);
  EXPECT_EQ(stats->copied, 0u);
  EXPECT_EQ(Read("a/b/c"), "one");
  EXPECT_EQ(Inode(root() / "a/d"), Inode(objects[1].blob));
}

TEST_F(LocalViewTest, CopiesAreOnesOwn) {
  const std::vector<ListedObject> objects = {Blob("a", std::string(700'000, 'x'))};
  const auto stats = BuildView(objects, root(), LinkMode::kCopy, kNever);
  ASSERT_TRUE(stats);
  EXPECT_EQ(stats->copied, 1u);
  EXPECT_EQ(Read("a"), std::string(700'000, 'x'));
  EXPECT_NE(Inode(root() / "a"), Inode(objects[0].blob));
  struct stat info {};
  ASSERT_EQ(::stat((root() / "a").c_str(), &info), 0);
  EXPECT_NE(info.st_mode & S_IWUSR, 0u);
}

TEST_F(LocalViewTest, AnotherFileSystemMeansCopies) {
  if (!std::filesystem::is_directory("/dev/shm"))
    GTEST_SKIP() << "needs /dev/shm as a second file system";
  const ListedObject object = Blob("a", "x");
  std::string pattern = "/dev/shm/sabia-test-XXXXXX";
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  const auto stats = BuildView(std::vector{object}, pattern, LinkMode::kHardLink, kNever);
  EXPECT_TRUE(stats && stats->copied == 1);
  files_.RemoveTree(pattern);
}

TEST_F(LocalViewTest, VanishedObjectsAndCancellation) {
  ListedObject gone = Blob("a", "x");
  gone.blob += "-gone";
  const auto missing = BuildView(std::vector{gone}, root(), LinkMode::kHardLink, kNever);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  const auto cancelled =
      BuildView(std::vector{Blob("b", "x")}, root(), LinkMode::kHardLink, [] { return true; });
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, ErrorCode::kTimeout);
}

TEST_F(LocalViewTest, DownloadsRemoteObjectsWhole) {
  wire::FakeS3Client s3(base_.path() / "s3");
  ASSERT_TRUE(s3.MakeBucket("b"));
  std::vector<ListedObject> objects;
  for (int i = 0; i < 40; ++i) {
    const std::string name = fmt::format("d{}/f{}", i % 3, i);
    ASSERT_TRUE(s3.Put({"b", "p/" + name}, name));
    objects.push_back({name, name.size(), "", "b", "p/" + name, ""});
  }
  const MakeClient make = [this]() -> Result<std::unique_ptr<wire::S3Client>> {
    return std::make_unique<wire::FakeS3Client>(base_.path() / "s3");
  };
  ASSERT_TRUE(DownloadObjects(objects, root(), make, kNever));
  EXPECT_EQ(Read("d1/f37"), "d1/f37");
  objects[7].size += 1;
  const Status changed = DownloadObjects(objects, root(), make, kNever);
  ASSERT_FALSE(changed);
  EXPECT_NE(changed.error().message.find("d1/f7"), std::string::npos);
  objects[7].key = "p/none";
  EXPECT_EQ(DownloadObjects(objects, root(), make, kNever).error().code, ErrorCode::kNotFound);
}

TEST_F(LocalViewTest, BeneathFollowsNoLinks) {
  namespace fs = std::filesystem;
  fs::create_directories(root() / "real");
  CHECK(files_.WriteAtomically(root() / "real/file", "text",
                               {.durability = env::Durability::kVolatile}));
  fs::create_symlink("real", root() / "linked");
  fs::create_symlink("/etc/passwd", root() / "passwd");
  const auto fd = OpenDirectory(root());
  ASSERT_TRUE(fd);
  EXPECT_EQ(ReadBeneath(fd->get(), "real/file", 2).value_or("?"), "te");
  for (const char* bad : {"linked/file", "passwd", "../root/real/file", "/etc/passwd", "none"}) {
    EXPECT_FALSE(ReadBeneath(fd->get(), bad, 10)) << bad;
  }
  EXPECT_FALSE(ReadBeneath(fd->get(), "real", 10)) << "a directory";
  EXPECT_TRUE(IsRealDirectory(fd->get(), "real"));
  EXPECT_FALSE(IsRealDirectory(fd->get(), "linked"));
  EXPECT_FALSE(IsRealDirectory(fd->get(), "real/file"));
}

}  // namespace
}  // namespace sabia::channels
