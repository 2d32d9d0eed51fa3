#include "algorithms/recordio_reader.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <string>

#include "base/encoding.h"

namespace sabia::algorithms {
namespace {

std::string Bytes(int number,
                  const std::string& content) {  // a field of type 2; short contents only
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(content.size())} +
         content;
}

std::string Little(std::uint32_t value) {
  std::string text;
  for (int i = 0; i < 4; ++i) text.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  return text;
}

std::string Floats(const std::vector<float>& values) {
  std::string text;
  for (const float value : values) text += Little(std::bit_cast<std::uint32_t>(value));
  return text;
}

std::string Entry(const std::string& tensor, int kind = 2) {
  return Bytes(1, "values") + Bytes(2, Bytes(kind, tensor));
}

std::string Record(const std::string& features, float label, int kind = 2) {
  return Bytes(1, Entry(features, kind)) + Bytes(2, Entry(Bytes(1, Floats({label}))));
}

std::string Frame(const std::string& payload, std::uint32_t flag = 0) {
  std::string frame = Little(0xced7230a) +
                      Little(flag << 29 | static_cast<std::uint32_t>(payload.size())) + payload;
  frame.resize((frame.size() + 3) / 4 * 4);
  return frame;
}

Result<DataTable> Read(const std::string& text) { return ReadRecordIo({{"a.pb", text}}); }

TEST(RecordIo, ReadsDenseAndSparseTensors) {
  const std::string sparse = Bytes(1, Floats({4})) + Bytes(2, "\x02") + Bytes(3, "\x05");
  const auto table = Read(Frame(Record(Bytes(1, Floats({1, 2.5f})), 7)) + Frame(Record(sparse, 8)));
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->labels, (std::vector<float>{7, 8}));
  EXPECT_EQ(table->columns, 5u);  // the shape of the second
  EXPECT_EQ(table->indices, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(table->values, (std::vector<float>{1, 2.5f, 4}));
  EXPECT_EQ(table->offsets, (std::vector<std::uint64_t>{0, 2, 3}));
}

// A record as the SageMaker SDK wrote it: features int32 {1,0,0,0,0}, label int32 {0}.
TEST(RecordIo, ReadsARecordOfTheSdk) {
  const auto bytes = HexDecode(
      "0a23d7ce260000000a130a0676616c75657312093a070a050100000000120f0a0676616c75657312053a030a0100"
      "0000");
  ASSERT_TRUE(bytes);
  const auto table = Read(*bytes);
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->labels, std::vector<float>{0});
  EXPECT_EQ(table->values, (std::vector<float>{1, 0, 0, 0, 0}));
}

TEST(RecordIo, NanIsMissing) {
  const auto table =
      Read(Frame(Record(Bytes(1, Floats({std::numeric_limits<float>::quiet_NaN(), 3})), 1)));
  ASSERT_TRUE(table);
  EXPECT_EQ(table->indices, std::vector<std::uint32_t>{1});
  EXPECT_EQ(table->columns, 2u);
}

TEST(RecordIo, JoinsRecordsOfSeveralFrames) {
  const std::string record = Record(Bytes(1, Floats({1, 2})), 3);
  const auto table = Read(Frame(record.substr(0, 5), 1) + Frame(record.substr(5, 4), 2) +
                          Frame(record.substr(9), 3));
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->labels, std::vector<float>{3});
}

TEST(RecordIo, NamesWhatIsWrong) {
  const std::string good = Frame(Record(Bytes(1, Floats({1})), 2));
  EXPECT_EQ(Read("hello, world").error().message, "record 0 of file 'a.pb': no RecordIO frame");
  EXPECT_EQ(Read(good + good.substr(0, good.size() - 8)).error().message,
            "record 1 of file 'a.pb': the file ends within it");
  EXPECT_EQ(Read(Frame("\xff\xff")).error().message,
            "record 0 of file 'a.pb': no protobuf message");
  EXPECT_EQ(Read(Frame(Bytes(1, Entry(Bytes(1, Floats({1})))))).error().message,
            "record 0 of file 'a.pb': a record without exactly one label");
  EXPECT_EQ(Read(Frame(Record(Bytes(1, "abc"), 1))).error().message,
            "record 0 of file 'a.pb': a tensor that cannot be read");
}

// Whatever is cut off or flipped, the reader answers and stays inside its bytes (run under the
// sanitizers).
TEST(RecordIo, SurvivesDamage) {
  const std::string good = Frame(Record(Bytes(1, Floats({1, 2})) + Bytes(2, "\x01\x03"), 2));
  for (std::size_t i = 0; i < good.size(); ++i) {
    (void)Read(good.substr(0, i));
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      const auto table = Read(bad);
      if (!table) continue;
      EXPECT_EQ(table->offsets.back(), table->values.size());
    }
  }
}

}  // namespace
}  // namespace sabia::algorithms
