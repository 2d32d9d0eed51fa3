// What other threads tell the loop: changed records, poked instances, finished tasks.
//
// Events of one name are merged, so the size is bounded by the number of jobs and instances, and by
// kPokesMax for names that nobody knows. Threading: thread-safe.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "control/training_worker.h"

namespace sabia::control {

class Inbox {
 public:
  static constexpr std::size_t kPokesMax = 65'536;

  struct Letters {
    std::map<std::string, int> changed;  // name of a job → how often
    std::vector<std::unique_ptr<model::TrainingJob>> accepted;
    std::set<std::string> poked;  // instance ids
    std::vector<std::unique_ptr<JobWork>> done;
    int swept = 0;                  // finished removals
    std::vector<std::string> left;  // directories that could not be kept
  };

  void Changed(const std::string& job);
  void Accepted(std::unique_ptr<model::TrainingJob> job);
  void Poked(const std::string& instance);
  void Done(std::unique_ptr<JobWork> work);
  void Swept(std::vector<std::string> left = {});
  void Close();  // wakes the reader for good

  Letters Take();
  // Until there are letters, the inbox is closed, or the time is over. Patient: accepted jobs alone
  // are let come together for kPatience first, so that a thousand of them wake the reader a few
  // times only.
  static constexpr Millis kPatience{5};
  void Wait(Millis at_most, bool patient);
  bool closed();

 private:
  bool Empty() const;
  bool Urgent() const;

  std::mutex mutex_;
  std::condition_variable arrived_;
  Letters letters_;  // guarded by mutex_
  bool closed_ = false;
};

}  // namespace sabia::control
