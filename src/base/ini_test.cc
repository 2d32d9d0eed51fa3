#include "base/ini.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sabia {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(IniTest, ReadsSectionsAndSettings) {
  const auto document = ParseIni(
      "# a comment\n; another\n\n[default]\nAWS_Access_Key_Id=AKIA=1\r\nregion = eu-west-1 # here\n"
      "[profile  two]\n s3 =\n   addressing_style = path\n   x = y\nregion =a#b\n"
      "[default]\nregion = eu-west-2");
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(IniValue(*document, "default", "aws_access_key_id"), "AKIA=1");
  EXPECT_EQ(IniValue(*document, "default", "region"), "eu-west-2");
  EXPECT_EQ(IniValue(*document, "profile two", "s3.addressing_style"), "path");
  EXPECT_EQ(IniValue(*document, "profile two", "s3.x"), "y");
  EXPECT_EQ(IniValue(*document, "profile two", "region"), "a#b");
  EXPECT_EQ(IniValue(*document, "profile two", "none"), "");
  EXPECT_EQ(IniValue(*document, "none", "region"), "");
}

TEST(IniTest, NamesTheLineAndNeverWhatItSays) {
  for (const char* text : {"[a]\nsecret", "[a]\n= secret", "[a]\n[secret", "[a]\n[]"}) {
    const auto document = ParseIni(text);
    ASSERT_FALSE(document) << text;
    EXPECT_EQ(document.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(document.error().message, HasSubstr("line 2"));
    EXPECT_THAT(document.error().message, Not(HasSubstr("secret")));
  }
  EXPECT_THAT(ParseIni("key = secret").error().message, HasSubstr("before the first"));
}

}  // namespace
}  // namespace sabia
