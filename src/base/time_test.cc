#include "base/time.h"

#include <gtest/gtest.h>

namespace sabia {
namespace {

TEST(Time, FormatsAndParsesEveryFormThatAwsUses) {
  const WallTime t = FromUnixMillis(1704164645678);
  EXPECT_EQ(FormatIso8601(t), "2024-01-02T03:04:05.678Z");
  EXPECT_EQ(FormatIso8601Seconds(t), "2024-01-02T03:04:05Z");
  EXPECT_EQ(FormatBasicIso8601(t), "20240102T030405Z");
  EXPECT_EQ(FormatRfc1123(t), "Tue, 02 Jan 2024 03:04:05 GMT");
  EXPECT_EQ(ParseIso8601("2024-01-02T03:04:05.678Z").value(), t);
  EXPECT_EQ(ParseIso8601("2024-01-02T05:04:05.678+02:00").value(), t);
  EXPECT_EQ(ParseBasicIso8601("20240102T030405Z").value(), FromUnixMillis(1704164645000));
  EXPECT_EQ(ParseRfc1123("Tue, 02 Jan 2024 03:04:05 GMT").value(), FromUnixMillis(1704164645000));
}

TEST(Time, RefusesWhatIsNoTime) {
  EXPECT_FALSE(ParseIso8601("yesterday"));
  EXPECT_FALSE(ParseIso8601("2024-01-02T03:04:05"));
  EXPECT_FALSE(ParseBasicIso8601("20240102T030405"));
  EXPECT_FALSE(ParseRfc1123("02 Jan 2024"));
}

}  // namespace
}  // namespace sabia
