// Counts requests by service, action and status, with their latency.
//
// Recording is a few relaxed atomic additions. The number of series is bounded: beyond it, requests
// count as action "other". Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "wire/prometheus.h"

namespace sabia::wire {

class RequestMetrics {
 public:
  // service and action come from schemas and our own routes, never from a client's bytes.
  struct Call {
    std::string_view service;
    std::string_view action;
    unsigned status = 0;
    std::chrono::nanoseconds latency{};
  };
  void Record(const Call& call);
  void Write(PrometheusText& out) const;

  static constexpr std::array<double, 12> kBounds{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005,
                                                  0.01,   0.05,    0.1,    0.5,   1,      10};

 private:
  struct Series {
    std::string service;
    std::string action;
    std::array<std::atomic<std::uint64_t>, 6> by_class{};  // [2]: 2xx; [0]: no answer was sent
    std::array<std::atomic<std::uint64_t>, kBounds.size() + 1> latencies{};
    std::atomic<std::uint64_t> nanoseconds{0};
  };
  Series& Find(std::string_view service, std::string_view action);

  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, std::unique_ptr<Series>> series_;  // by "service/action"
};

}  // namespace sabia::wire
