// Watches the metadata of the machine itself, when that is spot capacity of EC2: the notice that it
// is taken away, and the recommendation to rebalance.
//
// A thread asks once a second, by IMDSv2: a session token, then /latest/meta-data/spot/
// instance-action and /latest/meta-data/events/recommendations/rebalance, which answer 404 for as
// long as there is nothing to say. A metadata service that does not answer is asked again; its
// failure is told once.
//
// Threading: Start, Stop and the destructor on one thread; the others on any. Time: of the notice
// is EC2's, a wall time.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/time.h"
#include "env/posix/posix_files.h"

namespace sabia::agent {

class SpotNotice {
 public:
  struct Seen {
    std::optional<WallTime> ends_at;            // when the machine is taken away
    std::string action;                         // "terminate", "stop", "hibernate"
    std::optional<WallTime> rebalance_noticed;  // when a rebalance was recommended
    std::string problem;  // why the service could not be asked; "" when it can
  };

  // url: of the metadata service, without a "/" at its end.
  explicit SpotNotice(std::string url, Millis interval = Millis(1'000));
  ~SpotNotice();  // Stop()

  void Start();
  // Returns when the thread has ended: at once, or when a request under way has timed out.
  void Stop();

  // Readable when something was seen since the last Take.
  int news() const { return news_.get(); }
  Seen Take();

 private:
  class Session;
  void Watch();
  void Tell(const Seen& seen);
  bool Pause();  // false: it is to stop

  const std::string url_;
  const Millis interval_;
  env::UniqueFd news_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;  // guarded by mutex_
  Seen seen_;              // guarded by mutex_
  std::thread thread_;
};

}  // namespace sabia::agent
