#include "wire/runner_slots.h"

#include <gtest/gtest.h>

#include <thread>

namespace sabia::wire {
namespace {

constexpr Millis kLong{60'000};

class RunnerSlotsTest : public ::testing::Test {
 protected:
  std::atomic<int> calls_for_help_{0};
  RunnerSlots slots_{2, [this] { calls_for_help_.fetch_add(1); }};
};

TEST_F(RunnerSlotsTest, ParksWhoeverIsTooMany) {
  RunnerSlots::Runner first(slots_), second(slots_);
  EXPECT_TRUE(first.MayRun(kLong));
  EXPECT_TRUE(second.MayRun(kLong));
  RunnerSlots::Runner third(slots_);
  EXPECT_FALSE(third.MayRun(Millis(1)));
  EXPECT_EQ(slots_.parked(), 0u);  // its patience ended
  EXPECT_TRUE(first.MayRun(kLong));
}

TEST_F(RunnerSlotsTest, AParkedWorkerRunsWhileAnotherBlocks) {
  RunnerSlots::Runner first(slots_), second(slots_);
  std::atomic<bool> ran{false};
  std::thread third([&] {
    RunnerSlots::Runner runner(slots_);
    ran = runner.MayRun(kLong);
  });
  while (slots_.parked() == 0) std::this_thread::yield();
  EXPECT_FALSE(ran);
  first.Begin();
  first.BlockingBegins();
  third.join();
  EXPECT_TRUE(ran);
  first.BlockingEnds();
  first.End();
  EXPECT_TRUE(first.MayRun(kLong));
}

TEST_F(RunnerSlotsTest, ABlockerThatComesBackParksWhenItsPlaceIsTaken) {
  RunnerSlots::Runner first(slots_), second(slots_);
  first.BlockingBegins();
  RunnerSlots::Runner third(slots_);
  first.BlockingEnds();  // three run: it may finish what it does
  EXPECT_FALSE(first.MayRun(Millis(1)));
  EXPECT_TRUE(third.MayRun(kLong));
}

TEST_F(RunnerSlotsTest, CallsForHelpWhenNobodyIsParked) {
  RunnerSlots::Runner first(slots_), second(slots_);
  first.BlockingBegins();
  EXPECT_EQ(calls_for_help_, 1);
  first.BlockingEnds();
}

TEST_F(RunnerSlotsTest, RescueCountsWhoIsStuckAsBlocked) {
  RunnerSlots::Runner first(slots_), second(slots_);
  first.Begin();
  EXPECT_FALSE(slots_.Rescue());  // it may have begun a moment ago
  EXPECT_TRUE(slots_.Rescue());
  first.End();
  EXPECT_TRUE(first.MayRun(kLong));
  EXPECT_FALSE(slots_.Rescue());
}

TEST_F(RunnerSlotsTest, ABusyWorkerIsNotStuck) {
  RunnerSlots::Runner first(slots_), second(slots_);
  for (int i = 0; i < 5; ++i) {
    first.Begin();
    EXPECT_FALSE(slots_.Rescue());
    first.End();
  }
}

TEST_F(RunnerSlotsTest, CloseLetsEverybodyRun) {
  RunnerSlots::Runner first(slots_), second(slots_);
  std::thread third([&] {
    RunnerSlots::Runner runner(slots_);
    EXPECT_TRUE(runner.MayRun(kLong));
  });
  while (slots_.parked() == 0) std::this_thread::yield();
  slots_.Close();
  third.join();
}

TEST_F(RunnerSlotsTest, ManyThreadsThatBlockNowAndThenAllGetThrough) {
  constexpr int kThreads = 12, kPieces = 300;
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      RunnerSlots::Runner runner(slots_);
      for (int i = 0; i < kPieces;) {
        if (!runner.MayRun(Millis(50))) continue;
        runner.Begin();
        if ((i + t) % 3 == 0) {
          runner.BlockingBegins();
          std::this_thread::yield();
          runner.BlockingEnds();
        }
        runner.End();
        ++i;
      }
      done.fetch_add(1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, kThreads);
}

}  // namespace
}  // namespace sabia::wire
