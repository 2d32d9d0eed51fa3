// Watches every commit of a simulated world and says what must never happen.
//
// Of training jobs: no step that model::kTrainingEdges does not have, nothing that was acknowledged
// is forgotten (the request, a wish to stop, attempts, statuses), no second in two attempts, no
// time that goes back. Of warm pools: only jobs that have ended have one that waits, it is taken by
// one job, and that job says so; after its end it does not change any more. Of leases: one instance
// at a time per host of a job, never more than the machine has. Of the ledger: a line appears once,
// with the commit that ends its attempt or its retention, and the lines of a job add up to those
// times its instances. A digest of everything that was
// committed tells two runs apart.
//
// Threading: confined.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/instance_record.h"
#include "model/training_job.h"
#include "store/resources.h"

namespace sabia::sim {

class Witness {
 public:
  explicit Witness(double vcpus) : vcpus_(vcpus) {}

  // becomes: null when the row was deleted. `now`: for the violations.
  void Saw(const store::Change& change, const store::Resource* becomes, WallTime now);

  // Of live jobs, as last committed.
  const std::map<std::string, model::TrainingJob>& jobs() const { return jobs_; }
  // Ended since the last call, and nothing of them is left.
  std::vector<std::string> TakeEnded();
  // Ended since the last call, and their instances wait for others.
  std::vector<std::string> TakeKept();
  void Forget(const std::string& job);

  const std::vector<std::string>& violations() const { return violations_; }
  std::uint64_t digest() const { return digest_; }
  std::uint64_t commits() const { return commits_; }
  double leased_vcpus() const { return leased_; }

 private:
  void SawJob(const store::Resource& row);
  void CheckStep(const model::TrainingJob& before, const model::TrainingJob& after);
  void CheckPool(const model::TrainingJob& before, const model::TrainingJob& after);
  void CheckTaken(const model::TrainingJob& job);
  void SawLedger(const store::Change& change);
  void CheckBill(const model::TrainingJob& job);
  void SawLease(const store::Change& change, const store::Resource* becomes);
  void Violation(const std::string& what);
  void Digest(std::string_view text);

  const double vcpus_;
  WallTime now_;
  std::map<std::string, model::TrainingJob> jobs_;
  std::map<std::string, model::InstanceRecord> leases_;
  std::map<std::string, std::string> hosts_;  // job and host → lease
  double leased_ = 0;
  // What the ledger says of a live job.
  struct Bill {
    std::set<std::pair<std::string, model::LedgerKind>> lines;
    Millis billed{0};
  };
  std::map<std::string, Bill> bills_;
  std::vector<std::string> ended_;
  std::vector<std::string> kept_;
  std::map<std::string, std::string> taken_by_;  // whose pool → who took it
  std::vector<std::string> violations_;
  std::uint64_t digest_ = 14695981039346656037u;  // FNV-1a
  std::uint64_t commits_ = 0;
};

}  // namespace sabia::sim
