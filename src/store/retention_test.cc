#include "store/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "env/testing/manual_clock.h"
#include "store/testing/state.h"

namespace sabia::store {
namespace {

using ::testing::ElementsAre;

constexpr Seconds kDay{86'400};
const WallTime kStart = FromUnixMillis(1'700'006'400'000);  // the start of a day
const SeriesKey kKey{"n", "m", {{"Host", "x"}}};

class RetentionTest : public ::testing::Test {
 protected:
  void Put(WallTime time, double value, const std::string& unit = "") {
    ASSERT_TRUE(state_.series().Put({{kKey, {time, value, 1, value, value, unit}}}));
  }
  void Apply(WallTime now) {
    const Status applied = Retention::Apply(state_.database(), now, [] { return false; });
    ASSERT_TRUE(applied) << applied.error().message;
  }
  // "time since the start in seconds: sum/count min..max unit"
  std::vector<std::string> Points() {
    std::vector<std::string> out;
    const auto points = state_.series().Query(kKey, FromUnixMillis(0), kStart + 1000 * kDay);
    for (const Point& p : points.value()) {
      out.push_back(fmt::format("{}: {}/{} {}..{}{}", (p.time - kStart) / Millis(1000), p.value,
                                p.count, p.minimum, p.maximum, p.unit.empty() ? "" : " " + p.unit));
    }
    return out;
  }

  testing::TemporaryState state_;
};

TEST_F(RetentionTest, YoungPointsStayAsTheyAre) {
  Put(kStart + Seconds(1), 1);
  Put(kStart + Seconds(2), 2);
  Apply(kStart + 15 * kDay);
  EXPECT_THAT(Points(), ElementsAre("1: 1/1 1..1", "2: 2/1 2..2"));
}

TEST_F(RetentionTest, AfterFifteenDaysPointsOfFiveMinutesBecomeOnePerUnit) {
  Put(kStart + Seconds(1), 1);
  Put(kStart + Seconds(299), 5);
  Put(kStart + Seconds(30), 7, "Seconds");
  Put(kStart + Seconds(300), 2);
  Put(kStart + Seconds(600), 9);
  Apply(kStart + 15 * kDay + Seconds(600));
  EXPECT_THAT(Points(),
              ElementsAre("0: 6/2 1..5", "0: 7/1 7..7 Seconds", "300: 2/1 2..2", "600: 9/1 9..9"));
  Apply(kStart + 15 * kDay + Seconds(1200));
  EXPECT_THAT(Points(),
              ElementsAre("0: 6/2 1..5", "0: 7/1 7..7 Seconds", "300: 2/1 2..2", "600: 9/1 9..9"));
}

TEST_F(RetentionTest, ThenOnePerHourAndThenNone) {
  Put(kStart + Seconds(10), 1);
  Put(kStart + Seconds(1000), 3);
  Put(kStart + Seconds(3700), 4);
  Put(kStart + 2 * kDay, 5);
  Apply(kStart + 20 * kDay);
  EXPECT_EQ(Points().size(), 4u);
  Apply(kStart + 64 * kDay);
  EXPECT_THAT(Points(), ElementsAre("0: 4/2 1..3", "3600: 4/1 4..4", "172800: 5/1 5..5"));
  Apply(kStart + 456 * kDay);
  EXPECT_THAT(Points(), ElementsAre("172800: 5/1 5..5"));
  Apply(kStart + 458 * kDay);
  EXPECT_TRUE(state_.series().Find({}, nullptr, 10)->empty());
  EXPECT_TRUE(state_.series().Find({.dimensions = {{"Host", "x"}}}, nullptr, 10)->empty());
}

TEST_F(RetentionTest, CutShortItIsRepeatedWithTheSameEnd) {
  for (int day = 0; day < 4; ++day) Put(kStart + day * kDay + Seconds(10), day);
  int left = 5;
  const auto cut = [&left] { return --left <= 0; };
  ASSERT_TRUE(Retention::Apply(state_.database(), kStart + 30 * kDay, cut));
  Apply(kStart + 30 * kDay);
  EXPECT_THAT(Points(), ElementsAre("0: 0/1 0..0", "86400: 1/1 1..1", "172800: 2/1 2..2",
                                    "259200: 3/1 3..3"));
}

TEST_F(RetentionTest, ForgetsInstancesThatAreGone) {
  Resource instance;
  instance.kind = Kind::kInstance;
  instance.name = "lives";
  instance.document = "{}";
  ASSERT_TRUE(state_.resources().Commit({{Change::Op::kInsert, instance, {}, {}}}));
  for (const char* id : {"lives", "gone"}) ASSERT_TRUE(state_.series().Ingest(id, 0, 10, {}));
  Apply(kStart);
  EXPECT_EQ(state_.series().Offset("lives").value(), 10u);
  EXPECT_EQ(state_.series().Offset("gone").value(), 0u);
}

TEST_F(RetentionTest, TheThreadEndsAtOnce) {
  env::ManualClock clock;
  const Retention retention(state_.database(), clock);
}

}  // namespace
}  // namespace sabia::store
