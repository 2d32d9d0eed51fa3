// The warm pools that wait for a job, and which of them it gets.
//
// A job takes a pool that asks for exactly the same; among several, the one that has waited
// longest, for that one ends first. A pool that nobody takes counts as capacity in use. When the
// job at the head of the queue does not fit, the pools that were left longest ago are given up for
// it, and only as many as make it fit (docs/adr/0012-warm-pools.md).
//
// Threading: loop-confined. No I/O, no clock. Cost: O(pools) per question.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "plan/warm_pools.h"

namespace sabia::fleet {

class PoolBoard {
 public:
  // job: whose instances wait, since when. Repeating it changes nothing.
  void Offer(const std::string& job, plan::PoolKeys keys, WallTime since);
  void Withdraw(const std::string& job);  // a stranger is fine
  bool empty() const { return pools_.empty(); }

  std::optional<std::string> Match(const plan::PoolKeys& keys) const;
  // What a job would have had to ask for instead; "" when no pool is near.
  std::string NearMiss(const plan::PoolKeys& keys) const;
  std::vector<std::string> OldestFirst() const;

 private:
  struct Pool {
    plan::PoolKeys keys;
    WallTime since;
  };
  std::map<std::string, Pool> pools_;  // by job
};

}  // namespace sabia::fleet
