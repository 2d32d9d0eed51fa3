#include "s3/policy_match.h"

#include <gtest/gtest.h>

#include <string>

namespace sabia::s3 {
namespace {

struct Pair {
  const char* pattern;
  const char* text;
  bool matches;
};

TEST(PolicyMatchTest, Wildcards) {
  for (const Pair& each : {
           Pair{"", "", true},
           {"", "a", false},
           {"*", "", true},
           {"*", "a/b/c", true},
           {"a*", "a", true},
           {"a*c", "abc", true},
           {"a*c", "abcd", false},
           {"a?c", "abc", true},
           {"a?c", "ac", false},
           {"*a*b*", "xxaxxbxx", true},
           {"*a*b*", "xxbxxaxx", false},
           {"*ab", "aab", true},
           {"a**b", "ab", true},
           {"A", "a", false},
           {"arn:aws:s3:::b/home/*", "arn:aws:s3:::b/home/x/y", true},
           {"arn:aws:s3:::b/home/*", "arn:aws:s3:::b/homes", false},
           {"\xFF*", "*", true},
           {"\xFF*", "x", false},
           {"a\xFF?b*", "a?bcd", true},
           {"a\xFF?b*", "axbcd", false},
       }) {
    EXPECT_EQ(Matches(each.pattern, each.text), each.matches) << each.pattern << " " << each.text;
  }
  EXPECT_TRUE(MatchesIgnoringCase("S3:Get*", "s3:gETObject"));
}

TEST(PolicyMatchTest, ManyStarsTakeNoLongTime) {
  std::string pattern;
  for (int i = 0; i < 500; ++i) pattern += "*a";
  EXPECT_FALSE(Matches(pattern + "b", std::string(1024, 'a')));
}

TEST(PolicyMatchTest, ArnsAreComparedByParts) {
  for (const Pair& each : {
           Pair{"arn:aws:iam::123456789012:role/*", "arn:aws:iam::123456789012:role/x/y", true},
           {"arn:aws:iam::*:role/trainer", "arn:aws:iam::123456789012:role/trainer", true},
           {"arn:aws:*:role/trainer", "arn:aws:iam::123456789012:role/trainer", false},
           {"arn:aws:iam::1:role/a", "arn:aws:iam::1:role/b", false},
           {"*", "arn:aws:iam::1:role/b", true},
           {"arn:aws", "arn:aws", false},
       }) {
    EXPECT_EQ(ArnMatches(each.pattern, each.text), each.matches)
        << each.pattern << " " << each.text;
  }
}

TEST(PolicyMatchTest, Addresses) {
  for (const Pair& each : {
           Pair{"10.0.0.0/8", "10.255.1.2", true},
           {"10.0.0.0/8", "11.0.0.0", false},
           {"10.1.2.3", "10.1.2.3", true},
           {"10.1.2.3", "10.1.2.4", false},
           {"0.0.0.0/0", "1.2.3.4", true},
           {"0.0.0.0/0", "2001:db8::1", false},
           {"::/0", "2001:db8::1", true},
           {"2001:db8::/33", "2001:db8:7fff::1", true},
           {"2001:db8::/33", "2001:db8:8000::1", false},
           {"127.0.0.0/8", "::ffff:127.0.0.1", true},
           {"10.0.0.0/33", "10.0.0.0", false},
           {"10.0.0.0/x", "10.0.0.0", false},
           {"nonsense", "10.0.0.0", false},
           {"10.0.0.0/8", "nonsense", false},
       }) {
    EXPECT_EQ(AddressIsIn(each.text, each.pattern), each.matches)
        << each.pattern << " " << each.text;
  }
  EXPECT_EQ(WidthOf("10.0.0.0/7")->bits, 7);
  EXPECT_EQ(WidthOf("2001:db8::/32")->bits, 32);
  EXPECT_FALSE(WidthOf("10.0.0.0/-1"));
}

}  // namespace
}  // namespace sabia::s3
