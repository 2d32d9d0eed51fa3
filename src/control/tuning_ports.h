// What the controller of tuning jobs needs of the world, beyond records and the clock.
//
// Threading: implementations are thread-safe; calls may block. No effects: everything that a search
// does to the world is a commit (Records).
#pragma once

#include <string>
#include <vector>

#include "control/ports.h"

namespace sabia::control {

class TrialFacts {
 public:
  virtual ~TrialFacts() = default;
  // The values of a metric that a training job has emitted so far, in the order of their times.
  virtual Result<std::vector<double>> Curve(const std::string& training_job,
                                            const std::string& metric) = 0;
  // What a tuning job is tagged with now: its next training job gets the same tags.
  virtual Result<store::Tags> Tags(const std::string& arn) = 0;
};

struct TuningPorts {
  Records& records;
  TrialFacts& facts;
  env::Clock& clock;
};

}  // namespace sabia::control
