#include "wire/request_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

namespace sabia::wire {
namespace {
constexpr std::size_t kSeriesMax = 1024;
}  // namespace

RequestMetrics::Series& RequestMetrics::Find(std::string_view service, std::string_view action) {
  std::string name;
  name.reserve(service.size() + action.size() + 1);
  name.append(service).append("/").append(action);
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = series_.find(name); found != series_.end()) return *found->second;
  }
  const std::unique_lock lock(mutex_);
  if (series_.size() >= kSeriesMax) {
    service = action = "other";
    name = "other/other";
  }
  std::unique_ptr<Series>& series = series_[name];
  if (!series) {
    series = std::make_unique<Series>();
    series->service = service;
    series->action = action;
  }
  return *series;
}

void RequestMetrics::Record(const Call& call) {
  Series& series = Find(call.service, call.action);
  const double seconds = std::chrono::duration<double>(call.latency).count();
  const auto bucket = std::lower_bound(kBounds.begin(), kBounds.end(), seconds) - kBounds.begin();
  const unsigned status_class = std::min(call.status / 100, 5U);
  series.by_class[status_class].fetch_add(1, std::memory_order_relaxed);
  series.latencies[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  series.nanoseconds.fetch_add(static_cast<std::uint64_t>(call.latency.count()),
                               std::memory_order_relaxed);
}

void RequestMetrics::Write(PrometheusText& out) const {
  const std::shared_lock lock(mutex_);
  std::map<std::string_view, const Series*> sorted;
  for (const auto& [name, series] : series_) sorted.emplace(name, series.get());
  out.Family("sabia_requests_total", "counter", "Requests by service, action and class of status.");
  for (const auto& [name, series] : sorted) {
    for (std::size_t i = 0; i < series->by_class.size(); ++i) {
      const auto count = series->by_class[i].load(std::memory_order_relaxed);
      const std::string code = i == 0 ? std::string("none") : fmt::format("{}xx", i);
      if (count == 0) continue;
      out.Sample(static_cast<double>(count),
                 {{"service", series->service}, {"action", series->action}, {"code", code}});
    }
  }
  out.Family("sabia_request_seconds", "histogram", "Latency of requests by service and action.");
  for (const auto& [name, series] : sorted) {
    std::array<std::uint64_t, kBounds.size() + 1> counts;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      counts[i] = series->latencies[i].load(std::memory_order_relaxed);
    }
    const double sum =
        static_cast<double>(series->nanoseconds.load(std::memory_order_relaxed)) * 1e-9;
    out.Sample(PrometheusText::Histogram{kBounds, counts, sum},
               {{"service", series->service}, {"action", series->action}});
  }
}

}  // namespace sabia::wire
