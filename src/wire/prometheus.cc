#include "wire/prometheus.h"

#include <fmt/format.h>

#include "base/check.h"

namespace sabia::wire {
namespace {

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

void PrometheusText::Family(std::string_view name, std::string_view type, std::string_view help) {
  family_ = name;
  text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void PrometheusText::Line(std::string_view suffix, const Labels& labels, double value) {
  text_.append(family_).append(suffix);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    text_ +=
        fmt::format("{}{}=\"{}\"", i == 0 ? "{" : ",", labels[i].first, Escaped(labels[i].second));
  }
  text_ += fmt::format("{} {}\n", labels.empty() ? "" : "}", value);
}

void PrometheusText::Sample(double value, const Labels& labels) { Line("", labels, value); }

void PrometheusText::Sample(const Histogram& histogram, const Labels& labels) {
  CHECK(histogram.counts.size() == histogram.bounds.size() + 1);
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    total += histogram.counts[i];
    const std::string bound =
        i < histogram.bounds.size() ? fmt::format("{}", histogram.bounds[i]) : std::string("+Inf");
    Labels with_bound = labels;
    with_bound.emplace_back("le", bound);
    Line("_bucket", with_bound, static_cast<double>(total));
  }
  Line("_sum", labels, histogram.sum);
  Line("_count", labels, static_cast<double>(total));
}

}  // namespace sabia::wire
