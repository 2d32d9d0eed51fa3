#include "channels/pipe_meter.h"

#include <gtest/gtest.h>

#include <optional>

namespace sabia::channels {
namespace {

using State = PipeMeter::State;
using End = PipeMeter::Epoch::End;

MonoTime At(int ms) { return MonoTime(Millis(ms)); }

// In ms.
std::string Shown(const PipeStats& stats) {
  const auto ms = [](std::chrono::nanoseconds time) {
    return std::chrono::duration_cast<Millis>(time).count();
  };
  return fmt::format("unopened {} starved {} blocked {} moving {}", ms(stats.unopened),
                     ms(stats.starved), ms(stats.blocked), ms(stats.moving));
}

TEST(PipeMeter, CountsTheTimeOfEveryState) {
  PipeMeter meter;
  PipeMeter::Epoch epoch(meter, At(0));
  EXPECT_EQ(Shown(meter.Read(At(3))), "unopened 3 starved 0 blocked 0 moving 0");
  epoch.Open(At(10));
  epoch.Enter(State::kStarved, At(11));
  epoch.Enter(State::kMoving, At(31));
  epoch.Enter(State::kBlocked, At(34));
  EXPECT_EQ(Shown(meter.Read(At(40))), "unopened 10 starved 20 blocked 6 moving 4");
  epoch.Close(End::kDelivered, At(134));
  EXPECT_EQ(Shown(meter.Read(At(999))), "unopened 10 starved 20 blocked 100 moving 4");
  EXPECT_EQ(meter.Read(At(999)).served(), Millis(124));
}

TEST(PipeMeter, APipeThatRanEmptyStarvedForHalfTheTime) {
  PipeMeter meter;
  PipeMeter::Epoch epoch(meter, At(0));
  epoch.Open(At(0));
  epoch.Enter(State::kMoving, At(10));
  epoch.RanEmpty(At(30));
  epoch.Close(End::kCut, At(31));
  EXPECT_EQ(Shown(meter.Read(At(50))), "unopened 0 starved 10 blocked 0 moving 21");
  EXPECT_EQ(meter.Read(At(50)).cut, 1u);
}

TEST(PipeMeter, UnopenedIsWhenNothingIsRead) {
  PipeMeter meter;
  std::optional<PipeMeter::Epoch> first(std::in_place, meter, At(0));
  first->Open(At(5));
  PipeMeter::Epoch second(meter, At(5));  // stands ready while the first is read
  EXPECT_EQ(Shown(meter.Read(At(9))), "unopened 5 starved 0 blocked 0 moving 4");
  first->Close(End::kDelivered, At(10));
  first.reset();
  EXPECT_EQ(Shown(meter.Read(At(13))), "unopened 8 starved 0 blocked 0 moving 5");
  second.Open(At(20));
  second.Close(End::kUnknown, At(21));
  EXPECT_EQ(Shown(meter.Read(At(30))), "unopened 15 starved 0 blocked 0 moving 6");
  EXPECT_EQ(meter.Read(At(30)).opened, 2u);
  EXPECT_EQ(meter.Read(At(30)).delivered, 1u);
}

}  // namespace
}  // namespace sabia::channels
