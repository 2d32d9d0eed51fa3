// Carries out the lifecycle rules of all buckets.
//
// A thread looks at every bucket with rules when it starts, when a bucket's rules change (Wake),
// and once after each midnight (UTC), for between midnights nothing falls due. What to remove
// follows from what is stored, so a crash costs time only; every removal names the version that was
// judged, so a key that is written meanwhile keeps its new object.
//
// Threading: owns one thread; Wake() from any thread. Errors are logged; the next round tries
// again.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "env/background_thread.h"
#include "env/clock.h"
#include "s3/engine.h"
#include "s3/lifecycle.h"

namespace sabia::s3 {

// What one round did.
struct LifecycleWork {
  std::size_t expired = 0;   // objects removed, or hidden by a delete marker
  std::size_t versions = 0;  // noncurrent versions removed
  std::size_t markers = 0;   // delete markers without versions removed
  std::size_t aborted = 0;   // uploads
};

// One round over one bucket, in the caller's thread.
Result<LifecycleWork> ApplyLifecycle(ObjectStore& store, const std::string& bucket,
                                     const std::vector<LifecycleRule>& rules, WallTime now);

class LifecycleRunner {
 public:
  // Both must outlive this.
  LifecycleRunner(ObjectStore& store, env::Clock& clock);
  LifecycleRunner(const LifecycleRunner&) = delete;
  LifecycleRunner& operator=(const LifecycleRunner&) = delete;
  ~LifecycleRunner() = default;  // finishes the bucket at hand

  void Wake() { thread_.Wake(); }

 private:
  std::chrono::sys_days Today() const;
  void Round();

  ObjectStore& store_;
  env::Clock& clock_;
  std::chrono::sys_days day_;     // of the last round; of the thread
  env::BackgroundThread thread_;  // last: uses all of the above
};

}  // namespace sabia::s3
