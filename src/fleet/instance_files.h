// The daemon's side of an instance directory (model/instance.h): it writes the specification and
// the orders, reads the report, and sees by the lock whether an agent lives.
//
// Nothing written here needs to survive power loss: agents do not either, and a specification is
// made again from the job's record. Every call may be repeated.
//
// Threading: thread-safe. Errors: those of env::Files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "env/clock.h"
#include "env/files.h"
#include "model/instance.h"
#include "store/paths.h"

namespace sabia::fleet {

struct Preparation {
  model::InstanceSpec spec;
  std::map<std::string, std::string> listings;  // file name → content
};

struct Observation {
  bool locked = false;  // an agent lives in the directory
  std::optional<model::Report>
      report;  // nothing also when it cannot be read: an agent writes it whole or not at all
  std::optional<model::Orders> orders;  // as last given; merge_from holds instance ids
  std::optional<WallTime> last_seen;    // last change of anything that the agent writes
  std::string last_words;  // end of what the agent wrote to standard error, when it left no report
  std::uint64_t metrics_bytes = 0;  // length of metrics.log
};

class InstanceFiles {
 public:
  virtual ~InstanceFiles() = default;
  virtual env::Path Directory(const std::string& id) const = 0;
  virtual Status Prepare(const std::string& id, const Preparation& preparation) = 0;
  // Replaces the orders and pokes the agent. merge_from holds instance ids.
  virtual Status Give(const std::string& id, const model::Orders& orders) = 0;
  // The lock is looked at before the report is read, so a free lock means that the report is the
  // last one. alive: the caller knows that an agent lives; its lock is not touched then, for an
  // agent that just starts must not find it held.
  virtual Result<Observation> Observe(const std::string& id, bool alive) = 0;
  // Bytes of metrics.log from an offset on, at most limit.
  virtual Result<std::string> ReadMetrics(const std::string& id, std::uint64_t from,
                                          std::size_t limit) = 0;
  // Takes the directory away for another instance, when this one is done and left nothing. Quick.
  // False: Remove it.
  virtual bool Keep(const std::string& id) {
    (void)id;
    return false;
  }
  // A missing directory is success.
  virtual Status Remove(const std::string& id) = 0;
  // Ids of all directories.
  virtual Result<std::vector<std::string>> List() = 0;
};

}  // namespace sabia::fleet
