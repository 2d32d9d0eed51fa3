#include "channels/line_index.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "env/testing/temporary_directory.h"

namespace sabia::channels {
namespace {

class Lines : public testing::Test {
 protected:
  LineIndex::Text Text(const std::string& content) {
    env::PosixFiles files;
    const env::Path path = directory_.path() / "text";
    EXPECT_TRUE(files.WriteAtomically(path, content, {.durability = env::Durability::kVolatile}));
    auto fd = env::OpenFile(path, O_RDONLY);
    EXPECT_TRUE(fd);
    return {std::move(*fd), 0, content.size()};
  }
  static std::string At(LineIndex& index, std::uint64_t number) {
    const auto line = index.Line(number);
    if (!line) return "error: " + line.error().message;
    return *line ? **line : "<none>";
  }
  env::TemporaryDirectory directory_;
};

TEST_F(Lines, AreFoundInAnyOrder) {
  LineIndex index(Text("a\n\nccc\r\nlast"));
  EXPECT_EQ(At(index, 2), "ccc");
  EXPECT_EQ(At(index, 0), "a");
  EXPECT_EQ(At(index, 1), "");
  EXPECT_EQ(At(index, 3), "last");
  EXPECT_EQ(At(index, 4), "<none>");
  EXPECT_EQ(index.Count(), 4u);
}

TEST_F(Lines, OfNothing) {
  LineIndex index(Text(""));
  EXPECT_EQ(At(index, 0), "<none>");
  EXPECT_EQ(index.Count(), 0u);
}

TEST_F(Lines, AnEndAtTheEndOpensNoLine) {
  LineIndex index(Text("a\nb\n"));
  EXPECT_EQ(index.Count(), 2u);
}

TEST_F(Lines, LongOnesCrossTheStepsOfReading) {
  const std::string a(300'000, 'a');
  const std::string b(700'000, 'b');
  LineIndex index(Text(a + "\n" + b + "\nc\n"));
  EXPECT_EQ(At(index, 1), b);
  EXPECT_EQ(At(index, 0), a);
  EXPECT_EQ(At(index, 2), "c");
}

TEST_F(Lines, ALineBeyondTheLimitIsRefusedByNumber) {
  LineIndex index(Text("a\n" + std::string(kLineBytesMax + 1, 'x') + "\n"));
  EXPECT_EQ(At(index, 0), "a");
  EXPECT_EQ(At(index, 1), "error: line 2 is longer than 16777215 bytes");
}

TEST_F(Lines, OfARange) {
  LineIndex::Text text = Text("skip\nx\ny\nskip");
  text.offset = 5;
  text.length = 4;
  LineIndex index(std::move(text));
  EXPECT_EQ(At(index, 0), "x");
  EXPECT_EQ(At(index, 1), "y");
  EXPECT_EQ(At(index, 2), "<none>");
}

}  // namespace
}  // namespace sabia::channels
