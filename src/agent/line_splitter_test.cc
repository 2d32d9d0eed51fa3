#include "agent/line_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sabia::agent {
namespace {

using testing::ElementsAre;

class LineSplitterTest : public testing::Test {
 protected:
  LineSplitter splitter_{8, [this](std::string_view piece, bool complete, std::string_view whole) {
                           pieces_.push_back(std::string(piece) + (complete ? "." : "…"));
                           if (complete) lines_.emplace_back(whole);
                         }};
  std::vector<std::string> pieces_;
  std::vector<std::string> lines_;
};

TEST_F(LineSplitterTest, CutsAtNewlinesHoweverTheBytesArrive) {
  splitter_.Feed("a\nbc");
  splitter_.Feed("d\r\n\nlast");
  splitter_.Finish();
  EXPECT_THAT(lines_, ElementsAre("a", "bcd", "", "last"));
  splitter_.Finish();
  EXPECT_EQ(lines_.size(), 4u);
}

TEST_F(LineSplitterTest, LongLinesAreCutAtTheLimit) {
  splitter_.Feed("12345678\n");
  splitter_.Feed("123456789\n");
  EXPECT_THAT(lines_, ElementsAre("12345678", "12345678", "9"));
  lines_.clear();
  splitter_.Feed(std::string(20, 'x'));
  splitter_.Finish();
  EXPECT_THAT(lines_, ElementsAre("xxxxxxxx", "xxxxxxxx", "xxxx"));
}

TEST_F(LineSplitterTest, PartialLinesAreHandedOutOnceAndMatchedWhole) {
  splitter_.Feed("los");
  splitter_.FlushPartial();
  splitter_.FlushPartial();
  splitter_.Feed("s=1");
  EXPECT_TRUE(splitter_.has_partial());
  splitter_.Feed("\n");
  EXPECT_THAT(pieces_, ElementsAre("los…", "s=1."));
  EXPECT_THAT(lines_, ElementsAre("loss=1"));
  splitter_.Feed("abc");
  splitter_.FlushPartial();
  splitter_.Feed("\n");
  EXPECT_THAT(pieces_, ElementsAre("los…", "s=1.", "abc…", "."));
}

}  // namespace
}  // namespace sabia::agent
