#include "store/resources.h"

#include <gtest/gtest.h>

#include <thread>

#include "env/testing/temporary_directory.h"
#include "store/testing/state.h"

namespace sabia::store {
namespace {

WallTime At(std::int64_t ms) { return FromUnixMillis(ms); }

class ResourcesTest : public ::testing::Test {
 protected:
  Status Insert(std::string name, std::int64_t created = 1, std::string status = "InProgress") {
    Change change;
    change.resource = {.name = std::move(name),
                       .status = std::move(status),
                       .created = At(created),
                       .modified = At(created),
                       .document = "{}"};
    return resources().Commit({change});
  }
  Resource Get(std::string_view name) {
    auto got = resources().Get(Kind::kTrainingJob, name);
    if (!got) ADD_FAILURE() << got.error().message;
    return got ? *got : Resource{};
  }
  static std::vector<std::string> Names(const Page& page) {
    std::vector<std::string> names;
    for (const Resource& r : page.rows) names.push_back(r.name);
    return names;
  }
  Resources& resources() { return state_.resources(); }
  testing::TemporaryState state_;
};

TEST_F(ResourcesTest, WhatWasCommittedComesBack) {
  Change change;
  change.resource = {.kind = Kind::kInstance,
                     .name = "i-1",
                     .status = "Placed",
                     .created = At(5),
                     .modified = At(6),
                     .live = false,
                     .parent = "job",
                     .document = R"({"a":"é"})"};
  ASSERT_TRUE(resources().Commit({change}));
  const Resource got = resources().Get(Kind::kInstance, "i-1").value();
  EXPECT_EQ(got.status, "Placed");
  EXPECT_EQ(got.created, At(5));
  EXPECT_EQ(got.modified, At(6));
  EXPECT_FALSE(got.live);
  EXPECT_EQ(got.parent, "job");
  EXPECT_EQ(got.revision, 1);
  EXPECT_EQ(got.document, R"({"a":"é"})");
  EXPECT_EQ(resources().Get(Kind::kTrainingJob, "i-1").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(resources().Children(Kind::kInstance, "job").value().size(), 1u);
  EXPECT_TRUE(resources().Live(Kind::kInstance).value().empty());
}

TEST_F(ResourcesTest, UpdatesCompareTheRevision) {
  ASSERT_TRUE(Insert("a", 100));
  Change change{.op = Change::Op::kUpdate, .resource = Get("a")};
  change.resource.status = "Completed";
  change.resource.modified = At(200);
  change.resource.live = false;
  change.resource.document = "[1]";
  ASSERT_TRUE(resources().Commit({change}));
  const Resource got = Get("a");
  EXPECT_EQ(got.status, "Completed");
  EXPECT_EQ(got.document, "[1]");
  EXPECT_EQ(got.revision, 2);
  EXPECT_FALSE(got.live);
  EXPECT_EQ(resources().Commit({change}).error().code, ErrorCode::kConflict);
  change.resource.name = "b";
  EXPECT_EQ(resources().Commit({change}).error().code, ErrorCode::kNotFound);
}

TEST_F(ResourcesTest, ModifiedNeverGoesBack) {
  ASSERT_TRUE(Insert("a", 100));
  Change change{.op = Change::Op::kUpdate, .resource = Get("a")};
  change.resource.modified = At(50);
  ASSERT_TRUE(resources().Commit({change}));
  EXPECT_EQ(Get("a").modified, At(100));
}

TEST_F(ResourcesTest, ACommitIsAllOrNothing) {
  ASSERT_TRUE(Insert("taken"));
  Change first;
  first.resource = {.name = "new"};
  first.arn = "arn:new";
  first.tags = {{"k", "v"}};
  Change second;
  second.resource = {.name = "taken"};
  const Status done = resources().Commit({first, second});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(resources().Get(Kind::kTrainingJob, "new").error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(resources().GetTags("arn:new").value().empty());
}

TEST_F(ResourcesTest, TagsKeepTheirOrderAndGoWithTheirOwner) {
  Change insert;
  insert.resource = {.name = "a"};
  insert.arn = "arn:a";
  insert.tags = {{"z", "1"}, {"a", "2"}};
  ASSERT_TRUE(resources().Commit({insert}));
  Change set{.op = Change::Op::kSetTags, .tags = {{"m", "3"}, {"z", "9"}}, .arn = "arn:a"};
  ASSERT_TRUE(resources().Commit({set}));
  EXPECT_EQ(resources().GetTags("arn:a").value(), (Tags{{"z", "9"}, {"a", "2"}, {"m", "3"}}));
  Change remove{.op = Change::Op::kRemoveTags, .tags = {{"a", ""}, {"none", ""}}, .arn = "arn:a"};
  ASSERT_TRUE(resources().Commit({remove}));
  EXPECT_EQ(resources().GetTags("arn:a").value(), (Tags{{"z", "9"}, {"m", "3"}}));
  Change erase{.op = Change::Op::kDelete, .resource = Get("a"), .arn = "arn:a"};
  ASSERT_TRUE(resources().Commit({erase}));
  EXPECT_TRUE(resources().GetTags("arn:a").value().empty());
}

TEST_F(ResourcesTest, FiftyTagsAreTheLimit) {
  Change set{.op = Change::Op::kSetTags, .arn = "arn:a"};
  for (int i = 0; i < 50; ++i) set.tags.emplace_back(std::to_string(i), "");
  ASSERT_TRUE(resources().Commit({set}));
  set.tags = {{"0", "again"}};
  EXPECT_TRUE(resources().Commit({set}));
  set.tags = {{"one more", ""}};
  EXPECT_EQ(resources().Commit({set}).error().code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(resources().GetTags("arn:a").value().size(), 50u);
}

TEST_F(ResourcesTest, TheListenerHearsOfCommitsAfterTheyHappened) {
  std::vector<std::string> heard;
  resources().OnCommit([&](Kind kind, const std::string& name) {
    EXPECT_TRUE(resources().Get(kind, name));
    heard.push_back(name);
  });
  ASSERT_TRUE(Insert("a"));
  ASSERT_FALSE(Insert("a"));
  EXPECT_EQ(heard, std::vector<std::string>{"a"});
}

TEST_F(ResourcesTest, OneOfManyWinsACompareAndSet) {
  ASSERT_TRUE(Insert("a"));
  const Resource read = Get("a");
  std::atomic<int> won{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 32; ++t) {
    threads.emplace_back([&] {
      if (resources().Commit({Change{.op = Change::Op::kUpdate, .resource = read}})) ++won;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(won, 1);
  EXPECT_EQ(Get("a").revision, 2);
}

TEST_F(ResourcesTest, PagesAreStableWhileRowsComeAndGo) {
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(Insert(fmt::format("job-{:02}", i), 1000 + i));
  ListQuery query{.limit = 10};
  std::vector<std::string> seen;
  int round = 0;
  do {
    const Page page = resources().List(query).value();
    for (const std::string& name : Names(page)) seen.push_back(name);
    query.token = page.next_token;
    // A newer job, an older job, and the last row of this page goes away: none of it shifts the
    // pages.
    ASSERT_TRUE(Insert(fmt::format("new-{}", round), 5000 + round));
    if (!page.rows.empty()) {
      Change erase{.op = Change::Op::kDelete, .resource = page.rows.back()};
      ASSERT_TRUE(resources().Commit({erase}));
    }
    ++round;
  } while (!query.token.empty());
  ASSERT_EQ(seen.size(), 30u);
  EXPECT_EQ(seen.front(), "job-29");
  EXPECT_EQ(seen.back(), "job-00");
}

TEST_F(ResourcesTest, TokensAreBoundToTheQueryAndSurviveARestart) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Insert(fmt::format("job-{}", i), i));
  ListQuery query{.limit = 2};
  query.token = resources().List(query).value().next_token;
  ASSERT_FALSE(query.token.empty());
  state_.Reopen();
  EXPECT_EQ(Names(resources().List(query).value()), (std::vector<std::string>{"job-2", "job-1"}));
  query.limit = 100;  // the page size may change
  EXPECT_EQ(resources().List(query).value().rows.size(), 3u);
  ListQuery other = query;
  other.status = "Failed";
  EXPECT_EQ(resources().List(other).error().code, ErrorCode::kInvalidArgument);
  other = query;
  other.filter_identity = "warm";
  EXPECT_EQ(resources().List(other).error().code, ErrorCode::kInvalidArgument);
  other = query;
  other.token[10] = other.token[10] == 'A' ? 'B' : 'A';
  EXPECT_EQ(resources().List(other).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(ResourcesTest, ShortPagesStillReachEveryMatch) {
  // Every one of 4000 rows is looked at, none but the oldest passes: more than one page's worth of
  // looking.
  std::vector<Change> changes(4000);
  for (int i = 0; i < 4000; ++i) {
    changes[i].resource = {.name = fmt::format("job-{:04}", i), .created = At(1000 + i)};
  }
  ASSERT_TRUE(resources().Commit(changes));
  ListQuery query{.limit = 5};
  query.filter = [](const Resource& r) { return r.name == "job-0000"; };
  std::vector<std::string> seen;
  int pages = 0;
  do {
    const Page page = resources().List(query).value();
    for (const std::string& name : Names(page)) seen.push_back(name);
    query.token = page.next_token;
    ASSERT_LT(++pages, 100);
  } while (!query.token.empty());
  EXPECT_EQ(seen, std::vector<std::string>{"job-0000"});
  EXPECT_GT(pages, 1);
}

}  // namespace
}  // namespace sabia::store
