// Who gets a slice of the machine next: first come, first served, all instances of a job or none.
//
// Strictly in the order of creation: a large job at the head is never overtaken by small ones
// behind it, so it cannot starve; and a job that was interrupted is older than those that came
// meanwhile, so it resumes before them. Leases are records of the store; this object only counts
// them, and is filled again from the records after a restart.
//
// Threading: loop-confined. No I/O, no clock. Cost: O(log n) per change; waiting costs nothing.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/time.h"
#include "fleet/demand.h"

namespace sabia::fleet {

class Capacity {
 public:
  Capacity(MachineSize machine, CapacityOptions options);

  struct Ticket {
    std::string job;
    WallTime created;
    double vcpus = 0;
    std::int64_t memory_bytes = 0;
    bool alone = false;
  };
  // Joins the queue at the place of its creation time. A job that waits or holds a lease already is
  // left as it is.
  void Enqueue(Ticket ticket);
  // A lease that a record tells of; counts even beyond the limits.
  void Adopt(Ticket ticket);
  // Leaves the queue or gives the lease back; a stranger is fine.
  void Release(std::string_view job);

  // Gives leases to the head of the queue for as long as it fits; the jobs that got one.
  std::vector<std::string> Admit();
  // The same in single steps, for who has more to say about it. The job at the head; "" for none.
  const std::string& Next() const;
  // Whether it would fit if these leases were given back.
  bool NextFits(const std::set<std::string>& without = {}) const;
  void AdmitNext();  // REQUIRES: there is one
  // A lease goes from one job to another, wherever that one is, and becomes what its ticket says.
  void HandOver(std::string_view from, Ticket to);
  // REQUIRES: the job waits.
  const Ticket& Waiting(std::string_view job) const;
  // REQUIRES: the job holds one.
  const Ticket& Lease(std::string_view job) const;

  bool Holds(std::string_view job) const { return leases_.contains(job); }
  bool Waits(std::string_view job) const { return places_.contains(job); }
  // What a waiting job waits for, and where it stands: "needs …; free are …; 2 jobs wait before
  // it".
  std::string WaitReason(std::string_view job) const;
  // The jobs at the head of the queue, at most `limit`.
  std::vector<std::string> Head(std::size_t limit) const;
  std::size_t waiting() const { return queue_.size(); }

 private:
  using Place = std::pair<WallTime, std::string>;  // creation, name: total order
  bool Fits(const Ticket& ticket, const std::set<std::string>& without) const;

  const MachineSize machine_;
  const CapacityOptions options_;
  const double vcpus_;
  const std::int64_t memory_bytes_;
  double used_vcpus_ = 0;
  std::int64_t used_memory_ = 0;
  std::map<Place, Ticket> queue_;
  std::map<std::string, Place, std::less<>> places_;
  std::map<std::string, Ticket, std::less<>> leases_;
};

}  // namespace sabia::fleet
