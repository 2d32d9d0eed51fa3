// Writes the Prometheus text format, version 0.0.4.
//
// Families in any order, the samples of one family together. Pure; thread-compatible.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sabia::wire {

class PrometheusText {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

  // type: "counter", "gauge" or "histogram". The samples that follow belong to this family.
  void Family(std::string_view name, std::string_view type, std::string_view help);
  void Sample(double value, const Labels& labels = {});
  // One series of a histogram: counts[i] observations of at most bounds[i], not cumulative; the
  // last count has no bound.
  struct Histogram {
    std::span<const double> bounds;
    std::span<const std::uint64_t> counts;  // one more than bounds
    double sum = 0;
  };
  void Sample(const Histogram& histogram, const Labels& labels);

  const std::string& text() const { return text_; }
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

 private:
  void Line(std::string_view suffix, const Labels& labels, double value);

  std::string family_;
  std::string text_;
};

}  // namespace sabia::wire
