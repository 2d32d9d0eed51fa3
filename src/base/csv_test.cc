#include "base/csv.h"

#include <gtest/gtest.h>

namespace sabia {
namespace {

using Record = std::vector<std::string_view>;

TEST(Csv, FieldsComeLineByLine) {
  std::vector<Record> seen;
  ASSERT_TRUE(ReadCsv("a,b\n1,\r\n\n,2", "a,b", [&](const Record& r) -> Status {
    seen.push_back(r);
    return {};
  }));
  EXPECT_EQ(seen, (std::vector<Record>{{"1", ""}, {"", "2"}}));
}

TEST(Csv, BadLinesAreNamed) {
  const auto accept = [](const Record&) -> Status { return {}; };
  const auto refuse = [](const Record&) -> Status {
    return Fail(ErrorCode::kInvalidArgument, "no number");
  };
  EXPECT_EQ(ReadCsv("", "a", accept).error().code, ErrorCode::kCorrupt);
  EXPECT_NE(ReadCsv("a,b\n1,2\n1\n", "a,b", accept).error().message.find("line 3"),
            std::string::npos);
  EXPECT_EQ(ReadCsv("a\n\nx\n", "a", refuse).error().message, "line 3: no number");
}

}  // namespace
}  // namespace sabia
