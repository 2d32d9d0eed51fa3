#include "base/shared_object.h"

#include <gtest/gtest.h>

namespace sabia {
namespace {

TEST(SharedObject, CopiesShareUntilOneIsEdited) {
  SharedObject one = json::object{{"a", 1}};
  const SharedObject two = one;
  EXPECT_EQ(&one.get(), &two.get());
  EXPECT_EQ(one.text(), R"({"a":1})");
  one.Edit()["b"] = 2;
  EXPECT_EQ(one.text(), R"({"a":1,"b":2})") << "the text of before is not kept";
  EXPECT_EQ(two.text(), R"({"a":1})");
  EXPECT_FALSE(one == two);
  one.Edit().erase("b");
  EXPECT_TRUE(one == two) << "equal, though no longer shared";
}

TEST(SharedObject, IsEmptyAtFirstAndTakesMembers) {
  SharedObject object;
  EXPECT_EQ(object.text(), "{}");
  object = {{"x", "y"}};
  EXPECT_EQ(GetString(object, "x"), "y");
  EXPECT_NE(object->if_contains("x"), nullptr);
}

}  // namespace
}  // namespace sabia
