#include "store/home.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "env/testing/temporary_directory.h"

namespace sabia::store {
namespace {

class HomeTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<Home>> Open(std::string_view region = "us-west-2") {
    return Home::Open(paths_, files_, random_, region);
  }
  void Write(const env::Path& path, std::string_view text) {
    ASSERT_TRUE(files_.WriteAtomically(path, text, {}));
  }
  env::TemporaryDirectory dir_;
  env::PosixFiles files_;
  env::SeededRandom random_{5};
  Paths paths_{dir_.path() / "parent" / "home"};
};

TEST_F(HomeTest, TheFirstStartMakesTheTreeAndLaterOnesFindIt) {
  EXPECT_EQ(Home::ReadAccount(paths_, files_).error().code, ErrorCode::kNotFound);
  Account first;
  {
    auto home = Open();
    ASSERT_TRUE(home) << home.error().message;
    first = (*home)->account();
  }
  EXPECT_EQ(first.id.size(), 12u);
  EXPECT_NE(first.id[0], '0');
  EXPECT_EQ(first.region, "us-west-2");
  struct stat info {};
  ASSERT_EQ(::stat(paths_.home().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  EXPECT_TRUE(files_.Exists(paths_.blobs_tmp()).value());
  EXPECT_EQ(files_.Read(paths_.format(), 10).value(), "1\n");
  auto again = Open("eu-west-1");
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->account().id, first.id);
  EXPECT_EQ((*again)->account().region, "us-west-2");
  EXPECT_EQ(Home::ReadAccount(paths_, files_).value().id, first.id);
}

TEST_F(HomeTest, ASecondDaemonIsRefusedAndToldWhoRuns) {
  auto first = Open();
  ASSERT_TRUE(first);
  const auto second = Open();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(second.error().message.find(fmt::format("pid {} ", ::getpid())), std::string::npos);
  first->reset();
  EXPECT_TRUE(Open());
}

TEST_F(HomeTest, DiscardedItLeavesNothingThatItMade) {
  {
    auto home = Open();
    ASSERT_TRUE(home);
    (*home)->Discard(files_);
  }
  EXPECT_FALSE(files_.Exists(dir_.path() / "parent").value());
  ASSERT_TRUE(files_.MakeDirectories(dir_.path() / "parent" / "other"));
  auto home = Open();
  ASSERT_TRUE(home);
  (*home)->Discard(files_);
  EXPECT_EQ(files_.List(dir_.path() / "parent").value(), std::vector<std::string>{"other"});
}

TEST_F(HomeTest, AHomeThatWasThereIsNeverDiscarded) {
  ASSERT_TRUE(Open());
  auto again = Open();
  ASSERT_TRUE(again);
  (*again)->Discard(files_);
  EXPECT_TRUE(files_.Exists(paths_.account()).value());
}

TEST_F(HomeTest, AFirstOpenThatFailsLeavesNothing) {
  EXPECT_FALSE(Open("not a region"));
  EXPECT_FALSE(files_.Exists(dir_.path() / "parent").value());
}

TEST_F(HomeTest, OtherFormatsAreRefused) {
  ASSERT_TRUE(Open());
  Write(paths_.format(), "2\n");
  EXPECT_EQ(Open().error().code, ErrorCode::kInvalidArgument);
  Write(paths_.format(), "one");
  EXPECT_EQ(Open().error().code, ErrorCode::kCorrupt);
  Write(paths_.format(), "");
  EXPECT_EQ(Open().error().code, ErrorCode::kCorrupt);
}

TEST_F(HomeTest, ADamagedAccountIsNotReplaced) {
  ASSERT_TRUE(Open());
  for (const char* text : {"", "{}", R"({"account":"12","region":"us-west-2"})",
                           R"({"account":"123456789012","region":"../x"})"}) {
    Write(paths_.account(), text);
    EXPECT_EQ(Open().error().code, ErrorCode::kCorrupt) << text;
  }
}

TEST_F(HomeTest, AnInterruptedFirstStartIsCompleted) {
  ASSERT_TRUE(Open());
  ASSERT_TRUE(files_.RemoveTree(paths_.account()));
  ASSERT_TRUE(files_.RemoveTree(paths_.run()));
  EXPECT_TRUE(Open());
  EXPECT_TRUE(files_.Exists(paths_.run()).value());
}

TEST_F(HomeTest, PathsThatDoNotServeAreRefused) {
  const auto open = [&](const env::Path& path) {
    return Home::Open(Paths(path), files_, random_, "us-west-2").error().code;
  };
  EXPECT_EQ(open("relative"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(open(dir_.path() / std::string(100, 'x')), ErrorCode::kInvalidArgument);
  Write(dir_.path() / "file", "x");
  EXPECT_EQ(open(dir_.path() / "file"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Open("US West").error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace sabia::store
