#include "agent/text.h"

#include <gtest/gtest.h>

namespace sabia::agent {
namespace {

TEST(Text, CutsBetweenCharacters) {
  EXPECT_EQ(SafeUtf8("aüb", 2), "a");
  EXPECT_EQ(SafeUtf8("aüb", 3), "aü");
  EXPECT_EQ(SafeUtf8("aüb", 10), "aüb");
  EXPECT_EQ(FirstCharacters("üüü", 2), "üü");
  EXPECT_EQ(FirstCharacters("", 2), "");
}

TEST(Text, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(SafeUtf8("a\xff"
                     "b",
                     10),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(FirstCharacters("\xc3", 5), "\xEF\xBF\xBD");
  EXPECT_EQ(FirstCharacters("\xff\xff\xff", 2), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

}  // namespace
}  // namespace sabia::agent
