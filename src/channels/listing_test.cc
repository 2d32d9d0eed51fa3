#include "channels/listing.h"

#include <gtest/gtest.h>

namespace sabia::channels {
namespace {

TEST(Listing, SafeRelativePaths) {
  for (const char* good : {"a", "a/b.csv", "x/.hidden", "a b/ü", "...", "a/..b"}) {
    EXPECT_TRUE(IsSafeRelativePath(good)) << good;
  }
  for (const char* bad : {"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/.", "./a"}) {
    EXPECT_FALSE(IsSafeRelativePath(bad)) << bad;
  }
  EXPECT_FALSE(IsSafeRelativePath(std::string_view("a\0b", 3)));
  EXPECT_TRUE(IsSafeRelativePath(std::string(255, 'x')));
  EXPECT_FALSE(IsSafeRelativePath(std::string(256, 'x')));
}

TEST(Listing, ReadsLocalAndRemoteObjects) {
  const auto got = ParseListing(R"({"path":"a/b","size":3,"blob":"/blobs/00/11"})"
                                "\n\n"
                                R"({"path":"c","size":0,"bucket":"k","key":"p/c","etag":"e"})");
  ASSERT_TRUE(got) << got.error().message;
  ASSERT_EQ(got->size(), 2u);
  EXPECT_TRUE((*got)[0].local());
  EXPECT_EQ((*got)[0].size, 3u);
  EXPECT_FALSE((*got)[1].local());
  EXPECT_EQ((*got)[1].key, "p/c");
}

TEST(Listing, RefusesBadLinesByNumber) {
  const auto refuse = [](std::string_view text) {
    const auto got = ParseListing(text);
    EXPECT_FALSE(got) << text;
    return got ? std::string() : got.error().message;
  };
  EXPECT_NE(refuse(R"({"path":"ok","size":1,"blob":"/b"})"
                   "\n"
                   R"({"path":"../x","size":1,"blob":"/b"})")
                .find("line 2"),
            std::string::npos);
  refuse("nonsense");
  refuse(R"({"path":"a","blob":"/b"})");
  refuse(R"({"path":"a","size":-1,"blob":"/b"})");
  refuse(R"({"path":"a","size":1})");
  refuse(R"({"path":"a","size":1,"blob":"relative"})");
  refuse(R"({"path":"a","size":1,"bucket":"b"})");
}

TEST(Listing, RefusesClashes) {
  const auto line = [](std::string_view path) {
    return fmt::format("{{\"path\":\"{}\",\"size\":1,\"blob\":\"/b\"}}\n", path);
  };
  EXPECT_FALSE(ParseListing(line("a") + line("a")));
  EXPECT_FALSE(ParseListing(line("a/b/c") + line("a/b")));
  EXPECT_FALSE(ParseListing(line("a") + line("a/b/c")));
  EXPECT_TRUE(ParseListing(line("a/b/c") + line("a/b/d") + line("a/e") + line("ab")));
}

}  // namespace
}  // namespace sabia::channels
