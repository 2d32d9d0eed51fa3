// Group commit: one thread that runs the queued pieces of work of many callers in one transaction.
//
// While a batch commits, the next one fills. After a batch of n pieces the thread gives their
// callers a moment to come back (n pieces, or kGatherTime, whichever is first), because taking the
// first to return alone would make the other n - 1 wait for an fsync that only one of them needed.
// A lone caller never waits for company.
//
// Threading: Submit is thread-safe and blocks; the connection belongs to the queue's thread until
// the destructor.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.h"
#include "store/connection.h"

namespace sabia::store {

class CommitQueue {
 public:
  using Work = std::function<Status(Connection&)>;

  CommitQueue(Connection& connection, std::size_t batch_limit);
  CommitQueue(const CommitQueue&) = delete;
  CommitQueue& operator=(const CommitQueue&) = delete;
  ~CommitQueue();  // after what is queued

  // Returns when the work is durable, or failed and left no trace.
  Status Submit(const Work& work);

 private:
  struct Ticket {
    const Work* work;
    Status status;
  };
  // Shared by the thread and the callers in it: the last of them frees it.
  struct Batch {
    std::vector<Ticket*> tickets;
    std::atomic<int> done{0};
  };

  void Loop();
  std::shared_ptr<Batch> TakeBatch(std::size_t expected);
  // Runs tickets from `begin` on in one transaction; returns where the next transaction starts.
  std::size_t RunTransaction(const std::vector<Ticket*>& tickets, std::size_t begin);
  Status RunPiece(const Work& work, bool alone);

  Connection& connection_;
  const std::size_t batch_limit_;
  std::mutex mutex_;
  std::condition_variable filled_;  // the open batch reached wanted_, or stopping_
  std::condition_variable room_;    // a new batch was opened
  std::shared_ptr<Batch> open_;     // guarded by mutex_
  std::size_t wanted_ = 1;          // guarded by mutex_; when to wake the thread
  bool stopping_ = false;           // guarded by mutex_
  std::thread thread_;
};

}  // namespace sabia::store
