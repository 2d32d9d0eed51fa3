#include "store/log_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "env/posix/posix_files.h"
#include "env/random.h"
#include "env/testing/manual_clock.h"
#include "env/testing/temporary_directory.h"
#include "store/log_writer.h"

namespace sabia::store {
namespace {

constexpr const char* kGroup = "/aws/sagemaker/TrainingJobs";

WallTime At(std::int64_t ms) { return FromUnixMillis(ms); }

class LogStoreTest : public ::testing::Test {
 protected:
  std::unique_ptr<LogWriter> Writer(std::string_view stream) {
    auto opened = LogWriter::Open(paths_.log_stream(kGroup, stream), clock_);
    if (!opened) ADD_FAILURE() << opened.error().message;
    return opened ? std::move(*opened) : nullptr;
  }
  LogStore::ReadPage Read(LogStore::ReadQuery query) {
    query.group = kGroup;
    if (query.stream.empty()) query.stream = "job/algo-1";
    auto page = logs_.Read(query);
    if (!page) ADD_FAILURE() << page.error().message;
    return page ? *page : LogStore::ReadPage{};
  }
  static std::vector<std::string> Messages(const LogStore::ReadPage& page) {
    std::vector<std::string> out;
    for (const LogEvent& event : page.events) out.push_back(event.message);
    return out;
  }
  // The whole stream, page by page.
  std::vector<std::string> ReadAll(std::size_t limit, bool backward) {
    std::vector<std::string> all;
    LogStore::ReadQuery query{
        .from_offset = backward ? kLogEnd : 0, .backward = backward, .limit = limit};
    while (true) {
      const LogStore::ReadPage page = Read(query);
      const std::vector<std::string> messages = Messages(page);
      all.insert(backward ? all.begin() : all.end(), messages.begin(), messages.end());
      const std::uint64_t next = backward ? page.begin_offset : page.end_offset;
      if (next == query.from_offset) return all;
      query.from_offset = next;
    }
  }

  env::TemporaryDirectory dir_;
  Paths paths_{dir_.path()};
  env::ManualClock clock_;
  LogStore logs_{paths_, clock_};
};

TEST_F(LogStoreTest, LinesComeBackWithTheirTimes) {
  auto writer = Writer("job/algo-1");
  ASSERT_TRUE(writer->Append(At(5), "one"));
  ASSERT_TRUE(writer->Append(At(6), ""));
  ASSERT_TRUE(writer->Flush());
  const LogStore::ReadPage page = Read({});
  ASSERT_EQ(Messages(page), (std::vector<std::string>{"one", ""}));
  EXPECT_EQ(page.events[0].time, At(5));
  EXPECT_EQ(page.events[0].ingested, clock_.Wall());
  EXPECT_LT(page.events[0].offset, page.events[1].offset);
}

TEST_F(LogStoreTest, ReadersFollowAWriterByTheirToken) {
  auto writer = Writer("job/algo-1");
  LogStore::ReadQuery query;
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(Read(query).events.empty());
    ASSERT_TRUE(writer->Append(At(i), std::to_string(i)));
    ASSERT_TRUE(writer->Flush());
    const LogStore::ReadPage page = Read(query);
    EXPECT_EQ(Messages(page), std::vector<std::string>{std::to_string(i)});
    query.from_offset = page.end_offset;
  }
}

TEST_F(LogStoreTest, PagesForwardAndBackwardMeetTheWholeStream) {
  env::SeededRandom random(7);
  auto writer = Writer("job/algo-1");
  std::vector<std::string> written;
  for (int i = 0; i < 300; ++i) {
    // Small lines, lines around a block's end, and lines over several blocks.
    const std::size_t sizes[] = {random.Below(100), 32'700 + random.Below(100),
                                 random.Below(200'000)};
    written.push_back(
        fmt::format("{}:{}", i, std::string(sizes[i % 20 == 0 ? 2 : i % 5 == 0], 'x')));
    ASSERT_TRUE(writer->Append(At(i), written.back()));
  }
  ASSERT_TRUE(writer->Flush());
  for (const std::size_t limit : {1UL, 7UL, 10'000UL}) {
    EXPECT_EQ(ReadAll(limit, false), written) << limit;
    EXPECT_EQ(ReadAll(limit, true), written) << limit;
  }
}

TEST_F(LogStoreTest, AnyNumberIsAPlaceToReadFrom) {
  auto writer = Writer("job/algo-1");
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(writer->Append(At(i), std::string(1000, 'x')));
  ASSERT_TRUE(writer->Flush());
  for (std::uint64_t from = 0; from < 60'000; from += 37) {
    const std::size_t forward = Read({.from_offset = from}).events.size();
    const std::size_t backward = Read({.from_offset = from, .backward = true}).events.size();
    EXPECT_EQ(forward + backward, 50u) << from;
  }
}

TEST_F(LogStoreTest, TimesAndLimitsSelect) {
  auto writer = Writer("job/algo-1");
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(writer->Append(At(i), std::to_string(i)));
  ASSERT_TRUE(writer->Flush());
  EXPECT_EQ(Messages(Read({.start = At(3), .end = At(5)})), (std::vector<std::string>{"3", "4"}));
  EXPECT_EQ(Messages(Read({.from_offset = kLogEnd, .backward = true, .limit = 2})),
            (std::vector<std::string>{"8", "9"}));
  EXPECT_EQ(Messages(Read({.byte_limit = 60})), (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(Messages(Read({.byte_limit = 1})), std::vector<std::string>{"0"});
}

TEST_F(LogStoreTest, HugeLinesAreCutBetweenCharacters) {
  auto writer = Writer("job/algo-1");
  std::string line = "x";
  while (line.size() < 1'000'000) line += "é";
  ASSERT_TRUE(writer->Append(At(1), line));
  ASSERT_TRUE(writer->Flush());
  std::string joined;
  const std::vector<std::string> pieces = ReadAll(100, false);
  for (const std::string& piece : pieces) {
    EXPECT_LE(piece.size(), kLogEventBytesMax);
    EXPECT_NE(static_cast<unsigned char>(piece[0]) & 0xC0, 0x80);
    joined += piece;
  }
  EXPECT_EQ(joined, line);
}

TEST_F(LogStoreTest, AFullStreamSaysSoOnceAndDropsTheRest) {
  const env::Path file = paths_.log_stream(kGroup, "job/algo-1");
  for (int round = 0; round < 3; ++round) {
    auto writer = FileLogWriter::Open(file, clock_, 100'000).value();
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(writer->Append(At(i), std::string(1000, 'x')));
  }
  const std::vector<std::string> lines = ReadAll(1000, false);
  EXPECT_GT(lines.size(), 90u);
  EXPECT_LT(lines.size(), 100u);
  EXPECT_NE(lines.back().find("limit of 100000 bytes"), std::string::npos);
  EXPECT_EQ(lines[lines.size() - 2], std::string(1000, 'x'));
  EXPECT_LT(std::filesystem::file_size(file), 101'000u);
}

TEST_F(LogStoreTest, OneWriterAtATime) {
  auto writer = Writer("job/algo-1");
  const auto second = LogWriter::Open(paths_.log_stream(kGroup, "job/algo-1"), clock_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  writer.reset();
  EXPECT_TRUE(Writer("job/algo-1"));
}

TEST_F(LogStoreTest, GroupsAndStreamsAreMadeListedAndDeleted) {
  EXPECT_EQ(logs_.CreateStream("g", "s").error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(logs_.CreateGroup("g"));
  EXPECT_EQ(logs_.CreateGroup("g").error().code, ErrorCode::kAlreadyExists);
  for (const char* stream : {"b", "job/algo-2", "job/algo-1", "job-2/algo-1", "a/b/c"}) {
    ASSERT_TRUE(logs_.CreateStream("g", stream));
  }
  EXPECT_EQ(logs_.CreateStream("g", "job/algo-1").error().code, ErrorCode::kAlreadyExists);
  const auto names = [&](LogStore::StreamQuery query) {
    query.group = "g";
    std::vector<std::string> out;
    const auto streams = logs_.Streams(query).value();
    for (const auto& info : streams) out.push_back(info.name);
    return out;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names({}), (Names{"a/b/c", "b", "job-2/algo-1", "job/algo-1", "job/algo-2"}));
  EXPECT_EQ(names({.prefix = "job"}), (Names{"job-2/algo-1", "job/algo-1", "job/algo-2"}));
  EXPECT_EQ(names({.prefix = "job/"}), (Names{"job/algo-1", "job/algo-2"}));
  EXPECT_EQ(names({.prefix = "none/"}), Names{});
  EXPECT_EQ(names({.after = "b", .limit = 2}), (Names{"job-2/algo-1", "job/algo-1"}));
  ASSERT_TRUE(logs_.DeleteStream("g", "b"));
  EXPECT_EQ(logs_.DeleteStream("g", "b").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(logs_.Groups("").value(), Names{"g"});
  ASSERT_TRUE(logs_.DeleteGroup("g"));
  EXPECT_TRUE(logs_.Groups("").value().empty());
  EXPECT_EQ(logs_.Streams({.group = "g"}).error().code, ErrorCode::kNotFound);
}

TEST_F(LogStoreTest, AppendsOfManyThreadsAllArrive) {
  ASSERT_TRUE(logs_.CreateGroup(kGroup));
  ASSERT_TRUE(logs_.CreateStream(kGroup, "job/algo-1"));
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(logs_.Append(kGroup, "job/algo-1", {{.time = At(i), .message = "x"}}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ReadAll(1000, false).size(), 80u);
}

TEST_F(LogStoreTest, InfoTellsTimesAndMissingThingsAreNamed) {
  auto writer = Writer("job/algo-1");
  EXPECT_FALSE(logs_.Stream(kGroup, "job/algo-1").value().first_event);
  ASSERT_TRUE(writer->Append(At(5), "a"));
  ASSERT_TRUE(writer->Append(At(7), "b"));
  ASSERT_TRUE(writer->Flush());
  const LogStreamInfo info = logs_.Stream(kGroup, "job/algo-1").value();
  EXPECT_EQ(info.created, clock_.Wall());
  EXPECT_EQ(info.first_event, At(5));
  EXPECT_EQ(info.last_event, At(7));
  EXPECT_TRUE(logs_.Stream(kGroup, "x").error().message.starts_with("log stream"));
  EXPECT_TRUE(logs_.Stream("y", "x").error().message.starts_with("log group"));
  EXPECT_EQ(logs_.Stream("", "x").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(logs_.CreateGroup(std::string(500, 'g')).error().code, ErrorCode::kInvalidArgument);
}

// Goal: wherever a crash cut the file, readers see the whole records before the cut and nothing
// else, and the next writer goes on from there. Method: cut a stream with records over block ends
// at every byte; read; append; read.
TEST_F(LogStoreTest, ATornEndAtAnyByteIsIgnoredAndCut) {
  const env::Path file = paths_.log_stream(kGroup, "job/algo-1");
  std::vector<std::string> lines;
  {
    auto writer = Writer("job/algo-1");
    // The second line ends shortly before the end of the first block; the third spans two more.
    for (const std::size_t size : {100, 32'550, 33'000, 40}) {
      lines.emplace_back(size, static_cast<char>('a' + lines.size()));
      ASSERT_TRUE(writer->Append(At(1), lines.back()));
    }
  }
  const std::string whole = env::PosixFiles().Read(file, 1 << 20).value();
  std::vector<std::uint64_t> ends;
  const LogStore::ReadPage page = Read({});
  for (const LogEvent& event : page.events) ends.push_back(event.offset);
  ends.erase(ends.begin());
  ends.push_back(whole.size());
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    const bool near_edge = cut < 300 || cut > whole.size() - 200 || (cut > 32'600 && cut < 32'900);
    if (!near_edge && cut % 997 != 0) continue;
    ASSERT_TRUE(env::PosixFiles().WriteAtomically(file, whole.substr(0, cut),
                                                  {.durability = env::Durability::kVolatile}));
    std::vector<std::string> expected;
    for (std::size_t i = 0; i < lines.size() && ends[i] <= cut; ++i) expected.push_back(lines[i]);
    ASSERT_EQ(ReadAll(10, false), expected) << cut;
    ASSERT_EQ(ReadAll(1, true), expected) << cut;
    ASSERT_TRUE(Writer("job/algo-1")->Append(At(2), "after"));
    expected.push_back("after");
    ASSERT_EQ(ReadAll(10, false), expected) << cut;
  }
}

TEST_F(LogStoreTest, DamageCostsItsBlockOnly) {
  const env::Path file = paths_.log_stream(kGroup, "job/algo-1");
  {
    auto writer = Writer("job/algo-1");
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(writer->Append(At(i), std::string(1000, 'x')));
  }
  std::string bytes = env::PosixFiles().Read(file, 1 << 20).value();
  bytes[40'000] = static_cast<char>(bytes[40'000] ^ 1);
  ASSERT_TRUE(env::PosixFiles().WriteAtomically(file, bytes, {}));
  EXPECT_GT(ReadAll(1000, false).size(), 165u);
  EXPECT_EQ(ReadAll(7, true), ReadAll(7, false));
}

TEST_F(LogStoreTest, ArbitraryBytesAreNoStreamButHarmless) {
  env::SeededRandom random(3);
  const env::Path file = paths_.log_stream(kGroup, "job/algo-1");
  ASSERT_TRUE(env::PosixFiles().MakeDirectories(file.parent_path()));
  for (int round = 0; round < 50; ++round) {
    std::string bytes(random.Below(100'000), '\0');
    random.Fill({reinterpret_cast<unsigned char*>(bytes.data()), bytes.size()});
    ASSERT_TRUE(
        env::PosixFiles().WriteAtomically(file, bytes, {.durability = env::Durability::kVolatile}));
    EXPECT_TRUE(ReadAll(10, false).empty());
    EXPECT_TRUE(ReadAll(10, true).empty());
    EXPECT_TRUE(logs_.Stream(kGroup, "job/algo-1"));
  }
}

}  // namespace
}  // namespace sabia::store
