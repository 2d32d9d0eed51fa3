// Metric definitions applied to log lines: the first group of each regex, read as a number.
//
// A line is tried as it is and, when it has TABs, with "#011" in their place, as TABs look in AWS
// log pipelines (the regexes of the built-in XGBoost expect that). The last match in a line counts.
// Matching is bounded in steps and in the length of line looked at, so that a bad regex costs its
// own job some CPU and nothing else.
//
// Threading: thread-compatible. Errors: kInvalidArgument names the metric whose regex does not
// compile.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/instance.h"

namespace sabia::agent {

struct MetricValue {
  std::size_t index = 0;  // of the definition
  double value = 0;
};

class MetricMatcher {
 public:
  static Result<std::unique_ptr<MetricMatcher>> Create(
      const std::vector<model::MetricDefinition>& definitions);
  ~MetricMatcher();
  std::vector<MetricValue> Match(std::string_view line) const;

 private:
  struct Compiled;
  MetricMatcher();
  std::vector<std::unique_ptr<Compiled>> compiled_;
};

}  // namespace sabia::agent
