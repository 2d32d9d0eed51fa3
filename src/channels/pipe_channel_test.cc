// Goal: whoever reads the FIFOs of a channel gets exactly its data, however and whenever they read.
// Method: real FIFOs and threads, with this process as the program.
#include "channels/pipe_channel.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "base/json.h"
#include "channels/downloading_reader.h"
#include "channels/recordio.h"
#include "channels/testing/text_stream.h"
#include "env/posix/posix_clock.h"
#include "env/random.h"
#include "env/testing/temporary_directory.h"
#include "wire/testing/fake_s3_client.h"

namespace sabia::channels {
namespace {

class Pipes : public testing::Test {
 protected:
  void SetUp() override {
    ::signal(SIGPIPE, SIG_IGN);
    for (const char* name : {"data", "blobs", "scratch"}) {
      ASSERT_TRUE(files_.MakeDirectories(base_.path() / name));
    }
    options_.name = "train";
    options_.directory = base_.path() / "data";
    options_.items.listing = base_.path() / "listing";
    options_.items.scratch = base_.path() / "scratch";
  }

  env::Path AddObject(const std::string& content) {
    const env::Path blob = base_.path() / "blobs" / std::to_string(objects_);
    EXPECT_TRUE(files_.WriteAtomically(blob, content, {.durability = env::Durability::kVolatile}));
    listing_ += json::serialize(json::object{{"path", fmt::format("o{}", objects_)},
                                             {"size", content.size()},
                                             {"blob", blob.native()},
                                             {"bucket", "k"},
                                             {"key", fmt::format("p/o{}", objects_)}}) +
                "\n";
    ++objects_;
    return blob;
  }

  void Start() {
    ASSERT_TRUE(files_.WriteAtomically(options_.items.listing, listing_,
                                       {.durability = env::Durability::kVolatile}));
    auto channel = PipeChannel::Open(options_, *reader_, clock_, news_.get());
    ASSERT_TRUE(channel) << channel.error().message;
    channel_ = std::move(*channel);
    channel_->Start();
  }

  // What is not local comes from a directory that plays the endpoint.
  void UseEndpoint() {
    reader_ = MakeSplitReader(
        MakeLocalObjectReader(),
        MakeDownloadingReader(
            [root = base_.path() / "s3"]() -> Result<std::unique_ptr<wire::S3Client>> {
              return std::make_unique<wire::FakeS3Client>(root);
            },
            options_.items.scratch));
  }

  env::Path PathOf(int epoch) const {
    return options_.directory / fmt::format("{}_{}", options_.name, epoch);
  }
  // As a program does: again and again until the FIFO exists.
  env::UniqueFd OpenEpoch(int epoch) {
    env::UniqueFd fd;
    EXPECT_TRUE(Until([&] {
      fd.Reset(::open(PathOf(epoch).c_str(), O_RDONLY | O_CLOEXEC));
      return static_cast<bool>(fd);
    })) << "no FIFO for epoch "
        << epoch;
    return fd;
  }
  static std::string ReadSome(const env::UniqueFd& fd, std::size_t bytes) {
    std::string out(bytes, '\0');
    std::size_t done = 0;
    while (done < bytes) {
      const ssize_t n = ::read(fd.get(), out.data() + done, bytes - done);
      if (n <= 0) break;
      done += static_cast<std::size_t>(n);
    }
    out.resize(done);
    return out;
  }
  static std::string ReadRest(const env::UniqueFd& fd) {
    std::string out;
    while (true) {
      const std::string piece = ReadSome(fd, 256 << 10);
      if (piece.empty()) return out;
      out += piece;
    }
  }
  std::string ReadEpoch(int epoch) { return ReadRest(OpenEpoch(epoch)); }

  static bool Until(const std::function<bool()>& condition) {
    for (int i = 0; i < 6000; ++i) {
      if (condition()) return true;
      ::poll(nullptr, 0, 5);
    }
    return false;
  }

  env::TemporaryDirectory base_;
  env::PosixFiles files_;
  env::PosixClock clock_;
  env::UniqueFd news_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::unique_ptr<ObjectReader> reader_ = MakeLocalObjectReader();
  PipeChannelOptions options_;
  std::string listing_;
  int objects_ = 0;
  std::unique_ptr<PipeChannel> channel_;
};

TEST_F(Pipes, GiveTheObjectsInOrderEpochAfterEpoch) {
  AddObject("one,");
  AddObject("");
  const std::string long_one(3'000'000, 'x');
  AddObject(long_one);
  AddObject("two\n");
  Start();
  for (int epoch = 0; epoch < 5; ++epoch) EXPECT_EQ(ReadEpoch(epoch), "one," + long_one + "two\n");
  channel_->Stop();
  const PipeStats stats = channel_->stats();
  EXPECT_EQ(stats.opened, 5u);
  EXPECT_EQ(stats.delivered, 5u);
  EXPECT_EQ(stats.cut, 0u);
  EXPECT_EQ(stats.objects, 20u);
  EXPECT_EQ(stats.bytes, 5 * (long_one.size() + 8));
  EXPECT_FALSE(channel_->failure());
}

TEST_F(Pipes, TheNextFifoIsThereWhenOneIsOpened) {
  AddObject("x");
  Start();
  EXPECT_FALSE(std::filesystem::exists(PathOf(1)));
  const env::UniqueFd fd = OpenEpoch(0);
  // Before anything was read.
  EXPECT_TRUE(Until([&] { return std::filesystem::is_fifo(PathOf(1)); }));
  EXPECT_EQ(ReadSome(fd, 10), "x");
  // What was given is gone: opening it again must not wait for ever.
  EXPECT_TRUE(Until([&] { return !std::filesystem::exists(PathOf(0)); }));
}

TEST_F(Pipes, AnEarlyCloseLeavesTheNextEpochWhole) {
  const std::string content(5'000'000, 'y');
  AddObject(content);
  Start();
  EXPECT_EQ(ReadSome(OpenEpoch(0), 100), std::string(100, 'y'));
  EXPECT_EQ(ReadSome(OpenEpoch(1), 0), "");
  EXPECT_EQ(ReadEpoch(2), content);
  channel_->Stop();
  EXPECT_EQ(channel_->stats().opened, 3u);
  EXPECT_EQ(channel_->stats().cut, 2u);
  EXPECT_EQ(channel_->stats().delivered, 1u);
}

// `f = open(next)` while the old f still holds the epoch before, half read.
TEST_F(Pipes, AnEpochCanBeReadWhileTheOneBeforeIsHeld) {
  const std::string content(5'000'000, 'z');
  AddObject(content);
  Start();
  std::vector<env::UniqueFd> held;
  for (int epoch = 0; epoch < kEpochsAtOnce; ++epoch) {
    held.push_back(OpenEpoch(epoch));
    EXPECT_EQ(ReadSome(held.back(), 10), "zzzzzzzzzz");
  }
  EXPECT_FALSE(std::filesystem::exists(PathOf(kEpochsAtOnce)));
  EXPECT_EQ(ReadRest(held[1]).size(), content.size() - 10);
  EXPECT_EQ(ReadRest(held[0]).size(), content.size() - 10);
  EXPECT_EQ(ReadEpoch(kEpochsAtOnce), content);
}

TEST_F(Pipes, ReadersThatLeaveThePipeFullAreWaitedFor) {
  AddObject(std::string(3'000'000, 'b'));
  Start();
  const env::UniqueFd fd = OpenEpoch(0);
  ASSERT_TRUE(Until([&] { return channel_->stats().blocked > Millis(20); }));
  const PipeStats stats = channel_->stats();
  EXPECT_LE(stats.bytes, 1u << 20) << "more than the pipe holds";
  EXPECT_LT(stats.starved, stats.blocked);
  EXPECT_EQ(ReadRest(fd).size(), 3'000'000u);
}

TEST_F(Pipes, StopWithoutAReader) {
  AddObject("x");
  Start();
  ASSERT_TRUE(Until([&] { return channel_->stats().unopened > Millis(5); }));
  channel_->Stop();
  EXPECT_EQ(channel_->stats().opened, 0u);
  EXPECT_GT(channel_->stats().unopened, Millis(5));
}

TEST_F(Pipes, StopInTheMiddleOfAnEpoch) {
  AddObject(std::string(3'000'000, 'b'));
  Start();
  const env::UniqueFd fd = OpenEpoch(0);
  EXPECT_EQ(ReadSome(fd, 1), "b");
  channel_->Stop();
  EXPECT_EQ(channel_->stats().delivered, 0u);
  EXPECT_EQ(channel_->stats().cut, 0u);
}

TEST_F(Pipes, NeverStarted) {
  AddObject("x");
  ASSERT_TRUE(files_.WriteAtomically(options_.items.listing, listing_, {}));
  auto channel = PipeChannel::Open(options_, *reader_, clock_, news_.get());
  ASSERT_TRUE(channel) << channel.error().message;
  EXPECT_TRUE(std::filesystem::is_fifo(PathOf(0)));
}

TEST_F(Pipes, WrapRecordsAroundObjects) {
  options_.format.record_io = true;
  std::string expected;
  for (const std::string& content :
       {std::string("a"), std::string(), std::string(200'001, 'w'), std::string("four")}) {
    AddObject(content);
    const auto header = RecordIoHeader(content.size());
    expected.append(header.data(), header.size());
    expected += content;
    expected += RecordIoPadding(content.size());
  }
  Start();
  EXPECT_EQ(ReadEpoch(0), expected);
  EXPECT_EQ(expected.size() % 4, 0u);
}

TEST_F(Pipes, DecompressAndWrap) {
  options_.format = {.record_io = true, .gzip = true};
  std::string expected;
  for (const std::string& content : {std::string("a"), std::string(3'000'001, 'w')}) {
    AddObject(Gzip(content));
    const auto header = RecordIoHeader(content.size());
    expected.append(header.data(), header.size());
    expected += content;
    expected += RecordIoPadding(content.size());
  }
  Start();
  EXPECT_EQ(ReadEpoch(0), expected);
}

TEST_F(Pipes, ShuffleDifferentlyEachEpoch) {
  for (char c = 'a'; c <= 'z'; ++c) AddObject(std::string(1, c));
  options_.shuffle_seed = 5;
  Start();
  const std::string first = ReadEpoch(0);
  const std::string second = ReadEpoch(1);
  EXPECT_NE(first, second);
  for (std::string epoch : {first, second}) {
    std::sort(epoch.begin(), epoch.end());
    EXPECT_EQ(epoch, "abcdefghijklmnopqrstuvwxyz");
  }
  channel_->Stop();
  ASSERT_TRUE(files_.RemoveTree(options_.items.scratch));
  ASSERT_TRUE(files_.MakeDirectories(options_.items.scratch));
  Start();
  EXPECT_EQ(ReadEpoch(0), first) << "another run of the same seed";
}

TEST_F(Pipes, ObjectsDeletedMeanwhileAreStillThere) {
  std::vector<env::Path> blobs;
  for (int i = 0; i < 100; ++i) blobs.push_back(AddObject(std::to_string(i % 10)));
  Start();
  const std::string first = ReadEpoch(0);
  ASSERT_TRUE(Until([&] { return std::filesystem::exists(options_.items.scratch / "0" / "99"); }))
      << "not kept";
  for (const env::Path& blob : blobs) ::unlink(blob.c_str());
  EXPECT_EQ(ReadEpoch(1), first);
}

TEST_F(Pipes, AMissingObjectIsAFailureAndNoEnd) {
  AddObject("first");
  ::unlink(AddObject("second").c_str());
  Start();
  const env::UniqueFd fd = OpenEpoch(0);
  pollfd news{news_.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&news, 1, 30'000), 1);
  ASSERT_TRUE(channel_->failure());
  EXPECT_EQ(channel_->failure()->message, "'s3://k/p/o1': it was deleted or replaced");
  EXPECT_EQ(channel_->failure()->code, ErrorCode::kNotFound);
  pollfd end{fd.get(), POLLIN, 0};
  ::poll(&end, 1, 0);
  EXPECT_EQ(end.revents & POLLHUP, 0) << "the reader sees an end";
}

TEST_F(Pipes, BadGzipNamesTheObject) {
  options_.format.gzip = true;
  AddObject(Gzip("good"));
  AddObject("plain");
  Start();
  const env::UniqueFd fd = OpenEpoch(0);
  ASSERT_TRUE(Until([&] { return channel_->failure().has_value(); }));
  EXPECT_EQ(channel_->failure()->message,
            "'s3://k/p/o1' cannot be decompressed as gzip: incorrect header check");
}

TEST_F(Pipes, SurviveWhatAProgramDoesToTheirNames) {
  AddObject("x");
  Start();
  ASSERT_TRUE(files_.WriteAtomically(PathOf(1), "mine", {}));
  EXPECT_EQ(ReadEpoch(0), "x");
  EXPECT_TRUE(Until([&] { return std::filesystem::is_fifo(PathOf(1)); }));
  // A link in the place of the waiting FIFO: nothing is written through it.
  const env::Path other = base_.path() / "other";
  ASSERT_TRUE(files_.WriteAtomically(other, "untouched", {}));
  ::unlink(PathOf(1).c_str());
  ASSERT_EQ(::symlink(other.c_str(), PathOf(1).c_str()), 0);
  channel_->Stop();
  EXPECT_EQ(files_.Read(other, 100).value_or(""), "untouched");
}

TEST_F(Pipes, ADirectoryInTheWayIsAFailure) {
  AddObject("x");
  ASSERT_TRUE(files_.MakeDirectories(PathOf(1)));
  Start();
  EXPECT_EQ(ReadEpoch(0), "x");
  ASSERT_TRUE(Until([&] { return channel_->failure().has_value(); }));
  EXPECT_EQ(channel_->failure()->message, "a directory is in the place of the FIFO 'train_1'");
}

TEST_F(Pipes, AugmentedManifestsInterleaveAttributes) {
  AddObject("{\"x\": 1, \"s\": \"one\"}\n{\"s\":\"two\",\"x\":2.50}\n\n");
  options_.items.attributes = {"s", "x"};
  Start();
  EXPECT_EQ(ReadEpoch(0), "one1two2.50");
  EXPECT_EQ(ReadEpoch(1), "one1two2.50");
  channel_->Stop();
  EXPECT_EQ(channel_->stats().objects, 4u);
}

TEST_F(Pipes, ABadLineIsNamed) {
  AddObject("{\"x\": 1}\n{\"y\": 1}\n");
  options_.items.attributes = {"x"};
  Start();
  const env::UniqueFd fd = OpenEpoch(0);
  ASSERT_TRUE(Until([&] { return channel_->failure().has_value(); }));
  EXPECT_EQ(channel_->failure()->message,
            "line 2 of the manifest 's3://k/p/o0': it has no attribute 'x', only 'y'");
}

TEST_F(Pipes, ReferencesAreFetchedInOrder) {
  wire::FakeS3Client s3(base_.path() / "s3");
  ASSERT_TRUE(s3.MakeBucket("pictures"));
  std::string manifest;
  std::string expected;
  options_.format.record_io = true;
  const auto expect = [&](const std::string& payload) {
    const auto header = RecordIoHeader(payload.size());
    expected.append(header.data(), header.size());
    expected += payload;
    expected += RecordIoPadding(payload.size());
  };
  for (int i = 0; i < 60; ++i) {
    const std::string key = fmt::format("a b/{}.jpg", i);
    const std::string picture(static_cast<std::size_t>(i) * 1000, static_cast<char>('a' + i % 26));
    ASSERT_TRUE(s3.Put({"pictures", key}, picture));
    manifest += fmt::format("{{\"image-ref\": \"s3://pictures/{}\", \"label\": {}}}\n", key, i);
    expect(picture);
    expect(std::to_string(i));
  }
  AddObject(manifest);
  options_.items.attributes = {"image-ref", "label"};
  UseEndpoint();
  Start();
  EXPECT_EQ(ReadEpoch(0), expected);
  EXPECT_EQ(ReadSome(OpenEpoch(1), 5000), expected.substr(0, 5000)) << "and the rest is dropped";
  EXPECT_EQ(ReadEpoch(2), expected);
  channel_->Stop();
  EXPECT_FALSE(channel_->failure());
  EXPECT_TRUE(files_.List(options_.items.scratch)->empty()) << "downloads were left behind";
}

TEST_F(Pipes, AMissingReferenceNamesLineAndObject) {
  ASSERT_TRUE(wire::FakeS3Client(base_.path() / "s3").MakeBucket("pictures"));
  AddObject("{\"i-ref\":\"s3://pictures/none\"}\n");
  options_.items.attributes = {"i-ref"};
  UseEndpoint();
  Start();
  const env::UniqueFd fd = OpenEpoch(0);
  ASSERT_TRUE(Until([&] { return channel_->failure().has_value(); }));
  EXPECT_THAT(channel_->failure()->message,
              testing::StartsWith("line 1 of the manifest 's3://k/p/o0': 's3://pictures/none': "));
  EXPECT_EQ(channel_->failure()->code, ErrorCode::kNotFound);
}

TEST_F(Pipes, AnEndpointThatIsAwayIsWaitedFor) {
  wire::FakeS3Client s3(base_.path() / "s3");
  ASSERT_TRUE(s3.MakeBucket("pictures"));
  ASSERT_TRUE(s3.Put({"pictures", "x"}, "X"));
  AddObject("{\"i-ref\":\"s3://pictures/x\"}\n");
  options_.items.attributes = {"i-ref"};
  UseEndpoint();
  Start();
  s3.SetAway(true);
  const env::UniqueFd fd = OpenEpoch(0);
  ASSERT_TRUE(Until([&] { return channel_->stats().starved > Millis(20); }));
  EXPECT_FALSE(channel_->failure());
  s3.SetAway(false);
  EXPECT_EQ(ReadRest(fd), "X");
}

// Whatever the objects, the wrapping, the sizes of reads and the closes: what a reader has read is
// a prefix of the epoch's data, and all of it when it read to the end.
TEST_F(Pipes, PropertyEveryReadIsAPrefix) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    env::SeededRandom random(seed);
    listing_.clear();
    objects_ = 0;
    options_.name = fmt::format("c{}", seed);
    options_.items.scratch = base_.path() / fmt::format("scratch{}", seed);
    ASSERT_TRUE(files_.MakeDirectories(options_.items.scratch));
    options_.format = {.record_io = random.Below(2) == 0, .gzip = random.Below(2) == 0};
    std::string expected;
    for (std::uint64_t i = 0, n = random.Below(30); i < n; ++i) {
      // Few large ones, many small: around the sizes where the ways of writing change.
      const std::uint64_t bound = std::uint64_t{1} << random.Below(20);
      std::string content(random.Below(bound), '\0');
      random.Fill({reinterpret_cast<unsigned char*>(content.data()), content.size()});
      AddObject(options_.format.gzip ? Gzip(content, 1) : content);
      if (options_.format.record_io) {
        const auto header = RecordIoHeader(content.size());
        expected.append(header.data(), header.size());
      }
      expected += content;
      if (options_.format.record_io) expected += RecordIoPadding(content.size());
    }
    Start();
    for (int epoch = 0; epoch < 4; ++epoch) {
      const env::UniqueFd fd = OpenEpoch(epoch);
      const bool to_the_end = random.Below(2) == 0;
      const std::uint64_t wanted =
          to_the_end ? expected.size() + 1 : random.Below(expected.size() + 1);
      std::string got;
      while (got.size() < wanted) {
        const std::string piece =
            ReadSome(fd, std::min<std::uint64_t>(1 + random.Below(200'000), wanted - got.size()));
        if (piece.empty()) break;
        got += piece;
      }
      ASSERT_EQ(got.size(), std::min<std::uint64_t>(wanted, expected.size())) << "seed " << seed;
      ASSERT_TRUE(expected.compare(0, got.size(), got) == 0) << "seed " << seed;
    }
    channel_->Stop();
    EXPECT_FALSE(channel_->failure()) << channel_->failure()->message;
  }
}

}  // namespace
}  // namespace sabia::channels
