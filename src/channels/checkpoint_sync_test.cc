// Goal: S3 holds every finished checkpoint and never half of one, whatever the program and the
// endpoint do. Method: a real directory and a directory-backed endpoint; the sync's own thread with
// a short interval; where an order of events matters, files are held open or the endpoint is taken
// away.
#include "channels/checkpoint_sync.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "env/posix/posix_clock.h"
#include "env/testing/temporary_directory.h"
#include "wire/testing/fake_s3_client.h"

namespace sabia::channels {
namespace {

const Cancelled kNever = [] { return false; };

class CheckpointSyncTest : public testing::Test {
 protected:
  CheckpointSyncTest() : s3_(base_.path() / "s3") {
    CHECK(s3_.MakeBucket("b"));
    CHECK(files_.MakeDirectories(dir()));
    CHECK(files_.MakeDirectories(base_.path() / "snapshots"));
    Reset();
  }

  env::Path dir() const { return base_.path() / "checkpoints"; }

  void Reset(Millis set_rest = Millis(20), std::size_t keep = 0) {
    sync_ = std::make_unique<CheckpointSync>(
        CheckpointOptions{.directory = dir(),
                          .snapshots = base_.path() / "snapshots",
                          .prefix = {"b", "p/"},
                          .keep = keep,
                          .interval = Millis(5),
                          .set_rest = set_rest},
        [root = base_.path() / "s3"]() -> Result<std::unique_ptr<wire::S3Client>> {
          return std::make_unique<wire::FakeS3Client>(root);
        },
        clock_);
  }

  void Write(const std::string& path, const std::string& content) {
    CHECK(MakeParents(dir(), path));
    const auto fd = env::OpenFile(dir() / path, O_WRONLY | O_CREAT | O_TRUNC);
    CHECK(fd);
    CHECK(env::WriteAll(fd->get(), content));
  }
  env::UniqueFd OpenForWriting(const std::string& path, const std::string& content) {
    auto fd = env::OpenFile(dir() / path, O_WRONLY | O_CREAT | O_TRUNC);
    CHECK(fd);
    CHECK(env::WriteAll(fd->get(), content));
    return std::move(*fd);
  }
  std::string Object(const std::string& path) {
    return s3_.Get({"b", "p/" + path}, 1 << 20).value_or("<none>");
  }
  bool Exists(const std::string& path) { return files_.Exists(dir() / path).value_or(false); }
  static bool Until(const std::function<bool()>& condition) {
    for (int i = 0; i < 5000; ++i) {
      if (condition()) return true;
      ::poll(nullptr, 0, 2);
    }
    return false;
  }
  // The sync has looked at least `n` more times.
  void AfterLooks(int n) {
    // A canary goes up after two looks; each canary is a bound from below.
    for (int i = 0; i < n; ++i) {
      const std::string name = "canary" + std::to_string(canaries_++);
      Write(name, "x");
      ASSERT_TRUE(Until([&] { return Object(name) == "x"; }));
    }
  }

  env::TemporaryDirectory base_;
  env::PosixFiles files_;
  env::PosixClock clock_;
  wire::FakeS3Client s3_;
  std::unique_ptr<CheckpointSync> sync_;
  int canaries_ = 0;
};

TEST_F(CheckpointSyncTest, FollowsChangesAndDeletions) {
  ASSERT_TRUE(sync_->Start());
  Write("a", "one");
  Write("deep/er/b", "two");
  ASSERT_TRUE(Until([&] { return Object("a") == "one" && Object("deep/er/b") == "two"; }));
  ASSERT_TRUE(Until([&] { return Exists("a.sagemaker-uploaded"); }));
  Write("a", "changed");
  ASSERT_TRUE(Until([&] { return Object("a") == "changed"; }));
  ::unlink((dir() / "deep/er/b").c_str());
  ASSERT_TRUE(Until([&] { return Object("deep/er/b") == "<none>"; }));
  ASSERT_TRUE(Until([&] { return !Exists("deep/er/b.sagemaker-uploaded"); }));
  ASSERT_TRUE(sync_->Flush(CheckpointSync::Trust::kAll, kNever));
  EXPECT_EQ(sync_->stats().files, 1u);
  EXPECT_EQ(sync_->stats().pending_bytes, 0u);
  EXPECT_TRUE(sync_->stats().synced_at);
}

TEST_F(CheckpointSyncTest, LeavesOutMarkersAndTemporaryFiles) {
  for (const char* name :
       {"a.sagemaker-ignore", "b.sagemaker-uploading", ".c.tmp", ".d.swp", ".metadata"}) {
    Write(name, "x");
  }
  ::symlink("/etc/passwd", (dir() / "link").c_str());
  ASSERT_TRUE(sync_->Start());
  ASSERT_TRUE(sync_->Flush(CheckpointSync::Trust::kAll, kNever));
  const auto objects = s3_.List("b", "");
  ASSERT_TRUE(objects);
  ASSERT_EQ(objects->size(), 1u);
  EXPECT_EQ((*objects)[0].key, "p/.metadata");
  EXPECT_EQ(sync_->stats().no_files, std::vector<std::string>{"link (symbolic link)"});
}

TEST_F(CheckpointSyncTest, AFileOpenForWritingWaits) {
  ASSERT_TRUE(sync_->Start());
  env::UniqueFd fd = OpenForWriting("big", "half");
  AfterLooks(3);
  EXPECT_EQ(Object("big"), "<none>");
  EXPECT_EQ(sync_->stats().pending_bytes, 4u);
  ASSERT_TRUE(env::WriteAll(fd.get(), " and half"));
  fd.Reset();
  ASSERT_TRUE(Until([&] { return Object("big") == "half and half"; }));
}

TEST_F(CheckpointSyncTest, KilledInTheMiddleOfAFileKeepsTheVersionBefore) {
  ASSERT_TRUE(sync_->Start());
  Write("state", "version 1");
  ASSERT_TRUE(Until([&] { return Object("state") == "version 1"; }));
  env::UniqueFd fd = OpenForWriting("state", "versi");
  Write("other", "whole");
  sync_->Freeze();
  fd.Reset();  // the kill closes it
  ASSERT_TRUE(sync_->Flush(CheckpointSync::Trust::kOnlyStable, kNever));
  EXPECT_EQ(Object("state"), "version 1");
  EXPECT_EQ(Object("other"), "whole");
  EXPECT_THAT(sync_->stats().skipped, testing::ElementsAre("state"));
}

TEST_F(CheckpointSyncTest, AfterACrashOnlyWhatWasStillGoesUp) {
  ASSERT_TRUE(sync_->Start());
  Write("old", "old");
  ASSERT_TRUE(Until([&] { return Object("old") == "old"; }));
  sync_->Halt();
  Write("fresh", "who knows");  // after the last look
  ::unlink((dir() / "old").c_str());
  ASSERT_TRUE(sync_->Flush(CheckpointSync::Trust::kOnlyStable, kNever));
  EXPECT_EQ(Object("fresh"), "<none>");
  EXPECT_EQ(Object("old"), "old") << "deleted although its successor stayed behind";
}

TEST_F(CheckpointSyncTest, ReplacingOneCheckpointByTheNextNeverLeavesNone) {
  ASSERT_TRUE(sync_->Start());
  Write("ckpt-0", "x");
  ASSERT_TRUE(Until([&] { return Object("ckpt-0") == "x"; }));
  for (int i = 1; i <= 10; ++i) {
    Write("ckpt-" + std::to_string(i), "x");
    ::unlink((dir() / ("ckpt-" + std::to_string(i - 1))).c_str());
    ASSERT_TRUE(Until([&] {
      const auto objects = s3_.List("b", "p/");
      EXPECT_GE(objects->size(), 1u);
      return objects->size() == 1 && Object("ckpt-" + std::to_string(i)) == "x";
    }));
  }
}

constexpr char kMarker[] = ".sabia-unfinished-algo-1";

TEST_F(CheckpointSyncTest, ADirectoryIsRestoredAsAWholeOrNotAtAll) {
  ASSERT_TRUE(sync_->Start());
  Write("c1/model", "1");
  Write("c1/state", "1");
  ASSERT_TRUE(Until([&] { return Object("c1/state") == "1" && Object(kMarker) == "<none>"; }));
  Write("c2/model", "2");
  const env::UniqueFd half = OpenForWriting("c2/state", "2 and m");
  ASSERT_TRUE(Until([&] { return Object("c2/model") == "2"; }));
  EXPECT_EQ(Object(kMarker), R"(["c2/model"])");

  // The machine dies here; another takes over.
  sync_.reset();
  ASSERT_TRUE(files_.RemoveTree(dir()));
  ASSERT_TRUE(files_.MakeDirectories(dir()));
  Reset();
  const auto restored = sync_->Restore(kNever);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(restored->files, 2u);
  EXPECT_EQ(restored->left_out, 1u);
  EXPECT_TRUE(Exists("c1/model") && Exists("c1/state"));
  EXPECT_FALSE(Exists("c2") || Exists(kMarker));
  ASSERT_TRUE(sync_->Start());
  EXPECT_TRUE(Until([&] { return Object("c2/model") == "<none>" && Object(kMarker) == "<none>"; }))
      << "what was left behind goes";
  EXPECT_EQ(Object("c1/model"), "1");
}

TEST_F(CheckpointSyncTest, OthersLeaveTheirUnfinishedFilesToTheirHosts) {
  ASSERT_TRUE(s3_.Put({"b", "p/c/shard-2"}, "x"));
  ASSERT_TRUE(s3_.Put({"b", "p/c/shard-1"}, "x"));
  ASSERT_TRUE(s3_.Put({"b", "p/.sabia-unfinished-algo-2"}, R"(["c/shard-2"])"));
  const auto restored = sync_->Restore(kNever);
  ASSERT_TRUE(restored);
  EXPECT_EQ(restored->left_out, 1u);
  EXPECT_FALSE(Exists("c/shard-2"));
  ASSERT_TRUE(sync_->Start());
  AfterLooks(2);
  EXPECT_EQ(Object("c/shard-2"), "x");
  ASSERT_TRUE(s3_.Put({"b", "p/.sabia-unfinished-algo-2"}, "damaged"));
  Reset();
  EXPECT_EQ(sync_->Restore(kNever).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(CheckpointSyncTest, AnOldDirectoryStaysUntilTheNewOneIsWhole) {
  Reset(Millis(60'000));
  ASSERT_TRUE(sync_->Start());
  Write("c1/model", "1");
  AfterLooks(2);
  EXPECT_EQ(Object(kMarker), R"(["c1/model"])") << "it has not come to rest";
  Write("c2/model", "2");
  ASSERT_TRUE(files_.RemoveTree(dir() / "c1"));
  AfterLooks(3);
  EXPECT_EQ(Object("c1/model"), "1");
  ASSERT_TRUE(sync_->Flush(CheckpointSync::Trust::kAll, kNever));
  EXPECT_EQ(Object("c1/model"), "<none>");
  EXPECT_EQ(Object("c2/model"), "2");
  EXPECT_EQ(Object(kMarker), "<none>");
}

TEST_F(CheckpointSyncTest, AKilledProgramsRestlessDirectoryIsHidden) {
  Reset(Millis(60'000));
  ASSERT_TRUE(sync_->Start());
  Write("c1/model", "1");
  AfterLooks(1);
  sync_->Freeze();
  ASSERT_TRUE(sync_->Flush(CheckpointSync::Trust::kOnlyStable, kNever));
  EXPECT_EQ(Object("c1/model"), "1");
  EXPECT_EQ(Object(kMarker), R"(["c1/model"])");
  Reset();
  ASSERT_TRUE(files_.RemoveTree(dir()));
  ASSERT_TRUE(files_.MakeDirectories(dir()));
  EXPECT_EQ(sync_->Restore(kNever)->left_out, 1u);
}

TEST_F(CheckpointSyncTest, ADirectoryWithASuccessorIsWhole) {
  Reset(Millis(60'000));
  ASSERT_TRUE(sync_->Start());
  for (const char* step : {"step-1/", "step-2/", "step-3/"}) {
    Write(std::string(step) + "model", step);
    Write(std::string(step) + "state", step);
    AfterLooks(2);
  }
  EXPECT_TRUE(Until([&] { return Object(kMarker) == R"(["step-3/model","step-3/state"])"; }));
  ASSERT_TRUE(files_.RemoveTree(dir() / "step-1"));
  EXPECT_TRUE(Until([&] { return Object("step-1/model") == "<none>"; })) << "step-2 replaces it";
  EXPECT_TRUE(sync_->stats().written_at);
}

TEST_F(CheckpointSyncTest, HalfOfADirectoryThatIsBeingRemovedIsNeverAllThereIs) {
  Reset(Millis(60'000));
  for (const char* path : {"step-1/model", "step-1/state", "step-2/model", "step-3/model"}) {
    Write(path, "x");
    ::poll(nullptr, 0, 5);
  }
  ASSERT_TRUE(sync_->Start());
  AfterLooks(3);
  ASSERT_TRUE(files_.RemoveTree(dir() / "step-1/model"));
  AfterLooks(3);
  sync_->Freeze();
  ASSERT_TRUE(sync_->Flush(CheckpointSync::Trust::kOnlyStable, kNever));
  EXPECT_EQ(Object("step-1/model"), "x") << "the program was killed while it removed the directory";
  EXPECT_EQ(Object("step-1/state"), "x");
  EXPECT_EQ(Object(kMarker), R"(["step-3/model"])");
}

TEST_F(CheckpointSyncTest, TheLastFlushSendsTheNewestDirectoryFirst) {
  ASSERT_TRUE(sync_->Start());
  sync_->Halt();
  const auto write_at = [&](const std::string& path, std::int64_t second) {
    Write(path, path);
    const timespec times[2] = {{second, 0}, {second, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (dir() / path).c_str(), times, 0), 0);
  };
  write_at("c1/model", 100);
  write_at("config", 150);
  write_at("c2/model", 200);
  write_at("c3/model", 300);
  write_at("c3/state", 301);
  write_at("latest", 302);
  ASSERT_TRUE(sync_->Flush(CheckpointSync::Trust::kAll, kNever));
  const auto sent = [&](const std::string& path) {
    struct stat info {};
    const env::Path file = base_.path() / "s3" / "b" / UriEncode("p/" + path);
    EXPECT_EQ(::stat(file.c_str(), &info), 0) << file;
    return std::pair(info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  };
  const std::vector<std::string> order{"c3/model", "c3/state", "config",
                                       "latest",   "c2/model", "c1/model"};
  for (std::size_t i = 1; i < order.size(); ++i)
    EXPECT_LE(sent(order[i - 1]), sent(order[i])) << order[i - 1] << " before " << order[i];
}

TEST_F(CheckpointSyncTest, KeepsTheNewestOfASeries) {
  Reset(Millis(20), 2);
  ASSERT_TRUE(sync_->Start());
  Write("config", "x");
  for (const char* path : {"step-8/a", "step-8/b", "step-9/a", "step-10/a"}) {
    Write(path, "x");
    ASSERT_TRUE(Until([&] { return sync_->stats().pending_bytes == 0 && Object(path) == "x"; }));
  }
  EXPECT_TRUE(Until([&] { return Object("step-8/a") == "<none>" && Object(kMarker) == "<none>"; }));
  EXPECT_EQ(Object("step-8/b"), "<none>");
  EXPECT_TRUE(Exists("step-8/a")) << "the directory is the program's";
  Write("model-1.pt", "x");
  Write("model-2.pt", "x");
  ASSERT_TRUE(sync_->Flush(CheckpointSync::Trust::kAll, kNever));
  for (const char* path : {"config", "step-9/a", "step-10/a", "model-1.pt", "model-2.pt"})
    EXPECT_EQ(Object(path), "x") << path;
  EXPECT_EQ(Object("step-8/a"), "<none>") << "it goes up no more";
  EXPECT_EQ(sync_->stats().files, 5u);
}

TEST(CheckpointSets, ASeriesDiffersInNumbersOnly) {
  EXPECT_EQ(SeriesOf("checkpoint-500/model/a.bin"), "checkpoint-#/");
  EXPECT_EQ(SeriesOf("epoch=12-step=340.ckpt"), "epoch=#-step=#.ckpt");
  EXPECT_EQ(SeriesOf("latest"), "");
  EXPECT_EQ(SeriesOf("best/model-1.pt"), "") << "a directory counts by its own name";
}

TEST_F(CheckpointSyncTest, WaitsForAnEndpointThatIsAway) {
  s3_.SetAway(true);
  ASSERT_TRUE(sync_->Start());
  Write("a", "one");
  ASSERT_TRUE(Until([&] { return !sync_->stats().problem.empty(); }));
  EXPECT_FALSE(Exists("a.sagemaker-uploaded"));
  EXPECT_FALSE(Exists("a.sagemaker-uploading"));
  std::thread returns([this] {
    ::poll(nullptr, 0, 50);
    s3_.SetAway(false);
  });
  EXPECT_TRUE(sync_->Flush(CheckpointSync::Trust::kAll, kNever));
  returns.join();
  EXPECT_EQ(Object("a"), "one");
  EXPECT_EQ(sync_->stats().problem, "");
}

TEST_F(CheckpointSyncTest, FlushGivesUpWhenCancelled) {
  s3_.SetAway(true);
  ASSERT_TRUE(sync_->Start());
  Write("a", "one");
  const Status flushed = sync_->Flush(CheckpointSync::Trust::kAll, [] { return true; });
  ASSERT_FALSE(flushed);
  EXPECT_EQ(Object("a"), "<none>");
}

TEST_F(CheckpointSyncTest, RestoresAndDoesNotUploadAgain) {
  ASSERT_TRUE(s3_.Put({"b", "p/a"}, "one"));
  ASSERT_TRUE(s3_.Put({"b", "p/d/b"}, "two"));
  ASSERT_TRUE(s3_.Put({"b", "p/a.sagemaker-uploaded"}, ""));
  ASSERT_TRUE(s3_.Put({"b", "p/folder/"}, ""));
  ASSERT_TRUE(s3_.Put({"b", "other/a"}, "three"));
  const auto restored = sync_->Restore(kNever);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(restored->files, 2u);
  EXPECT_EQ(restored->bytes, 6u);
  EXPECT_EQ(files_.Read(dir() / "d/b", 10).value_or("?"), "two");
  ASSERT_TRUE(sync_->Start());
  // What others put later is not fetched, and what was restored is not sent back.
  ASSERT_TRUE(s3_.Put({"b", "p/late"}, "late"));
  ASSERT_TRUE(s3_.Put({"b", "p/a"}, "changed by others"));
  AfterLooks(2);
  EXPECT_FALSE(Exists("late"));
  EXPECT_EQ(Object("a"), "changed by others");
  // Deleting a restored file reaches S3.
  ::unlink((dir() / "d/b").c_str());
  ASSERT_TRUE(Until([&] { return Object("d/b") == "<none>"; }));
  EXPECT_EQ(Object("late"), "late");
}

TEST_F(CheckpointSyncTest, RestoreRefusesUnsafeKeysAndMissingBuckets) {
  ASSERT_TRUE(s3_.Put({"b", "p/../../etc/x"}, "evil"));
  const auto refused = sync_->Restore(kNever);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  files_.RemoveTree(base_.path() / "s3" / "b");
  Reset();
  const auto missing = sync_->Restore(kNever);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
}

TEST_F(CheckpointSyncTest, NamesThatMakeNoKeyAreReported) {
  ASSERT_TRUE(sync_->Start());
  Write("bad\xff", "x");
  Write("good", "x");
  ASSERT_TRUE(Until([&] { return !sync_->stats().problem.empty() && Object("good") == "x"; }));
  EXPECT_FALSE(sync_->Flush(CheckpointSync::Trust::kAll, kNever));
}

}  // namespace
}  // namespace sabia::channels
