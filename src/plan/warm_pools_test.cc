#include "plan/warm_pools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/testing/snapshots.h"

namespace sabia::plan {
namespace {

using model::TrainingPhase;
using model::WarmPoolState;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace testing;

void KeepAlive(model::TrainingJob& job, int seconds) {
  job.request.Edit()["ResourceConfig"].as_object()["KeepAlivePeriodInSeconds"] = seconds;
}

// A job that has ended well at 22, with agents that stay.
TrainingSnapshot Ended(int keep_alive, const JobOptions& options = {}) {
  TrainingSnapshot seen = Placed(options, At(2));
  KeepAlive(seen.job, keep_alive);
  for (InstanceView& host : seen.instances) {
    host.report = FinishedWell();
    host.report->stays = true;
  }
  seen.now = At(23);
  return seen;
}

TEST(PoolKeys, DifferByTheNamesOfTheRequest) {
  const model::TrainingJob job = NewJob();
  model::TrainingJob other = job;
  EXPECT_THAT(Differences(PoolKeysOf(job), PoolKeysOf(other)), IsEmpty());
  json::object& request = other.request.Edit();
  request["VpcConfig"] = {{"Subnets", {"b", "a"}}, {"SecurityGroupIds", {"s"}}};
  request["EnableNetworkIsolation"] = true;
  EXPECT_THAT(Differences(PoolKeysOf(job), PoolKeysOf(other)),
              ElementsAre("SecurityGroupIds ('' there, '\"s\"' here)",
                          "Subnets ('' there, '\"a\", \"b\"' here)",
                          "EnableNetworkIsolation ('false' there, 'true' here)"));
  model::TrainingJob turned = other;
  turned.request.Edit()["VpcConfig"].as_object()["Subnets"] = {"a", "b"};
  EXPECT_EQ(PoolKeysOf(turned), PoolKeysOf(other)) << "their order means nothing";
}

TEST(WarmPool, IsWhatAJobLeavesThatAsksForIt) {
  TrainingSnapshot seen = Ended(60);
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kCompleted);
  ASSERT_TRUE(model::HoldsPool(seen.job));
  EXPECT_EQ(LastMessage(seen.job), "Resource retained for reuse");
  EXPECT_EQ(seen.job.warm_pool->retained_from, At(22));
  EXPECT_EQ(seen.job.warm_pool->born, At(2));
  EXPECT_EQ(seen.instances.size(), 1u) << "they are still leased";
  EXPECT_EQ(NextDue(seen, {}), At(82));
}

TEST(WarmPool, IsNotLeftBySpotJobsNorWhereAnAgentGoes) {
  for (const bool spot : {false, true}) {
    TrainingSnapshot seen = Ended(spot ? 60 : 0, {.spot = spot});
    EXPECT_FALSE(Settle(seen));
    EXPECT_FALSE(seen.job.warm_pool);
  }
  TrainingSnapshot seen = Ended(60, {.hosts = 2});
  seen.instances[1].report->stays = false;
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.phase, TrainingPhase::kCompleted);
  EXPECT_FALSE(seen.job.warm_pool);
}

TEST(WarmPool, EndsWhenItsPeriodIsOver) {
  TrainingSnapshot seen = Ended(60);
  Settle(seen);
  seen.now = At(81);
  EXPECT_FALSE(NextStep(seen, {}));
  seen.now = At(500);  // nobody looked
  EXPECT_FALSE(Settle(seen));
  EXPECT_EQ(seen.job.warm_pool->state, WarmPoolState::kTerminated);
  EXPECT_EQ(model::RetainedTime(*seen.job.warm_pool, seen.now), Seconds(60));
  EXPECT_EQ(LastMessage(seen.job), "Resource released due to keep alive period expiry");
}

TEST(WarmPool, LivesForSevenDaysHoweverOftenItIsReused) {
  TrainingSnapshot seen = Ended(600);
  seen.job.warm_pool = model::WarmPool{.born = At(22 - 7 * 86'400 + 100), .taken_from = "long-ago"};
  Settle(seen);
  EXPECT_EQ(NextDue(seen, {}), At(122));
  TrainingSnapshot old = Ended(600);
  old.job.warm_pool = model::WarmPool{.born = At(22 - 7 * 86'400), .taken_from = "long-ago"};
  Settle(old);
  EXPECT_EQ(old.job.warm_pool->state, WarmPoolState::kTerminated);
}

TEST(WarmPool, GoesToTheNextJobInOneRecord) {
  TrainingSnapshot left = Ended(60, {.hosts = 2});
  Settle(left);
  ASSERT_TRUE(model::HoldsPool(left.job));
  TrainingSnapshot seen;
  seen.job = NewJob({.hosts = 2});
  seen.job.name = "next";
  seen.job.uid = "aaaaaaaaaaaa";
  seen.now = At(30) + Millis(700);
  seen.capacity.answer = CapacityView::Answer::kGranted;
  seen.capacity.slices.resize(2);
  seen.capacity.pool = PoolOffer{left.job, {left.instances[0].record, left.instances[1].record}};
  const auto action = NextStep(seen, {});
  ASSERT_TRUE(action && std::holds_alternative<Record>(*action));
  const Record& record = std::get<Record>(*action);
  ASSERT_TRUE(record.pool_of);
  EXPECT_EQ(record.pool_of->warm_pool->state, WarmPoolState::kReused);
  EXPECT_EQ(record.pool_of->warm_pool->reused_by, "next");
  EXPECT_EQ(model::RetainedTime(*record.pool_of->warm_pool, seen.now), Seconds(8));
  EXPECT_EQ(record.job.warm_pool->state, WarmPoolState::kInUse);
  EXPECT_EQ(record.job.warm_pool->born, left.job.warm_pool->born);
  EXPECT_EQ(record.lease[1].predecessor, left.instances[1].record.id);
  EXPECT_EQ(LastMessage(*record.pool_of), "Resource reused by training job: next");
}

TEST(WarmPool, EndsForAJobThatNeedsTheRoomAndWithALostAgent) {
  TrainingSnapshot wanted = Ended(60);
  Settle(wanted);
  wanted.pool_wanted = true;
  wanted.now = At(40);
  Settle(wanted);
  EXPECT_EQ(wanted.job.warm_pool->state, WarmPoolState::kTerminated);
  EXPECT_EQ(model::RetainedTime(*wanted.job.warm_pool, wanted.now), Seconds(18));
  TrainingSnapshot lost = Ended(60);
  Settle(lost);
  lost.instances[0].alive = false;
  lost.instances[0].last_seen = At(30);
  lost.now = At(40);
  Settle(lost);
  EXPECT_EQ(lost.job.warm_pool->retained_until, At(30));
}

}  // namespace
}  // namespace sabia::plan
