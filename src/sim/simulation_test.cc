// Goal: whatever happens to a cluster, in whatever order, every promise of the witness holds and
// every job ends as it should. Method: a fixed budget of random worlds; `soak` runs more.
#include "sim/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/billing.h"
#include "sim/witness.h"
#include "store/training_job_row.h"

namespace sabia::sim {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint64_t kSeeds = 300;

TEST(Simulation, WorldsKeepTheirPromises) {
  Outcome sum;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const WorldPlan plan = PlanOf(seed);
    const Outcome outcome = Simulate(plan);
    ASSERT_THAT(outcome.violations, IsEmpty()) << Describe(plan);
    EXPECT_EQ(outcome.completed + outcome.failed + outcome.stopped, outcome.jobs);
    sum.Add(outcome);
  }
  // Or nothing was tried.
  EXPECT_GT(sum.completed, kSeeds);
  EXPECT_GT(sum.failed, 100u);
  EXPECT_GT(sum.stopped, 100u);
  EXPECT_GT(sum.interruptions, kSeeds);
  EXPECT_GT(sum.agent_deaths, 100u);
  EXPECT_GT(sum.daemon_deaths, kSeeds);
  EXPECT_GT(sum.failed_effects, 100u);
  EXPECT_GT(sum.market_reclaims, 100u);
  EXPECT_GT(sum.moves, 50u);
  EXPECT_GT(sum.deadlines_kept, 100u);
  EXPECT_GT(sum.pools, kSeeds);
  EXPECT_GT(sum.reuses, 100u);
}

TEST(Simulation, TheSameSeedEndsInTheSameState) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Outcome one = Simulate(PlanOf(seed));
    const Outcome two = Simulate(PlanOf(seed));
    EXPECT_EQ(one.digest, two.digest) << seed;
    EXPECT_EQ(one.commits, two.commits) << seed;
  }
  EXPECT_NE(Simulate(PlanOf(1)).digest, Simulate(PlanOf(2)).digest);
}

TEST(Simulation, DailyInterruptionsCostTimeAndNoJob) {
  const Outcome outcome =
      Simulate(DailyInterruptions(7, 20, Millis(std::int64_t{30} * 86'400'000)));
  EXPECT_THAT(outcome.violations, IsEmpty());
  EXPECT_EQ(outcome.completed, outcome.jobs);
  EXPECT_GT(outcome.interruptions, 300u);
}

class WitnessTest : public ::testing::Test {
 protected:
  static model::TrainingJob Job() {
    model::TrainingJob job;
    job.uid = "000000000001";
    job.name = "job";
    job.request = {{"ResourceConfig", {{"InstanceCount", 1}}}};
    return job;
  }
  void Commit(const model::TrainingJob& job) {
    Commit(job, cost::EntriesOfStep(cost::PriceLists(), before_, job));
  }
  void Commit(const model::TrainingJob& job, std::vector<model::LedgerEntry> ledger) {
    store::Change change;
    change.op = store::Change::Op::kUpdate;
    change.resource = store::RowOf(job, 1);
    change.ledger = std::move(ledger);
    witness_.Saw(change, &change.resource, At(9));
    before_ = job;
  }
  void Lease(int number, double vcpus) {
    model::InstanceRecord record;
    record.id = model::InstanceId("000000000001", number, 1);
    record.job_name = "job";
    record.vcpus = vcpus;
    store::Change change;
    change.resource.kind = store::Kind::kInstance;
    change.resource.name = record.id;
    change.resource.document = json::serialize(record.ToJson());
    witness_.Saw(change, &change.resource, At(9));
  }
  static WallTime At(int seconds) { return FromUnixMillis(1'700'000'000'000) + Seconds(seconds); }

  Witness witness_{4};
  model::TrainingJob before_;
};

TEST_F(WitnessTest, SeesAnIllegalStep) {
  model::TrainingJob job = Job();
  job.phase = model::TrainingPhase::kUploading;
  Commit(job);
  job.phase = model::TrainingPhase::kCompleted;
  Commit(job);
  EXPECT_THAT(witness_.violations(), IsEmpty());
  job.phase = model::TrainingPhase::kTraining;
  Commit(job);
  ASSERT_THAT(witness_.violations(), SizeIs(2));
  EXPECT_THAT(witness_.violations()[0], HasSubstr("changed after its end"));
  EXPECT_THAT(witness_.violations()[1], HasSubstr("illegal step from completed to training"));
}

TEST_F(WitnessTest, SeesWhatIsForgotten) {
  model::TrainingJob job = Job();
  job.stop_requested = At(1);
  job.attempts.push_back({1, true, At(1), At(2), At(5), "interrupted"});
  Commit(job);
  job.stop_requested.reset();
  Commit(job);
  EXPECT_THAT(witness_.violations().back(), HasSubstr("a wish to stop was forgotten"));
  job.attempts.clear();
  Commit(job);
  EXPECT_THAT(witness_.violations(), Contains(HasSubstr("attempts were forgotten")));
}

TEST_F(WitnessTest, SeesASecondInTwoAttempts) {
  model::TrainingJob job = Job();
  job.attempts.push_back({1, true, At(1), At(2), At(5), "interrupted"});
  Commit(job);
  job.attempts.push_back({2, true, At(4), {}, {}, ""});
  Commit(job);
  ASSERT_THAT(witness_.violations(), SizeIs(1));
  EXPECT_THAT(witness_.violations()[0], HasSubstr("a second is in two attempts"));
}

TEST_F(WitnessTest, SeesWhatIsBilledTwiceOrNotAtAll) {
  model::TrainingJob job = Job();
  job.attempts.push_back({1, true, At(1), At(2), At(5), "interrupted"});
  Commit(job, {});
  EXPECT_THAT(witness_.violations().back(), HasSubstr("3000 ms were used, 0 ms are billed"));
  const auto lines = cost::EntriesOfStep(cost::PriceLists(), Job(), job);
  Commit(job, lines);
  ASSERT_THAT(witness_.violations(), SizeIs(1));
  Commit(job, lines);
  EXPECT_THAT(witness_.violations()[1], HasSubstr("'000000000001-1-1' is billed twice"));
  EXPECT_THAT(witness_.violations()[2], HasSubstr("3000 ms were used, 6000 ms are billed"));
}

TEST_F(WitnessTest, SeesTooManyLeases) {
  Lease(1, 2);
  EXPECT_THAT(witness_.violations(), IsEmpty());
  Lease(2, 3);
  ASSERT_THAT(witness_.violations(), SizeIs(2));
  EXPECT_THAT(witness_.violations()[0], HasSubstr("5 vCPU are leased, the machine has 4"));
  EXPECT_THAT(witness_.violations()[1], HasSubstr("was leased while"));
}

}  // namespace
}  // namespace sabia::sim
