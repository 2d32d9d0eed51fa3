// Group commit: the pieces of work of many callers in one transaction, run by one of them.
//
// The first caller to come leads: it runs its own piece and those that queued up meanwhile, commits
// once, and lets the others go. While a batch commits, the next one fills; its first caller leads
// it afterwards. So a lone caller pays for its fsync and for no change of threads. After a batch of
// n pieces a leader gives the others a moment to come back (n pieces, or kGatherTime, whichever is
// first), because going ahead alone would make the other n - 1 wait for an fsync that only one of
// them needed.
//
// Threading: Submit is thread-safe and blocks. The connection is used by one leader after another.
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
  // REQUIRES: no caller is in Submit.
  ~CommitQueue() = default;

  // Returns when the work is durable, or failed and left no trace. The work runs on the thread of
  // this or another caller.
  Status Submit(const Work& work);

 private:
  struct Ticket {
    const Work* work;
    Status status;
  };
  // Shared by the callers in it: the last of them frees it.
  struct Batch {
    std::vector<Ticket*> tickets;
    std::atomic<int> lead{0};  // the first caller may go ahead
    std::atomic<int> done{0};  // every ticket has its status
  };

  void Lead(const std::shared_ptr<Batch>& batch);
  // Runs tickets from `begin` on in one transaction; returns where the next transaction starts.
  std::size_t RunTransaction(const std::vector<Ticket*>& tickets, std::size_t begin);
  Status RunPiece(const Work& work, bool alone);

  Connection& connection_;
  const std::size_t batch_limit_;
  std::mutex mutex_;
  std::condition_variable filled_;  // the open batch reached wanted_
  std::condition_variable room_;    // a new batch was opened
  // All below guarded by mutex_.
  std::shared_ptr<Batch> open_;
  bool led_ = false;          // somebody leads, or was told to
  std::thread::id leader_;    // who runs pieces now
  std::size_t wanted_;        // when to wake a leader that gathers
  std::size_t expected_ = 1;  // how many callers the last batch had
};

}  // namespace sabia::store
