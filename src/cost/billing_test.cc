// Goal: a job's lines bill every instance for exactly what its attempts used, once, and any cut of
// them adds up. Method: by hand for each kind, then random jobs that are cut and recorded at
// random.
#include "cost/billing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "cost/job_cost.h"

namespace sabia::cost {
namespace {

using model::LedgerEntry;
using model::LedgerKind;
using model::TrainingPhase;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const WallTime kStart = FromUnixMillis(1'790'000'000'000);
WallTime At(int seconds) { return kStart + Seconds(seconds); }

PriceLists Prices() {
  PriceLists lists;
  EXPECT_TRUE(lists.Add(
      "2020-01-01",
      *PriceBook::Parse("region,instance_type,usd_per_hour,basis,spot_saving_percent\n"
                        "us-east-1,ml.a,3.6,listed,75\nus-east-1,ml.b,0.1152007,listed,61\n")));
  return lists;
}

model::TrainingJob Job(int hosts = 1) {
  model::TrainingJob job;
  job.uid = "0123456789ab";
  job.name = "job";
  job.region = "us-east-1";
  job.created = kStart;
  job.request = {{"EnableManagedSpotTraining", true},
                 {"ResourceConfig", {{"InstanceType", "ml.a"}, {"InstanceCount", hosts}}}};
  return job;
}

TEST(Billing, AnAttemptIsBilledFromReadyToItsEndPerInstance) {
  model::TrainingJob before = Job(2);
  before.phase = TrainingPhase::kTraining;
  before.attempts = {{1, false, At(3), At(10), {}, ""}};
  model::TrainingJob after = before;
  after.phase = TrainingPhase::kCompleted;
  after.attempts[0].ended = At(40);
  after.attempts[0].end_reason = "completed";
  after.transitions = {{"Starting", At(0), At(10), ""}, {"Completed", At(40), At(40), ""}};
  const auto lines = EntriesOfStep(Prices(), before, after);
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0].instance, "0123456789ab-1-1");
  EXPECT_EQ(lines[1].instance, "0123456789ab-1-2");
  EXPECT_EQ(lines[0].kind, LedgerKind::kOnDemand);
  EXPECT_EQ(lines[0].waited_from, At(0));
  EXPECT_EQ(lines[0].start, At(10));
  EXPECT_EQ(lines[0].end, At(40));
  EXPECT_FALSE(lines[0].lost_from);
  EXPECT_EQ(lines[0].price_date, "2020-01-01");
  EXPECT_EQ(CostOfEntry(lines[0]).nanos(), 30'000'000);
  EXPECT_THAT(EntriesOfStep(Prices(), after, after), IsEmpty());
}

TEST(Billing, WhatNoCheckpointHoldsIsLostWhenAnAttemptIsReclaimed) {
  model::TrainingJob before = Job();
  before.attempts = {{1, true, At(0), At(10), {}, ""}};
  model::TrainingJob after = before;
  after.attempts[0] = {1, true, At(0), At(10), At(50), "interrupted"};
  after.attempts[0].saved = At(35);
  auto lines = EntriesOfStep(Prices(), before, after);
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0].kind, LedgerKind::kSpot);
  EXPECT_EQ(lines[0].lost_from, At(35));
  EXPECT_EQ(CostOfEntry(lines[0]).nanos(), 10'000'000);
  after.attempts[0].saved.reset();
  EXPECT_EQ(EntriesOfStep(Prices(), before, after)[0].lost_from, At(10)) << "all of it";
  after.attempts[0].saved = At(60);
  EXPECT_FALSE(EntriesOfStep(Prices(), before, after)[0].lost_from) << "nothing of it";
  after.attempts[0].end_reason = "completed";
  after.attempts[0].saved.reset();
  after.phase = TrainingPhase::kCompleted;
  EXPECT_FALSE(EntriesOfStep(Prices(), before, after)[0].lost_from) << "nobody repeats it";
}

TEST(Billing, WaitingIsShownAndFree) {
  model::TrainingJob before = Job(2);
  model::TrainingJob after = before;
  after.phase = TrainingPhase::kStopped;
  after.transitions = {{"Starting", At(0), At(90), ""}, {"Stopped", At(90), At(90), ""}};
  const auto lines = EntriesOfStep(Prices(), before, after);
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0].kind, LedgerKind::kWaiting);
  EXPECT_EQ(lines[0].start - lines[0].waited_from, Seconds(90));
  EXPECT_EQ(CostOfEntry(lines[0]), Money());
}

TEST(Billing, AnAttemptThatWasNeverReadyOnlyWaited) {
  model::TrainingJob before = Job();
  before.attempts = {{1, true, At(5), {}, {}, ""}};
  model::TrainingJob after = before;
  after.attempts[0].ended = At(20);
  after.attempts[0].end_reason = "lost";
  const auto lines = EntriesOfStep(Prices(), before, after);
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0].start, lines[0].end);
  EXPECT_EQ(lines[0].start - lines[0].waited_from, Seconds(20));
  EXPECT_FALSE(lines[0].lost_from);
}

TEST(Billing, MoneyIsWrittenToTheLastDigit) {
  for (const auto& [nanos, text] :
       std::vector<std::pair<std::int64_t, std::string>>{{0, "0"},
                                                         {1, "0.000000001"},
                                                         {11'500'000, "0.0115"},
                                                         {-1'500'000'000, "-1.5"},
                                                         {20'000'000'000, "20"}})
    EXPECT_EQ(Money::FromNanos(nanos).ToExactString(), text);
}

TEST(Billing, AWarmPoolCostsWhatTrainingCosts) {
  model::TrainingJob waiting = Job(2);
  waiting.phase = TrainingPhase::kCompleted;
  waiting.attempts = {{1, false, At(0), At(10), At(20), "completed"}};
  waiting.warm_pool = model::WarmPool{.retained_from = At(20)};
  model::TrainingJob job = waiting;
  job.warm_pool->retained_until = At(80);
  const auto lines = EntriesOfStep(Prices(), waiting, job);
  EXPECT_THAT(EntriesOfStep(Prices(), job, job), IsEmpty());
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[1].instance, "0123456789ab-1-2");
  EXPECT_EQ(lines[1].kind, LedgerKind::kWarmPool);
  EXPECT_EQ(CostOfEntry(lines[1]).nanos(), 60'000'000) << "on demand, not spot";
  const auto cost = CostOfJob(Prices(), job, At(80), lines);
  EXPECT_EQ(cost->use.warm_pool.cost.nanos(), 120'000'000);
  EXPECT_EQ(cost->total(), cost->billed + cost->use.warm_pool.cost);
}

TEST(Billing, WhatAMarketAskedForAllIsSharedToTheLastBillionth) {
  model::TrainingJob before = Job(3);
  before.phase = TrainingPhase::kTraining;
  before.attempts = {{1, true, At(0), At(0), {}, ""}};
  before.attempts[0].per_hour = Money::FromNanos(10'000'000'000);
  model::TrainingJob after = before;
  after.attempts[0].ended = At(3600);
  after.attempts[0].end_reason = "completed";
  Money sum;
  for (const auto& line : EntriesOfStep(Prices(), before, after)) {
    EXPECT_NEAR(static_cast<double>(line.per_hour.nanos()), 10e9 / 3, 1);
    sum += CostOfEntry(line);
  }
  EXPECT_EQ(sum.nanos(), 10'000'000'000);
}

TEST(Billing, ALineKeepsItsPriceWhenListsChange) {
  model::TrainingJob job = Job();
  job.attempts = {{1, true, At(0), At(10), At(20), "completed"}};
  job.phase = TrainingPhase::kCompleted;
  const auto lines = EntriesOfStep(Prices(), Job(), job);
  PriceLists dearer;
  ASSERT_TRUE(dearer.Add("2020-01-01", *PriceBook::Parse("region,instance_type,usd_per_hour,basis,"
                                                         "spot_saving_percent\n"
                                                         "us-east-1,ml.a,36,listed,75\n")));
  EXPECT_EQ(CostOfJob(dearer, job, At(99), lines)->billed.nanos(), 2'500'000);
  EXPECT_EQ(CostOfJob(dearer, job, At(99))->billed.nanos(), 25'000'000);
}

TEST(Billing, OtherwiseLeavesOutWhatWasRepeated) {
  model::TrainingJob job = Job();
  // 10 s of preparation and 30 s of training, of which 10 s were lost; then 5 s to restore and 20
  // s.
  job.attempts = {{1, true, At(0), At(10), At(50), "interrupted"},
                  {2, true, At(60), At(70), At(95), "completed"}};
  job.attempts[0].saved = At(40);
  job.transitions = {{"Starting", At(0), At(10), ""},  {"Downloading", At(10), At(20), ""},
                     {"Training", At(20), At(50), ""}, {"Interrupted", At(50), At(50), ""},
                     {"Starting", At(50), At(70), ""}, {"Downloading", At(70), At(75), ""},
                     {"Training", At(75), At(95), ""}, {"Completed", At(95), At(95), ""}};
  job.phase = TrainingPhase::kCompleted;
  job.training_start = At(10);
  job.training_end = At(95);
  const auto cost = CostOfJob(Prices(), job, At(99));
  ASSERT_TRUE(cost.has_value());
  EXPECT_EQ(cost->use.lost.time, Seconds(10));
  EXPECT_EQ(cost->use.lost.cost.nanos(), 2'500'000);
  EXPECT_EQ(cost->use.spot.time, Seconds(65));
  EXPECT_EQ(cost->use.waiting.time, Seconds(30));
  EXPECT_EQ(cost->otherwise_spot.nanos(), 50 * 250'000);
  EXPECT_EQ(cost->otherwise_on_demand.nanos(), 50 * 1'000'000);
  EXPECT_EQ(cost->on_demand.nanos(), 65 * 1'000'000);
}

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  std::uint64_t Below(std::uint64_t bound) { return random_() % bound; }

 private:
  std::mt19937_64 random_;
};

// A random life of a job, as the records that a controller would commit.
std::vector<model::TrainingJob> RandomLife(Draw& random) {
  std::vector<model::TrainingJob> out;
  model::TrainingJob job = Job(1 + static_cast<int>(random.Below(4)));
  job.request = {{"ResourceConfig",
                  {{"InstanceType", random.Below(2) == 0 ? "ml.a" : "ml.b"},
                   {"InstanceCount", 1 + random.Below(4)}}}};
  WallTime now = kStart;
  const auto later = [&] { return now += Millis(random.Below(90'000'000)); };
  out.push_back(job);
  const int attempts = 1 + static_cast<int>(random.Below(5));
  for (int number = 1; number <= attempts; ++number) {
    model::Attempt attempt{number, random.Below(2) == 0, later(), {}, {}, ""};
    job.phase = TrainingPhase::kLaunching;
    job.attempts.push_back(attempt);
    out.push_back(job);
    if (random.Below(5) != 0) {
      job.attempts.back().ready = later();
      job.phase = TrainingPhase::kTraining;
      out.push_back(job);
    }
    job.attempts.back().ended = later();
    if (random.Below(2) == 0) job.attempts.back().saved = now - Millis(random.Below(90'000'000));
    job.attempts.back().end_reason = number < attempts ? "interrupted" : "completed";
    job.phase = number < attempts ? TrainingPhase::kQueued : TrainingPhase::kCompleted;
    out.push_back(job);
  }
  return out;
}

TEST(BillingProperty, SumsOfLinesAreSumsOfAttemptsHoweverOftenTheyAreRecorded) {
  const PriceLists prices = Prices();
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Draw random(seed);
    const auto life = RandomLife(random);
    // A daemon that dies repeats the step it was in; the key makes one line of two.
    std::map<std::pair<std::string, LedgerKind>, LedgerEntry> ledger;
    for (std::size_t i = 1; i < life.size(); ++i) {
      for (std::uint64_t again = random.Below(3); again < 3; ++again) {
        for (const LedgerEntry& line : EntriesOfStep(prices, life[i - 1], life[i]))
          ledger.try_emplace({line.instance, line.kind}, line);
      }
    }
    const model::TrainingJob& job = life.back();
    Millis used{0};
    for (const auto& attempt : job.attempts)
      if (attempt.ready) used += (*attempt.ended - *attempt.ready) * job.InstanceCount();
    Millis billed{0};
    Money sum;
    std::vector<LedgerEntry> lines;
    for (const auto& [key, line] : ledger) {
      billed += line.end - line.start;
      sum += CostOfEntry(line);
      lines.push_back(line);
    }
    ASSERT_EQ(billed, used) << seed;
    const auto derived = CostOfJob(prices, job, kStart);
    ASSERT_EQ(derived->billed, sum) << seed;
    ASSERT_EQ(CostOfJob(prices, job, kStart, lines)->billed, sum) << seed;
    ASSERT_EQ(derived->use.spot.cost + derived->use.on_demand.cost, sum) << seed;
  }
}

TEST(BillingProperty, AnyCutOfALineAddsUp) {
  const PriceLists prices = Prices();
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Draw random(seed);
    const auto life = RandomLife(random);
    for (const LedgerEntry& line : EntriesOfJob(prices, life.back(), kStart)) {
      Money sum;
      Millis time{0};
      const WallTime last = line.end + Millis(random.Below(5'000));
      for (WallTime from = line.start - Millis(random.Below(5'000)); from < last;) {
        const WallTime to = from + Millis(1 + random.Below(20'000'000));
        sum += CostWithin(line, from, to);
        time += TimeWithin(line, from, to);
        from = to;
      }
      ASSERT_EQ(sum, CostOfEntry(line)) << seed;
      ASSERT_EQ(time, line.end - line.start) << seed;
    }
  }
}

}  // namespace
}  // namespace sabia::cost
