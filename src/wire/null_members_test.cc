#include "wire/null_members.h"

#include <gtest/gtest.h>

namespace sabia::wire {
namespace {

TEST(NullMembers, AreDroppedAtEveryDepthAndTheRestKeepsItsOrder) {
  json::object input =
      *ParseJsonObject(R"({"a":null,"b":{"c":null,"d":[{"e":null,"f":1},[],2]},"g":null,"h":"x"})");
  DropNullMembers(input);
  EXPECT_EQ(json::serialize(input), R"({"b":{"d":[{"f":1},[],2]},"h":"x"})");
}

TEST(NullMembers, NothingIsLeftOfNothing) {
  json::object input = *ParseJsonObject(R"({"a":null})");
  DropNullMembers(input);
  EXPECT_TRUE(input.empty());
  DropNullMembers(input);
  EXPECT_TRUE(input.empty());
}

}  // namespace
}  // namespace sabia::wire
