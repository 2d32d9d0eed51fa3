#include "control/training_controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/testing/world.h"

namespace sabia::control {
namespace {

using model::TrainingPhase;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::World;

std::vector<std::string> Statuses(const model::TrainingJob& job) {
  std::vector<std::string> out;
  for (const auto& transition : job.transitions) out.push_back(transition.status);
  return out;
}

TEST(TrainingController, BringsAJobToItsEndAndLeavesNothingBehind) {
  World world;
  world.Submit("job");
  ASSERT_TRUE(world.RunUntilQuiet());
  const auto job = world.Job("job");
  EXPECT_EQ(job.phase, TrainingPhase::kCompleted);
  EXPECT_THAT(Statuses(job),
              ElementsAre("Starting", "Downloading", "Training", "Uploading", "Completed"));
  EXPECT_TRUE(job.model_uploaded);
  EXPECT_THAT(job.final_metrics, SizeIs(1));
  EXPECT_THAT(world.metrics.points["job"], SizeIs(1));
  EXPECT_THAT(world.Violations(), IsEmpty());
}

TEST(TrainingController, NeedsFewCommitsForAShortJob) {
  World world;
  world.fleet.SetProgram("job", {Millis(0), Millis(0), Millis(0), Millis(0), Millis(0)});
  world.Submit("job");
  const std::size_t before = world.records.commits();
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_LE(world.records.commits() - before, 2u) << "placed, and completed";
}

TEST(TrainingController, RunsAGangTogether) {
  World world;
  world.Submit("job", {.hosts = 3});
  ASSERT_TRUE(world.RunUntil([&] { return world.Job("job").phase == TrainingPhase::kTraining; }));
  EXPECT_THAT(world.fleet.Running(), SizeIs(3));
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_EQ(world.Job("job").phase, TrainingPhase::kCompleted);
  EXPECT_THAT(world.Violations(), IsEmpty());
}

TEST(TrainingController, LetsJobsWaitForCapacityAndSaysSo) {
  World world({2, std::int64_t{8} << 30, 0});
  world.fleet.SetProgram("first", {.trains = Millis(5000)});
  world.Submit("first");
  world.clock.Advance(Millis(1));
  world.Submit("second");
  ASSERT_TRUE(world.RunUntil([&] { return world.Job("second").secondary_status == "Pending"; }));
  EXPECT_THAT(world.Job("second").transitions.back().message,
              HasSubstr("Training job waiting for capacity: it needs 2 vCPU and 8.0 GiB"));
  EXPECT_EQ(world.Job("first").phase, TrainingPhase::kTraining);
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_THAT(Statuses(world.Job("second")), ElementsAre("Starting", "Pending", "Downloading",
                                                         "Training", "Uploading", "Completed"));
  EXPECT_LE(*world.Job("first").attempts[0].ended, world.Job("second").attempts[0].launched);
  EXPECT_THAT(world.Violations(), IsEmpty());
}

TEST(TrainingController, LeavesThousandsOfWaitingJobsAlone) {
  World world({2, std::int64_t{8} << 30, 0});
  world.fleet.SetProgram("first", {.trains = Millis(3'000'000)});
  world.Submit("first");
  constexpr int kWaiting = 2000;
  for (int i = 0; i < kWaiting; ++i) {
    world.clock.Advance(Millis(1));
    world.Submit("job-" + std::to_string(i));
  }
  const auto settle = [&](Seconds span) {
    const WallTime end = world.clock.Wall() + span;
    ASSERT_TRUE(world.RunUntil([&] { return world.clock.Wall() >= end; }));
  };
  settle(Seconds(5));
  const std::size_t before = world.records.commits();
  settle(Seconds(60));
  EXPECT_LE(world.records.commits() - before, 8u * 7)
      << "only the head of the queue tells its position anew";
  EXPECT_EQ(world.Job("job-1999").phase, TrainingPhase::kQueued);
}

TEST(TrainingController, StopsARunningJobOnRequest) {
  World world;
  world.fleet.SetProgram("job", {.trains = Millis(1'000'000)});
  world.Submit("job");
  ASSERT_TRUE(world.RunUntil([&] { return world.Job("job").phase == TrainingPhase::kTraining; }));
  world.Edit("job", [&](auto& job) { job.stop_requested = world.clock.Wall(); });
  ASSERT_TRUE(world.RunUntilQuiet());
  const auto job = world.Job("job");
  EXPECT_THAT(Statuses(job),
              ElementsAre("Starting", "Downloading", "Training", "Stopping", "Stopped"));
  EXPECT_TRUE(job.model_uploaded);
  EXPECT_THAT(world.Violations(), IsEmpty());
}

TEST(TrainingController, StopsAJobThatWaits) {
  World world({2, std::int64_t{8} << 30, 0});
  world.fleet.SetProgram("first", {.trains = Millis(1'000)});
  world.Submit("first");
  world.clock.Advance(Millis(1));
  world.Submit("second");
  world.Turn();
  world.Edit("second", [&](auto& job) { job.stop_requested = world.clock.Wall(); });
  world.Turn();
  EXPECT_EQ(world.Job("second").phase, TrainingPhase::kStopped);
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_THAT(world.Violations(), IsEmpty());
}

TEST(TrainingController, InterruptsASpotJobAndResumesIt) {
  World world;
  world.fleet.SetProgram("job", {.trains = Millis(2'000), .restored_files = 3});
  world.Submit("job", {.spot = true, .max_wait = 3600});
  ASSERT_TRUE(world.RunUntil([&] { return world.Job("job").phase == TrainingPhase::kTraining; }));
  world.Edit("job", [&](auto& job) { job.interrupt_attempt = 1; });
  ASSERT_TRUE(world.RunUntilQuiet());
  const auto job = world.Job("job");
  EXPECT_THAT(Statuses(job),
              ElementsAre("Starting", "Downloading", "Training", "Interrupted", "Starting",
                          "Downloading", "Training", "Uploading", "Completed"));
  EXPECT_THAT(job.transitions[4].message, HasSubstr("restored 3 checkpoint files"));
  EXPECT_THAT(job.attempts, SizeIs(2));
  EXPECT_THAT(world.Violations(), IsEmpty());
}

TEST(TrainingController, RestartsAWholeSpotGangWhenOneHostIsLost) {
  World world;
  world.fleet.SetProgram("job", {.trains = Millis(2'000)});
  world.Submit("job", {.hosts = 2, .spot = true});
  ASSERT_TRUE(world.RunUntil([&] { return world.Job("job").phase == TrainingPhase::kTraining; }));
  world.fleet.Crash("000000000001-1-2");
  world.Turn();
  EXPECT_EQ(world.Job("job").secondary_status, "Interrupted") << "at once, not at the next sweep";
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_EQ(world.Job("job").phase, TrainingPhase::kCompleted);
  EXPECT_THAT(world.Violations(), IsEmpty());
}

TEST(TrainingController, FailsAJobWhoseDataIsGoneAndNamesTheChannel) {
  World world;
  world.Submit("job", {.channel = "s3://data/gone"});
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_EQ(world.Job("job").phase, TrainingPhase::kFailed);
  EXPECT_THAT(world.Job("job").failure_reason,
              HasSubstr("ClientError: Data download failed: channel 'train' (s3://data/gone): "));
  EXPECT_THAT(world.Violations(), IsEmpty());
}

TEST(TrainingController, FailsAJobWhoseAgentsNeverComeUp) {
  World world;
  world.fleet.SetProgram("job", {.never_comes_up = true});
  world.Submit("job");
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_EQ(world.Job("job").phase, TrainingPhase::kFailed);
  EXPECT_THAT(world.Job("job").failure_reason, HasSubstr("before it could begin"));
  EXPECT_THAT(world.Violations(), IsEmpty());
}

TEST(TrainingController, KillsAnAgentThatIgnoresItsOrders) {
  World world;
  world.fleet.SetProgram("job", {.trains = Seconds(100'000), .ignores_orders = true});
  world.Submit("job");
  ASSERT_TRUE(world.RunUntil([&] { return world.Job("job").phase == TrainingPhase::kTraining; }));
  world.Edit("job", [&](auto& job) { job.stop_requested = world.clock.Wall(); });
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_EQ(world.Job("job").phase, TrainingPhase::kStopped);
  EXPECT_THAT(world.Violations(), IsEmpty());
}

TEST(TrainingController, EndsASpotJobThatNeverGotCapacity) {
  World world({2, std::int64_t{8} << 30, 0});
  world.fleet.SetProgram("first", {.trains = Seconds(100)});
  world.Submit("first");
  world.clock.Advance(Millis(1));
  world.Submit("spot", {.spot = true, .max_runtime = 30, .max_wait = 60});
  ASSERT_TRUE(world.RunUntilQuiet());
  const auto job = world.Job("spot");
  EXPECT_THAT(Statuses(job), ElementsAre("Starting", "Stopping", "MaxWaitTimeExceeded"));
  EXPECT_EQ(job.transitions.back().start - job.created, Seconds(60));
  EXPECT_FALSE(model::BillableTime(job, world.clock.Wall()));
}

TEST(TrainingController, FailsAJobOnATypeThatNobodyKnows) {
  World world;
  world.Submit("job", {.instance_type = "ml.zz9.large"});
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_THAT(world.Job("job").failure_reason, HasSubstr("CapacityError"));
}

TEST(TrainingController, IgnoresPokesAndChangesOfStrangers) {
  World world;
  world.controller().Poke("");
  world.controller().Poke("ffffffffffff-1-1");
  world.controller().RecordChanged(store::Kind::kTrainingJob, "nobody");
  world.controller().RecordChanged(store::Kind::kInstance, "ffffffffffff-1-1");
  world.Turn();
  world.Submit("job");
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_EQ(world.Job("job").phase, TrainingPhase::kCompleted);
}

TEST(TrainingController, GivesTheHostsTheirSharesOfAShardedChannel) {
  World world;
  world.channels.files["s3://data/d"] = {{"a", 1, "/blobs/a", "data", "d/a", "e1"},
                                         {"b", 2, "/blobs/b", "data", "d/b", "e2"},
                                         {"c", 3, "/blobs/c", "data", "d/c", "e3"}};
  const json::object request{
      {"InputDataConfig",
       json::array{json::object{
           {"ChannelName", "train"},
           {"DataSource",
            json::object{{"S3DataSource",
                          json::object{{"S3Uri", "s3://data/d"},
                                       {"S3DataDistributionType", "ShardedByS3Key"},
                                       {"InstanceGroupNames", json::array{"g1", "g3"}}}}}}}}}};
  const std::vector<std::string> groups = {"g1", "g2", "g3"};
  const auto first = ChannelsOf(request, groups, 1, world.channels);
  const auto second = ChannelsOf(request, groups, 2, world.channels);
  const auto third = ChannelsOf(request, groups, 3, world.channels);
  ASSERT_TRUE(first && second && third);
  EXPECT_EQ(first->listings.at("channel-0.jsonl"),
            R"({"path":"a","size":1,"blob":"/blobs/a","bucket":"data","key":"d/a","etag":"e1"})"
            "\n"
            R"({"path":"c","size":3,"blob":"/blobs/c","bucket":"data","key":"d/c","etag":"e3"})"
            "\n");
  EXPECT_EQ(third->listings.at("channel-0.jsonl"),
            R"({"path":"b","size":2,"blob":"/blobs/b","bucket":"data","key":"d/b","etag":"e2"})"
            "\n");
  EXPECT_THAT(second->channels, IsEmpty()) << "its group does not get the channel";
  EXPECT_EQ(first->channels[0].distribution, "ShardedByS3Key");
}

TEST(TrainingController, LeavesSharesThatChangeWithTheEpochToTheAgents) {
  World world;
  world.channels.files["s3://data/d"] = {{"a", 1, "/blobs/a", "data", "d/a", "e1"},
                                         {"b", 2, "/blobs/b", "data", "d/b", "e2"}};
  const auto request = [](json::object channel, json::object source) {
    source["S3Uri"] = "s3://data/d";
    source["S3DataDistributionType"] = "ShardedByS3Key";
    channel["ChannelName"] = "train";
    channel["InputMode"] = "Pipe";
    channel["DataSource"] = json::object{{"S3DataSource", std::move(source)}};
    return json::object{{"InputDataConfig", json::array{std::move(channel)}}};
  };
  const std::vector<std::string> groups = {"g", "g"};
  const auto lines = [](const HostChannels& channels) {
    const std::string& text = channels.listings.at("channel-0.jsonl");
    return std::count(text.begin(), text.end(), '\n');
  };
  const auto shuffled = ChannelsOf(request({{"ShuffleConfig", json::object{{"Seed", 9}}}}, {}),
                                   groups, 2, world.channels);
  ASSERT_TRUE(shuffled);
  EXPECT_EQ(lines(*shuffled), 2);
  EXPECT_EQ(shuffled->channels[0].shuffle_seed, 9);
  EXPECT_EQ(shuffled->channels[0].share_host, 1);
  EXPECT_EQ(shuffled->channels[0].share_hosts, 2);
  const auto augmented = ChannelsOf(request({}, {{"S3DataType", "AugmentedManifestFile"},
                                                 {"AttributeNames", json::array{"x-ref"}}}),
                                    groups, 1, world.channels);
  ASSERT_TRUE(augmented);
  EXPECT_THAT(augmented->channels[0].attributes, ElementsAre("x-ref"));
  EXPECT_EQ(augmented->channels[0].share_hosts, 2);
  const auto plain = ChannelsOf(request({}, {}), groups, 2, world.channels);
  ASSERT_TRUE(plain);
  EXPECT_EQ(lines(*plain), 1);
  EXPECT_EQ(plain->channels[0].share_hosts, 1);
}

bool Waits(World& world, const std::string& name) { return model::HoldsPool(world.Job(name)); }

TEST(WarmPools, AreTakenByTheNextJobThatAsksForTheSame) {
  World world;
  world.Submit("a", {.keep_alive = 60});
  ASSERT_TRUE(world.RunUntil([&] { return Waits(world, "a"); }));
  world.Submit("b", {.keep_alive = 60, .volume = 2});
  ASSERT_TRUE(world.RunUntil([&] { return Waits(world, "b"); }));
  EXPECT_EQ(world.Job("b").warm_pool->taken_from, "");
  EXPECT_THAT(world.Job("b").notes,
              Contains(HasSubstr("the one of training job 'a' differs in VolumeSizeInGB")));
  world.Submit("c");
  ASSERT_TRUE(world.RunUntil([&] { return model::IsTerminal(world.Job("c").phase); }));
  EXPECT_EQ(world.Job("a").warm_pool->reused_by, "c");
  EXPECT_EQ(world.Job("c").warm_pool->state, model::WarmPoolState::kTerminated)
      << "it keeps nothing alive";
  EXPECT_EQ(world.fleet.warm_starts(), 1u);
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_THAT(world.Violations(), IsEmpty());
}

TEST(WarmPools, EndWhenAnAgentDies) {
  World world;
  world.Submit("a", {.hosts = 2, .keep_alive = 60});
  ASSERT_TRUE(world.RunUntil([&] { return Waits(world, "a"); }));
  world.fleet.Crash(world.fleet.Running().front());
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_THAT(world.Job("a").transitions.back().message, HasSubstr("was lost"));
  EXPECT_THAT(world.Violations(), IsEmpty()) << "the other agent is gone, too";
}

TEST(WarmPools, MakeRoomForAJobOfAnotherKindOldestFirst) {
  World world({4, std::int64_t{16} << 30, 0});
  for (const char* name : {"a", "b"}) {
    world.Submit(name, {.keep_alive = 60, .volume = name[0] - 'a' + 1});
    ASSERT_TRUE(world.RunUntil([&] { return Waits(world, name); }));
    world.clock.Advance(Seconds(5));
  }
  world.Submit("c", {.volume = 3});
  ASSERT_TRUE(world.RunUntil([&] { return model::IsTerminal(world.Job("c").phase); }));
  EXPECT_THAT(world.Job("a").transitions.back().message, HasSubstr("needs the capacity"));
  EXPECT_TRUE(Waits(world, "b")) << "one was enough";
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_THAT(world.Violations(), IsEmpty());
}

TEST(WarmPools, StayWhereGivingThemUpWouldNotHelp) {
  World world({4, std::int64_t{16} << 30, 0});
  world.fleet.SetProgram("long", {.trains = Millis(30'000)});
  world.Submit("long");
  world.Submit("a", {.keep_alive = 60});
  ASSERT_TRUE(world.RunUntil([&] { return Waits(world, "a"); }));
  world.Submit("wide", {.hosts = 2});
  world.Turn();
  world.clock.Advance(Seconds(1));
  world.Turn();
  EXPECT_TRUE(Waits(world, "a"));
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_EQ(world.Job("wide").phase, TrainingPhase::kCompleted);
  EXPECT_THAT(world.Violations(), IsEmpty());
}

TEST(WarmPools, GoBackWhenTheJobThatWasToTakeThemIsStopped) {
  World world({2, std::int64_t{8} << 30, 0});
  world.Submit("a", {.keep_alive = 60});
  ASSERT_TRUE(world.RunUntil([&] { return Waits(world, "a"); }));
  world.KillDaemon();
  world.Submit("b");
  world.Edit("b", [&](model::TrainingJob& job) { job.stop_requested = world.clock.Wall(); });
  world.StartDaemon();
  world.Turn();
  EXPECT_EQ(world.Job("b").phase, TrainingPhase::kStopped);
  EXPECT_TRUE(Waits(world, "a"));
  world.Submit("c");
  ASSERT_TRUE(world.RunUntilQuiet());
  EXPECT_EQ(world.Job("a").warm_pool->reused_by, "c");
  EXPECT_THAT(world.Violations(), IsEmpty());
}

TEST(WarmPools, EndAtOnceWhenTheirPeriodIsSetToZero) {
  World world;
  world.Submit("a", {.keep_alive = 600});
  ASSERT_TRUE(world.RunUntil([&] { return Waits(world, "a"); }));
  world.clock.Advance(Seconds(3));
  world.Edit("a", [&](model::TrainingJob& job) {
    job.request.Edit()["ResourceConfig"].as_object()["KeepAlivePeriodInSeconds"] = 0;
    job.warm_pool->updated = world.clock.Wall();
  });
  world.Turn();
  EXPECT_EQ(world.Job("a").warm_pool->state, model::WarmPoolState::kTerminated);
  EXPECT_GE(model::RetainedTime(*world.Job("a").warm_pool, world.clock.Wall()), Seconds(2));
  ASSERT_TRUE(world.RunUntilQuiet());
}

}  // namespace
}  // namespace sabia::control
