#include "fleet/capacity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace sabia::fleet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

Capacity::Ticket Job(const std::string& name, int second, double vcpus) {
  return {name, FromUnixMillis(second * 1000), vcpus, static_cast<std::int64_t>(vcpus) * kGiB,
          false};
}

Capacity EightCpus() { return Capacity({8, 8 * kGiB, 0}, {.overcommit = 1}); }

TEST(Capacity, AdmitsWhatFitsInTheOrderOfCreation) {
  Capacity capacity = EightCpus();
  capacity.Enqueue(Job("late", 3, 4));
  capacity.Enqueue(Job("early", 1, 4));
  capacity.Enqueue(Job("middle", 2, 4));
  EXPECT_THAT(capacity.Admit(), ElementsAre("early", "middle"));
  EXPECT_THAT(capacity.Admit(), IsEmpty());
  capacity.Release("early");
  EXPECT_THAT(capacity.Admit(), ElementsAre("late"));
}

TEST(Capacity, DoesNotLetSmallJobsOvertakeALargeOne) {
  Capacity capacity = EightCpus();
  capacity.Enqueue(Job("running", 1, 4));
  EXPECT_THAT(capacity.Admit(), ElementsAre("running"));
  capacity.Enqueue(Job("large", 2, 8));
  capacity.Enqueue(Job("small", 3, 1));
  EXPECT_THAT(capacity.Admit(), IsEmpty());
  capacity.Release("running");
  EXPECT_THAT(capacity.Admit(), ElementsAre("large"));
}

TEST(Capacity, LetsAnInterruptedJobResumeBeforeYoungerOnes) {
  Capacity capacity = EightCpus();
  capacity.Enqueue(Job("old", 1, 8));
  capacity.Admit();
  capacity.Enqueue(Job("young", 2, 8));
  capacity.Release("old");
  capacity.Enqueue(Job("old", 1, 8));
  EXPECT_THAT(capacity.Admit(), ElementsAre("old"));
}

TEST(Capacity, KeepsAPlaceAndALeaseWhenAskedTwice) {
  Capacity capacity = EightCpus();
  capacity.Enqueue(Job("a", 1, 8));
  capacity.Enqueue(Job("a", 1, 8));
  EXPECT_EQ(capacity.waiting(), 1u);
  EXPECT_THAT(capacity.Admit(), ElementsAre("a"));
  capacity.Enqueue(Job("a", 1, 8));
  EXPECT_EQ(capacity.waiting(), 0u);
  capacity.Release("a");
  capacity.Release("a");
  capacity.Enqueue(Job("b", 1, 8));
  EXPECT_THAT(capacity.Admit(), ElementsAre("b"));
}

TEST(Capacity, CountsLeasesThatItFindsEvenBeyondTheLimit) {
  Capacity capacity = EightCpus();
  capacity.Adopt(Job("a", 1, 8));
  capacity.Adopt(Job("b", 2, 8));
  capacity.Enqueue(Job("c", 3, 1));
  EXPECT_THAT(capacity.Admit(), IsEmpty());
  capacity.Release("a");
  EXPECT_THAT(capacity.Admit(), IsEmpty());
  capacity.Release("b");
  EXPECT_THAT(capacity.Admit(), ElementsAre("c"));
}

TEST(Capacity, RunsAJobThatNeedsEverythingAlone) {
  Capacity capacity = EightCpus();
  capacity.Enqueue(Job("small", 1, 1));
  capacity.Admit();
  Capacity::Ticket huge = Job("huge", 2, 64);
  huge.alone = true;
  capacity.Enqueue(huge);
  EXPECT_THAT(capacity.Admit(), IsEmpty());
  EXPECT_THAT(capacity.WaitReason("huge"), HasSubstr("the whole machine"));
  capacity.Release("small");
  EXPECT_THAT(capacity.Admit(), ElementsAre("huge"));
  capacity.Enqueue(Job("next", 3, 1));
  EXPECT_THAT(capacity.Admit(), IsEmpty());
}

TEST(Capacity, OvercommitsByTheFactor) {
  Capacity capacity({2, 2 * kGiB, 0}, {.overcommit = 4});
  for (int i = 0; i < 5; ++i) capacity.Enqueue(Job(std::to_string(i), i, 2));
  EXPECT_EQ(capacity.Admit().size(), 4u);
}

TEST(Capacity, OffersNothingWhenTheFactorIsZero) {
  Capacity capacity({2, 2 * kGiB, 0}, {.overcommit = 0});
  Capacity::Ticket huge = Job("huge", 1, 64);
  huge.alone = true;
  capacity.Enqueue(huge);
  capacity.Enqueue(Job("small", 2, 1));
  EXPECT_THAT(capacity.Admit(), IsEmpty());
  EXPECT_THAT(capacity.WaitReason("small"),
              HasSubstr("offers nothing at present; 1 job waits before it"));
}

TEST(Capacity, TellsWhatIsWaitedForAndThePlaceInTheQueue) {
  Capacity capacity = EightCpus();
  for (int i = 0; i < 120; ++i) capacity.Enqueue(Job(std::to_string(i), i, 8));
  capacity.Admit();
  EXPECT_EQ(capacity.WaitReason("1"),
            "it needs 8 vCPU and 8.0 GiB; in use are 8 vCPU and 8.0 GiB of 8 vCPU and 8.0 GiB; it "
            "is next in the queue");
  EXPECT_THAT(capacity.WaitReason("2"), HasSubstr("1 job waits before it"));
  EXPECT_THAT(capacity.WaitReason("3"), HasSubstr("2 jobs wait before it"));
  EXPECT_THAT(capacity.WaitReason("119"), HasSubstr("more than 100 jobs wait before it"));
  EXPECT_EQ(capacity.WaitReason("0"), "") << "it does not wait";
  EXPECT_THAT(capacity.Head(2), ElementsAre("1", "2"));
}

// Goal: no lease beyond the limits, no starvation, whatever the order of events.
// Method: random arrivals and releases from one seed; after each, every invariant is checked.
TEST(Capacity, HoldsItsLimitsUnderRandomLoadAndStarvesNobody) {
  std::mt19937 random(7);
  Capacity capacity = EightCpus();
  std::map<std::string, double> running;
  int created = 0;
  std::size_t finished = 0;
  for (int step = 0; step < 5000; ++step) {
    if (random() % 2 == 0 && created < 1000) {
      capacity.Enqueue(
          Job(std::to_string(created), created, static_cast<double>(1 + random() % 8)));
      ++created;
    } else if (!running.empty()) {
      const auto victim = std::next(running.begin(), random() % running.size());
      capacity.Release(victim->first);
      running.erase(victim);
      ++finished;
    }
    const auto head = capacity.Head(1);
    for (const std::string& job : capacity.Admit()) running[job] = 0;
    if (!head.empty() && running.empty())
      FAIL() << "nothing runs although '" << head[0] << "' waits";
    ASSERT_LE(running.size(), 8u);
  }
  while (!running.empty()) {
    capacity.Release(running.begin()->first);
    running.erase(running.begin());
    ++finished;
    for (const std::string& job : capacity.Admit()) running[job] = 0;
  }
  EXPECT_EQ(finished, static_cast<std::size_t>(created));
  EXPECT_EQ(capacity.waiting(), 0u);
}

Offer OfferOf(MachineSize machine, CapacityOptions options = {}) {
  return {machine, options, model::InstanceCatalog::BuiltIn()};
}

model::TrainingJob JobOn(json::object resources) {
  model::TrainingJob job;
  job.request = {{"ResourceConfig", std::move(resources)}};
  return job;
}

TEST(Demand, IsOneSlicePerInstance) {
  const Demand demand = DemandOf(JobOn({{"InstanceType", "ml.m5.large"}, {"InstanceCount", 2}}),
                                 OfferOf({4, 16 * kGiB, 0}));
  ASSERT_EQ(demand.slices.size(), 2u);
  EXPECT_EQ(demand.slices[0].group, "homogeneousCluster");
  EXPECT_EQ(demand.vcpus, 4);
  EXPECT_EQ(demand.memory_bytes, 16 * kGiB);
  EXPECT_THAT(demand.notes, IsEmpty());
  EXPECT_EQ(demand.never, "");
}

TEST(Demand, OfGroupsNumbersInstancesOverAllOfThem) {
  const json::array groups = {
      {{"InstanceGroupName", "lead"}, {"InstanceType", "ml.m5.large"}, {"InstanceCount", 1}},
      {{"InstanceGroupName", "work"}, {"InstanceType", "ml.c5.xlarge"}, {"InstanceCount", 2}}};
  const Demand demand =
      DemandOf(JobOn({{"InstanceGroups", groups}}), OfferOf({8, 64 * kGiB, 0}, {}));
  ASSERT_EQ(demand.slices.size(), 3u);
  EXPECT_EQ(demand.slices[0].group, "lead");
  EXPECT_EQ(demand.slices[2].group, "work");
  EXPECT_EQ(demand.slices[2].instance_type, "ml.c5.xlarge");
}

TEST(Demand, LargerThanTheMachineRunsWithWhatIsThereAndSaysSo) {
  const auto job = JobOn({{"InstanceType", "ml.g4dn.2xlarge"}, {"InstanceCount", 1}});
  const Demand demand = DemandOf(job, OfferOf({2, 4 * kGiB, 0}, {}));
  EXPECT_EQ(demand.slices[0].vcpus, 2);
  EXPECT_EQ(demand.slices[0].memory_bytes, 4 * kGiB);
  EXPECT_THAT(demand.notes,
              ElementsAre(HasSubstr("ml.g4dn.2xlarge has 8 vCPU and 32.0 GiB, this machine 2 vCPU"),
                          HasSubstr("ml.g4dn.2xlarge has 1 GPU, this machine none")));
  const Demand refused = DemandOf(job, OfferOf({2, 4 * kGiB, 0}, {.refuse_larger = true}));
  EXPECT_THAT(refused.never, HasSubstr("this machine 2 vCPU"));
}

TEST(Demand, OfMoreInstancesThanTheMachineEverHasRunsAlone) {
  const auto job = JobOn({{"InstanceType", "ml.m5.large"}, {"InstanceCount", 20}});
  EXPECT_TRUE(DemandOf(job, OfferOf({2, 8 * kGiB, 0}, {})).alone);
  EXPECT_FALSE(DemandOf(job, OfferOf({2, 8 * kGiB, 0}, {.overcommit = 20})).alone);
}

TEST(Demand, OfAnUnknownTypeOrNoInstanceCanNeverBeMet) {
  EXPECT_THAT(
      DemandOf(JobOn({{"InstanceType", "ml.zz1.large"}, {"InstanceCount", 1}}), OfferOf({})).never,
      HasSubstr("ml.zz1.large"));
  EXPECT_NE(
      DemandOf(JobOn({{"InstanceType", "ml.m5.large"}, {"InstanceCount", 0}}), OfferOf({})).never,
      "");
  EXPECT_NE(DemandOf(model::TrainingJob{}, OfferOf({})).never, "");
}

}  // namespace
}  // namespace sabia::fleet
