// Goal: every byte is right whatever readers and endpoints do, in bounded memory.
// Method: a real client of a small S3 in memory, with faults; contents compared with a model.
#include "fastfile/prefetch_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "env/testing/temporary_directory.h"
#include "fastfile/testing/remote_files.h"

namespace sabia::fastfile {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kMiB = 1 << 20;

EngineOptions Small() {
  EngineOptions out;
  out.memory = 6 * kMiB;
  out.connections = 6;
  out.whole_max = 200'000;
  out.pattern = {128 << 10, 2 * kMiB, 64 << 10, 512 << 10};
  return out;
}

// Soon: the last part goes after its last byte was answered.
bool HoldsNothing(const PrefetchEngine& engine) {
  for (int i = 0; i < 3'000 && engine.memory_used() > 0; ++i) ::poll(nullptr, 0, 10);
  return engine.memory_used() == 0;
}

std::map<std::string, std::string> SomeFiles() {
  std::map<std::string, std::string> out;
  for (int i = 0; i < 12; ++i)
    out["small/" + std::to_string(100 + i)] = wire::Noise(static_cast<std::size_t>(i) * 15'000, i);
  for (int i = 0; i < 4; ++i)
    out["large/" + std::to_string(i)] =
        wire::Noise((static_cast<std::size_t>(i) + 1) * 3'000'000 + 17, 100 + i);
  return out;
}

// Reads like programs do: to the end, with strides, anywhere; several at once on a handle.
void ReadAround(RemoteFiles& remote, PrefetchEngine& engine, std::uint64_t seed) {
  env::SeededRandom random(seed);
  for (int round = 0; round < 12; ++round) {
    const auto file = static_cast<std::uint32_t>(random.Below(remote.tree.files()));
    const std::string& content = remote.content(file);
    PrefetchEngine::Handle* handle = engine.Open(file);
    const std::uint64_t way = random.Below(3);
    std::uint64_t at = random.Below(2) == 0 ? 0 : random.Below(content.size() + 1);
    for (int reads = 0; reads < 40; ++reads) {
      const std::uint64_t size = 1 + random.Below(way == 0 ? 131'072 : 20'000);
      const Bytes got = Read(engine, handle, {at, at + size});
      ASSERT_EQ(got.error, 0);
      ASSERT_TRUE(got.data == content.substr(std::min(at, content.size()), size))
          << remote.name(file) << " at " << at << ", " << size;
      at = way == 0 ? at + size : way == 1 ? at + 70'000 : random.Below(content.size() + 1);
    }
    engine.Close(handle);
  }
}

void ReadAroundAtOnce(RemoteFiles& remote, PrefetchEngine& engine, std::uint64_t seed) {
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 6; ++i)
    threads.emplace_back([&, i] { ReadAround(remote, engine, seed + i); });
  for (std::thread& thread : threads) thread.join();
}

TEST(PrefetchEngine, EveryByteIsRightForManyReaders) {
  RemoteFiles remote(SomeFiles());
  PrefetchEngine& engine = remote.Start(Small());
  ReadAroundAtOnce(remote, engine, 1);
  EXPECT_LE(engine.memory_used(), Small().memory / 2) << "closed files hold nothing";
  EXPECT_FALSE(engine.failure());
}

TEST(PrefetchEngine, EveryByteIsRightWhateverEndpointsDo) {
  RemoteFiles remote(SomeFiles());
  for (std::uint64_t round = 0; round < 3; ++round) {
    // Bytes that are wrong can only be told in whole objects, so there are none here.
    remote.server.s3.faults = {.answer_500 = 4, .slow_down = 4, .cut_get_after = 20};
    PrefetchEngine& engine = remote.Start(Small());
    ReadAroundAtOnce(remote, engine, 100 * round);
    EXPECT_FALSE(engine.failure());
  }
}

TEST(PrefetchEngine, SmallObjectsAreCheckedAndFetchedOnce) {
  RemoteFiles remote(Files{{"a", wire::Noise(100'000)}});
  remote.server.s3.faults.wrong_bytes = 2;
  PrefetchEngine& engine = remote.Start(Small());
  PrefetchEngine::Handle* handle = engine.Open(0);
  std::string all;
  for (std::uint64_t at = 0; at < 100'000; at += 10'000)
    all += Read(engine, handle, {at, at + 10'000}).data;
  EXPECT_TRUE(all == remote.content(0));
  EXPECT_EQ(remote.server.s3.requests, 3) << "two were wrong";
  EXPECT_EQ(engine.stats(0).hits, 9u);
  EXPECT_TRUE(HoldsNothing(engine)) << "read to its end";
  engine.Close(handle);
}

TEST(PrefetchEngine, WarmConnectionsAreThereBeforeTheFirstRead) {
  RemoteFiles remote(Files{{"a", wire::Noise(100'000)}});
  EngineOptions options = Small();
  options.warm = 3;
  PrefetchEngine& engine = remote.Start(options);
  for (int i = 0; i < 5'000 && remote.server.s3.requests.load() < 3; ++i) ::poll(nullptr, 0, 2);
  EXPECT_EQ(remote.server.s3.requests, 3);
  EXPECT_EQ(engine.stats(0).requests, 0u) << "no bytes were asked for";
  remote.Stop();
}

TEST(PrefetchEngine, ContentThatStaysWrongIsRefused) {
  RemoteFiles remote(Files{{"a", wire::Noise(100'000)}});
  remote.server.s3.faults.wrong_bytes = 100;
  PrefetchEngine& engine = remote.Start(Small());
  PrefetchEngine::Handle* handle = engine.Open(0);
  EXPECT_EQ(Read(engine, handle, {0, 10}).error, EIO);
  ASSERT_TRUE(engine.failure());
  EXPECT_EQ(engine.failure()->error.code, ErrorCode::kCorrupt);
  engine.Close(handle);
}

TEST(PrefetchEngine, AChangedObjectIsNeverMixed) {
  const std::string content = wire::Noise(3 * kMiB);
  RemoteFiles remote(Files{{"a", content}, {"b", content}});
  PrefetchEngine& engine = remote.Start(Small());
  PrefetchEngine::Handle* handle = engine.Open(0);
  EXPECT_TRUE(Read(engine, handle, {0, 1000}).data == content.substr(0, 1000));
  remote.server.s3.SetEtag("\"e2\"");
  // What was fetched before may still come; it is of the old version. Then it is over.
  int error = 0;
  for (std::uint64_t at = 1000; at < content.size() && error == 0; at += 1000) {
    const Bytes got = Read(engine, handle, {at, at + 1000});
    error = got.error;
    if (error == 0) {
      ASSERT_TRUE(got.data == content.substr(at, 1000));
    }
  }
  EXPECT_EQ(error, EIO);
  EXPECT_EQ(Read(engine, handle, {0, 1}).error, EIO) << "for good";
  engine.Close(handle);
  ASSERT_TRUE(engine.failure());
  EXPECT_EQ(engine.failure()->error.code, ErrorCode::kConflict);
  EXPECT_THAT(engine.failure()->error.message, HasSubstr("s3://bucket/in/a"));
}

TEST(PrefetchEngine, FilesInOrderCostOneRequestEachAndAreThereBefore) {
  std::map<std::string, std::string> files;
  for (int i = 0; i < 300; ++i) files[std::to_string(1000 + i)] = wire::Noise(5'000, i);
  RemoteFiles remote(files);
  EngineOptions options = Small();
  options.memory = 256 * kMiB;
  PrefetchEngine& engine = remote.Start(options);
  for (std::uint32_t file = 0; file < 300; ++file) {
    PrefetchEngine::Handle* handle = engine.Open(file);
    ASSERT_TRUE(Read(engine, handle, {0, 131'072}).data == remote.content(file));
    engine.Close(handle);
  }
  EXPECT_EQ(remote.server.s3.requests, 300);
  EXPECT_EQ(engine.stats(0).requests, 300u);
  EXPECT_EQ(engine.stats(0).bytes, 300u * 5'000);
  EXPECT_TRUE(HoldsNothing(engine));
}

TEST(PrefetchEngine, MemoryIsBoundedAndShared) {
  std::map<std::string, std::string> files;
  for (int i = 0; i < 6; ++i) files[std::to_string(i)] = wire::Noise(4 * kMiB, i);
  RemoteFiles remote(files);
  PrefetchEngine& engine = remote.Start(Small());
  std::vector<PrefetchEngine::Handle*> handles;
  for (std::uint32_t i = 0; i < 6; ++i) handles.push_back(engine.Open(i));
  for (std::uint64_t at = 0; at < 4 * kMiB; at += 64 << 10) {
    for (std::uint32_t i = 0; i < 6; ++i) {
      const Range range{at, at + (64 << 10)};
      ASSERT_TRUE(Read(engine, handles[i], range).data == remote.content(i).substr(at, 64 << 10));
      EXPECT_LE(engine.memory_used(), Small().memory + kMiB);
    }
  }
  for (PrefetchEngine::Handle* handle : handles) engine.Close(handle);
  const ChannelStats stats = engine.stats(0);
  EXPECT_LE(stats.requests, 6 * 64u) << "ahead of all six";
  EXPECT_EQ(stats.bytes, 6 * 4 * kMiB);
}

class DiskCacheTest : public ::testing::Test {
 protected:
  // Small files in order, then a large one; each read to its end.
  void ReadAll(PrefetchEngine& engine) {
    for (std::uint32_t file = 0; file < remote_.tree.files(); ++file) {
      const std::string& content = remote_.content(file);
      PrefetchEngine::Handle* handle = engine.Open(file);
      for (std::uint64_t at = 0; at < content.size(); at += 65'536) {
        ASSERT_TRUE(Read(engine, handle, {at, at + 65'536}).data == content.substr(at, 65'536))
            << file << " at " << at;
      }
      engine.Close(handle);
    }
  }
  PrefetchEngine& Start(std::uint64_t limit) {
    auto cache = DiskCache::Open(directory_.path(), limit);
    CHECK(cache);
    cache_ = std::move(*cache);
    EngineOptions options = Small();
    options.cache = cache_.get();
    options.pattern.part_least = kBlockSize;
    return remote_.Start(options);
  }

  env::TemporaryDirectory directory_;
  std::unique_ptr<DiskCache> cache_;
  RemoteFiles remote_{SomeFiles()};
};

TEST_F(DiskCacheTest, TheSecondEpochComesFromTheDisk) {
  PrefetchEngine& engine = Start(100 * kMiB);
  ReadAll(engine);
  const ChannelStats first = engine.stats(0);
  ReadAll(engine);
  const ChannelStats second = engine.stats(0);
  EXPECT_GE(second.from_disk, (second.bytes - first.bytes) * 9 / 10);
  EXPECT_LE(second.fetched - first.fetched, first.bytes / 10) << "pieces that came torn";
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path())) << "nothing that could be left behind";
  remote_.Stop();
}

TEST_F(DiskCacheTest, TheLimitHoldsAndDamageIsNoticed) {
  PrefetchEngine& engine = Start(8 * kMiB);
  ReadAll(engine);
  EXPECT_EQ(cache_->bytes_used(), 8 * kMiB);
  const ChannelStats first = engine.stats(0);
  ASSERT_EQ(::pwrite(cache_->fd(), "damage", 6, 3 * 128 * 1024 + 5), 6);
  ReadAll(engine);
  const ChannelStats second = engine.stats(0);
  EXPECT_GT(second.from_disk, first.from_disk + 4 * kMiB);
  EXPECT_LT(second.fetched - first.fetched, first.fetched - 4 * kMiB);
  remote_.Stop();
}

TEST_F(DiskCacheTest, EveryByteIsRightForManyReaders) {
  PrefetchEngine& engine = Start(20 * kMiB);
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) ReadAroundAtOnce(remote_, engine, 7 * epoch);
  EXPECT_FALSE(engine.failure());
  EXPECT_GT(engine.stats(0).from_disk, kMiB);
  remote_.Stop();
}

TEST(PrefetchEngine, WhoWaitsCanBeInterruptedAndStopped) {
  RemoteFiles remote(Files{{"a", wire::Noise(3 * kMiB)}});
  remote.server.s3.faults.slow_down = 1'000'000;  // as if it were away
  PrefetchEngine& engine = remote.Start(Small());
  PrefetchEngine::Handle* handle = engine.Open(0);
  BlockingRead first(engine, handle, {0, 1000});
  BlockingRead second(engine, handle, {2000, 3000});
  EXPECT_FALSE(first.done());
  engine.Interrupt(&first);
  EXPECT_EQ(first.Wait().error, EINTR);
  engine.Interrupt(&first);  // in vain
  EXPECT_FALSE(second.done());
  EXPECT_GT(engine.stats(0).starved.count(), 0);
  remote.server.s3.faults.slow_down = 0;
  EXPECT_EQ(second.Wait().error, 0);
  remote.server.s3.faults.slow_down = 1'000'000;
  BlockingRead third(engine, handle, {2 * kMiB, 2 * kMiB + 10});
  std::thread stop([&] { engine.Stop(); });
  EXPECT_EQ(third.Wait().error, EIO);
  remote.server.s3.faults.slow_down = 0;
  stop.join();
  EXPECT_EQ(Read(engine, handle, {0, 1}).error, EIO);
  EXPECT_FALSE(engine.failure()) << "nobody's fault";
  engine.Close(handle);
}

}  // namespace
}  // namespace sabia::fastfile
