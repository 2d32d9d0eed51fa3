#include "env/background_thread.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <vector>

namespace sabia::env {
namespace {

constexpr Millis kLong{600'000};

// The rounds that were done, and a way to wait for them.
class Rounds {
 public:
  void Note(bool woken) {
    const std::lock_guard lock(mutex_);
    done_.push_back(woken);
    changed_.notify_all();
  }
  std::vector<bool> Await(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_.size() >= count; });
    return done_;
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return done_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> done_;
};

using Delay = std::optional<Millis>;

TEST(BackgroundThread, AWakeUpStartsARound) {
  Rounds rounds;
  BackgroundThread thread({},
                          [&](bool woken) -> Delay { return rounds.Note(woken), std::nullopt; });
  thread.Wake();
  EXPECT_EQ(rounds.Await(1), (std::vector<bool>{true}));
  thread.Wake();
  EXPECT_EQ(rounds.Await(2), (std::vector<bool>{true, true}));
}

TEST(BackgroundThread, TimeStartsARoundToo) {
  Rounds rounds;
  BackgroundThread thread({.first_after = Millis(1)}, [&](bool woken) -> Delay {
    rounds.Note(woken);
    return rounds.count() < 3 ? Millis(1) : kLong;
  });
  EXPECT_EQ(rounds.Await(3), (std::vector<bool>{false, false, false}));
  thread.Wake();
  EXPECT_EQ(rounds.Await(4).back(), true);
}

TEST(BackgroundThread, NoDelayIsNoWait) {
  Rounds rounds;
  BackgroundThread thread({.first_after = Millis(0), .linger = kLong}, [&](bool woken) -> Delay {
    rounds.Note(woken);
    return rounds.count() < 3 ? Delay(Millis(0)) : std::nullopt;
  });
  rounds.Await(3);
}

TEST(BackgroundThread, AWakeUpDuringARoundStartsOneMore) {
  Rounds rounds;
  std::promise<void> inside, go_on;
  BackgroundThread thread({.first_after = Millis(0)}, [&](bool woken) -> Delay {
    rounds.Note(woken);
    if (rounds.count() == 1) {
      inside.set_value();
      go_on.get_future().wait();
    }
    return std::nullopt;
  });
  inside.get_future().wait();
  thread.Wake();
  thread.Wake();
  go_on.set_value();
  EXPECT_EQ(rounds.Await(2), (std::vector<bool>{false, true}));
}

TEST(BackgroundThread, WakeUpsJoinWhileItLingers) {
  Rounds rounds;
  BackgroundThread thread({.first_after = {}, .linger = Millis(50)},
                          [&](bool woken) -> Delay { return rounds.Note(woken), std::nullopt; });
  for (int i = 0; i < 10; ++i) thread.Wake();
  rounds.Await(1);
  EXPECT_LE(rounds.count(), 2U);
}

TEST(BackgroundThread, ItEndsWhileItWaitsOrLingersAndTellsALongRound) {
  {
    BackgroundThread waits({}, [](bool) -> Delay { return std::nullopt; });
  }
  {
    BackgroundThread lingers({.first_after = {}, .linger = kLong},
                             [](bool) -> Delay { return std::nullopt; });
    lingers.Wake();
  }
  std::promise<void> inside;
  std::unique_ptr<BackgroundThread> works;
  std::promise<void> made;
  works = std::make_unique<BackgroundThread>(BackgroundThread::Options{.first_after = Millis(0)},
                                             [&](bool) -> Delay {
                                               made.get_future().wait();
                                               BackgroundThread* const self = works.get();
                                               inside.set_value();
                                               while (!self->stopping()) std::this_thread::yield();
                                               return Millis(0);
                                             });
  made.set_value();
  inside.get_future().wait();
  works.reset();
}

}  // namespace
}  // namespace sabia::env
