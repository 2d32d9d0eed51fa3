// Connections to an endpoint: threads with a client each, started when there is work for one more.
//
// Threading: thread-safe; Stop once. A pool whose threads did not end in time must not be
// destroyed.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "channels/fetch.h"

namespace sabia::fastfile {

class FetchPool {
 public:
  // Gets the client of its thread, or why there is none.
  using Job = std::function<void(const Result<wire::S3Client*>& client)>;

  FetchPool(channels::MakeClient make_client, std::size_t most)
      : make_client_(std::move(make_client)), most_(most) {}
  ~FetchPool() { (void)Stop(std::nullopt); }

  // urgent: somebody waits for it; before all that are not.
  void Submit(Job job, bool urgent);
  // Waits for the jobs that run; those that wait are forgotten. False: some still run after so
  // long, in a call to an endpoint that does not answer.
  bool Stop(std::optional<Millis> patience);

 private:
  void Run();
  void Work();

  const channels::MakeClient make_client_;
  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<Job> urgent_;
  std::deque<Job> others_;
  std::vector<std::thread> threads_;
  std::condition_variable ended_;
  std::size_t idle_ = 0;
  std::size_t running_ = 0;  // threads
  bool stopped_ = false;
};

}  // namespace sabia::fastfile
