#include "tuner/early_stopping.h"

#include <algorithm>
#include <cmath>

namespace sabia::tuner {
namespace {

// Nothing when the trial did not get that far.
std::optional<double> RunningAverage(const Trial& trial, std::int64_t resource) {
  double sum = 0;
  int count = 0;
  bool reached = false;
  for (const Measurement& measurement : trial.curve) {
    reached |= measurement.resource >= resource;
    if (measurement.resource > resource || !std::isfinite(measurement.value)) continue;
    sum += measurement.value;
    ++count;
  }
  if (!reached || count == 0) return {};
  return sum / count;
}

// Of an even number: the mean of the middle two.
double Median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

}  // namespace

std::optional<EarlyStop> MedianRule(const Trial& running, std::span<const Trial> previous,
                                    const EarlyStoppingOptions& options) {
  if (running.curve.empty()) return {};
  const Measurement& latest = running.curve.back();
  std::vector<double> averages;
  for (const Trial& trial : previous) {
    if (trial.number == running.number) continue;
    if (const auto average = RunningAverage(trial, latest.resource)) averages.push_back(*average);
  }
  if (averages.size() < std::max<std::size_t>(1, options.previous_min)) return {};
  const double median = Median(std::move(averages));
  // A value that is no number is worse than any.
  const bool worse =
      options.goal == Goal::kMinimize ? !(latest.value <= median) : !(latest.value >= median);
  if (!worse) return {};
  return EarlyStop{.resource = latest.resource, .value = latest.value, .median = median};
}

}  // namespace sabia::tuner
