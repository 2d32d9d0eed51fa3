#include "store/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/testing/state.h"

namespace sabia::store {
namespace {

using model::LedgerEntry;
using model::LedgerKind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

WallTime At(std::int64_t ms) { return FromUnixMillis(ms); }

class LedgerTest : public ::testing::Test {
 protected:
  static LedgerEntry Entry(std::string instance, LedgerKind kind = LedgerKind::kSpot) {
    LedgerEntry out;
    out.instance = std::move(instance);
    out.kind = kind;
    out.job_name = "job";
    out.job_arn = "arn:job";
    out.region = "us-west-2";
    out.account = "123456789012";
    out.instance_type = "ml.m5.large";
    out.waited_from = At(1'000);
    out.start = At(2'000);
    out.end = At(5'000);
    out.lost_from = At(4'000);
    out.price_date = "2026-09-22";
    out.price_region = "us-east-1";
    out.on_demand_per_hour = Money::FromNanos(115'000'000);
    out.per_hour = Money::FromNanos(43'700'000);
    return out;
  }
  // The job's record at `revision`, and with it lines of the ledger.
  Status Commit(std::int64_t revision, std::vector<LedgerEntry> lines, Tags tags = {}) {
    Change change;
    change.op = revision == 0 ? Change::Op::kInsert : Change::Op::kUpdate;
    change.resource = {.name = "job", .revision = revision, .document = "{}"};
    change.ledger = std::move(lines);
    if (revision == 0) change.arn = "arn:job";
    change.tags = std::move(tags);
    return state_.resources().Commit({std::move(change)});
  }
  std::vector<LedgerEntry> Between(std::int64_t from, std::int64_t to) {
    std::vector<LedgerEntry> out;
    EXPECT_TRUE(Ledger(state_.database()).Visit(At(from), At(to), [&](LedgerEntry entry) {
      out.push_back(std::move(entry));
    }));
    return out;
  }
  std::vector<LedgerEntry> OfJob(std::string_view uid) {
    return Ledger(state_.database()).OfJob(uid).value();
  }

  testing::TemporaryState state_;
};

TEST_F(LedgerTest, ALineComesBackAsItWas) {
  ASSERT_TRUE(Commit(0, {}, {{"team", "ml"}, {"a\"b", "é"}}));
  ASSERT_TRUE(Commit(1, {Entry("u-1-1")}));
  state_.Reopen();
  const auto lines = OfJob("u");
  ASSERT_THAT(lines, SizeIs(1));
  const LedgerEntry& line = lines[0];
  const LedgerEntry wanted = Entry("u-1-1");
  EXPECT_EQ(line.instance, wanted.instance);
  EXPECT_EQ(line.kind, wanted.kind);
  EXPECT_EQ(line.job_name, wanted.job_name);
  EXPECT_EQ(line.job_arn, wanted.job_arn);
  EXPECT_EQ(line.region, wanted.region);
  EXPECT_EQ(line.account, wanted.account);
  EXPECT_EQ(line.instance_type, wanted.instance_type);
  EXPECT_EQ(line.waited_from, wanted.waited_from);
  EXPECT_EQ(line.start, wanted.start);
  EXPECT_EQ(line.end, wanted.end);
  EXPECT_EQ(line.lost_from, wanted.lost_from);
  EXPECT_EQ(line.price_date, wanted.price_date);
  EXPECT_EQ(line.price_region, wanted.price_region);
  EXPECT_EQ(line.on_demand_per_hour, wanted.on_demand_per_hour);
  EXPECT_EQ(line.per_hour, wanted.per_hour);
  EXPECT_THAT(line.tags, ElementsAre(Pair("team", "ml"), Pair("a\"b", "é")));
}

TEST_F(LedgerTest, TheSameUseIsRecordedOnce) {
  ASSERT_TRUE(Commit(0, {Entry("u-1-1"), Entry("u-1-2")}));
  LedgerEntry changed = Entry("u-1-1");
  changed.end = At(9'000);
  ASSERT_TRUE(Commit(1, {changed, Entry("u-1-1", LedgerKind::kWarmPool), Entry("u-1-2")}));
  const auto lines = OfJob("u");
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_EQ(lines[0].end, At(5'000)) << "what is written stays";
  EXPECT_EQ(lines[2].kind, LedgerKind::kWarmPool);
}

TEST_F(LedgerTest, ACommitThatFailsLeavesNoLine) {
  ASSERT_TRUE(Commit(0, {}));
  EXPECT_EQ(Commit(7, {Entry("u-1-1")}).error().code, ErrorCode::kConflict);
  EXPECT_THAT(OfJob("u"), IsEmpty());
}

TEST_F(LedgerTest, LinesAndTheirTagsOutliveTheJob) {
  ASSERT_TRUE(Commit(0, {Entry("u-1-1")}, {{"team", "ml"}}));
  Change gone;
  gone.op = Change::Op::kDelete;
  gone.resource = {.name = "job", .revision = 1};
  gone.arn = "arn:job";
  ASSERT_TRUE(state_.resources().Commit({gone}));
  ASSERT_THAT(OfJob("u"), SizeIs(1));
  EXPECT_THAT(OfJob("u")[0].tags, ElementsAre(Pair("team", "ml")));
}

TEST_F(LedgerTest, FindsByJobAndByTime) {
  ASSERT_TRUE(Commit(0, {Entry("u-1-1"), Entry("u-10-1"), Entry("v-1-1")}));
  EXPECT_THAT(OfJob("u"), SizeIs(2));
  EXPECT_THAT(OfJob("u-1"), SizeIs(1));
  EXPECT_THAT(OfJob("x"), IsEmpty());
  EXPECT_THAT(Between(0, 1'000), IsEmpty());
  EXPECT_THAT(Between(0, 1'001), SizeIs(3)) << "waiting counts";
  EXPECT_THAT(Between(4'999, 10'000), SizeIs(3));
  EXPECT_THAT(Between(5'000, 10'000), IsEmpty());
}

}  // namespace
}  // namespace sabia::store
