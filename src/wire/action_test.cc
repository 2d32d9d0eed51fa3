#include "wire/action.h"

#include <gtest/gtest.h>

namespace sabia::wire {
namespace {

TEST(ActionTable, FindsWhatWasAdded) {
  ActionTable table;
  table.Add("logs", "A", [](const CallContext&, const json::object&) {
    return json::object{{"x", 1}};
  });
  EXPECT_NE(table.Find("logs", "A"), nullptr);
  EXPECT_EQ(table.Find("logs", "B"), nullptr);
  EXPECT_EQ(table.Find("s3", "A"), nullptr);
  EXPECT_EQ(table.FindEncoded("logs", "A"), nullptr);
}

TEST(ActionTable, EncodedActionsAnswerAsObjectsToo) {
  ActionTable table;
  table.AddEncoded("logs", "A",
                   [](const CallContext&, const json::object& in) -> AwsResult<EncodedAnswer> {
                     if (in.empty()) return RefuseValidation("nothing given");
                     return std::make_shared<const std::string>(R"({"x":1})");
                   });
  ASSERT_NE(table.FindEncoded("logs", "A"), nullptr);
  const auto answer = (*table.Find("logs", "A"))({}, {{"k", 1}});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(GetInt(*answer, "x"), 1);
  const auto refused = (*table.Find("logs", "A"))({}, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message, "nothing given");
}

}  // namespace
}  // namespace sabia::wire
