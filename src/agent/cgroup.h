// Limits on memory, CPU and processes through control groups: v1, v2, or both side by side.
//
// A group named sabia-<instance> is made in every hierarchy that has one of the controllers, below
// the agent's own group (which is below what the machine's owner allows). What cannot be enforced
// is said in notes(), never an error: a laptop without delegated groups must still run jobs.
//
// Threading: thread-compatible. Cleanup may be repeated and copes with groups of an earlier agent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "env/files.h"

namespace sabia::agent {

struct CgroupLimits {
  std::int64_t memory_bytes = 0;  // 0: none
  double cpus = 0;                // 0: none
  int processes = 0;              // 0: none
};

// One mounted hierarchy, and the group in it below which we may make ours.
struct CgroupHierarchy {
  env::Path base;
  bool v2 = false;
  env::Path mount;                       // v2: the top of the hierarchy
  std::vector<std::string> controllers;  // v1: of the mount
};

// From the text of /proc/self/mountinfo and /proc/self/cgroup. Pure.
std::vector<CgroupHierarchy> FindHierarchies(std::string_view mountinfo,
                                             std::string_view own_groups);

class Cgroup {
 public:
  explicit Cgroup(std::string name) : name_(std::move(name)) {}

  // Replaces leftovers of the same name.
  void Create(const std::vector<CgroupHierarchy>& hierarchies, const CgroupLimits& limits);
  // Files into which a new process with one thread writes "0". "tasks" and not "cgroup.procs":
  // moving oneself as a single thread waits for nothing, while the other waits 10 ms and more for
  // an RCU grace period.
  const std::vector<env::Path>& v1_tasks() const { return v1_tasks_; }
  // The directory into which a new process is born (CLONE_INTO_CGROUP), which waits for nothing
  // either; "" for none.
  const env::Path& v2_group() const { return v2_group_; }
  // Whether the kernel killed a process of the group for want of memory.
  bool OutOfMemory() const;
  // REQUIRES: no process left in the group (a straggler gets SIGKILL and makes the directory stay).
  void Remove();
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void CreateV1(const CgroupHierarchy& hierarchy, const CgroupLimits& limits);
  void CreateV2(const CgroupHierarchy& hierarchy, const CgroupLimits& limits);
  void LimitV2(const env::Path& group, const CgroupLimits& limits);
  bool Set(const env::Path& file, const std::string& value, std::string_view what);

  std::string name_;
  std::vector<env::Path> groups_;
  std::vector<env::Path> v1_tasks_;
  env::Path v2_group_;
  env::Path memory_v1_;
  env::Path memory_v2_;
  bool memory_ = false;
  bool cpu_ = false;
  bool processes_ = false;
  std::vector<std::string> notes_;
};

}  // namespace sabia::agent
