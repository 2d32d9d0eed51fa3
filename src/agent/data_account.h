// What is told about a channel whose data comes while the program runs (Pipe, and FastFile from
// outside): metric lines for CloudWatch, and the sentence for a program
// that was starved.
//
// Metrics are those of instances: in the namespace of training jobs, with the dimension Host
// ("<job>/algo-1") and Channel. All are sums over the time since the line before, so that the Sum
// over any period is what happened in it: InputBytes, InputObjects, InputEpochs (opened),
// InputStarvedTime, InputBlockedTime (seconds); InputThroughput is bytes per second over that time.
// FastFile has InputReads, InputPrefetchHits (counts) and InputFetchedBytes instead of InputEpochs
// and InputBlockedTime.
//
// Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/instance.h"

namespace sabia::agent {

// How often the metrics are written: the resolution of AWS's instance metrics.
inline constexpr Millis kDataMetricsInterval{60'000};
// A program that waited for data, or whose pipe stood empty, for more than this share of its time
// was starved …
inline constexpr double kStarvedShare = 0.2;
// … unless it was over so soon that the share means nothing.
inline constexpr Millis kStarvedLeast{5'000};

struct DataInterval {
  std::string host;  // "<job>/algo-1"
  WallTime end;
  Millis length{0};
};
// JSON lines for metrics.log. before: the same channel at the beginning of the interval.
std::string DataMetricLines(const DataInterval& interval, const model::ChannelReport& before,
                            const model::ChannelReport& now);

// trained: how long the program ran. Nothing when it was not starved.
std::optional<std::string> StarvedNote(const model::ChannelSpec& channel,
                                       const model::ChannelReport& report, Millis trained,
                                       bool remote);

}  // namespace sabia::agent
