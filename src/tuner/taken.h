// Which configurations are tried already, so that none is tried twice.
#pragma once

#include <set>

#include "tuner/strategy.h"

namespace sabia::tuner {

class Taken {
 public:
  Taken() = default;
  explicit Taken(const Trials& trials);
  bool Has(const Configuration& values) const { return values_.contains(values); }
  void Add(const Configuration& values) { values_.insert(values); }
  std::size_t size() const { return values_.size(); }

 private:
  std::set<Configuration> values_;
};

// The first configuration of a countable space that is free; nothing when all are taken. An
// uncountable space gives nothing either: it is exhausted only by a user who repeats one value for
// ever.
std::optional<Suggestion> FirstFree(const Space& space, const Taken& taken,
                                    const std::string& reason);

}  // namespace sabia::tuner
