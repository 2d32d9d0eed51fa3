// What the tuner's benchmark optimises: a table of measured trainings, or a BBOB function.
#pragma once

#include <memory>
#include <string>

#include "tuner/space.h"

namespace sabia::bench {

// A problem to minimise. Immutable, thread-safe.
class Problem {
 public:
  virtual ~Problem() = default;
  virtual const tuner::Space& space() const = 0;
  virtual const std::vector<tuner::ParameterRange>& ranges() const = 0;
  virtual double Evaluate(const tuner::Configuration& values) const = 0;
  double best() const { return best_; }      // regret 0
  double median() const { return median_; }  // regret 1

 protected:
  double best_ = 0;
  double median_ = 1;
};

// "bbob:FUNCTION:DIMENSIONS:SEED", or the path of a table: a header of NAME:KIND (linear, log, int,
// logint, categorical, ordinal) and `objective`, then one configuration a line. A grid is looked
// up; a table of random configurations answers with its nearest row.
Result<std::unique_ptr<Problem>> OpenProblem(const std::string& name);

}  // namespace sabia::bench
