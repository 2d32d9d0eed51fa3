// Group commit: the pieces of work of many callers in one transaction, run by one thread.
//
// A caller that finds nobody committing commits itself: alone, it pays for its fsync and for no
// change of threads. What came meanwhile is taken over by the queue's own thread, which commits
// batch after batch until nothing is left; while one batch waits for the disk the next one fills.
// After a batch of n pieces the next commit gives the others a moment to come back (n pieces, or
// kGatherTime, whichever is first), because going ahead alone would make the other n - 1 wait for
// an fsync that only one of them needed.
//
// Work may run more than once: a batch is first tried as a whole; when a piece fails, the batch is
// rolled back and run again with a savepoint around each piece, so that only that piece is undone.
//
// Threading: Submit and SubmitLater are thread-safe. The connection is used by one thread after
// another.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.h"
#include "store/connection.h"

namespace sabia::store {

class CommitQueue {
 public:
  using Work = std::function<Status(Connection&)>;
  using Done = std::function<void(Status)>;

  CommitQueue(Connection& connection, std::size_t batch_limit);
  CommitQueue(const CommitQueue&) = delete;
  CommitQueue& operator=(const CommitQueue&) = delete;
  // REQUIRES: no caller is in Submit, and every SubmitLater was answered.
  ~CommitQueue();

  // Returns when the work is durable, or failed and left no trace. The work runs on the thread of
  // this or another caller, or on the queue's own.
  Status Submit(const Work& work);
  // Returns without waiting for others: `done` is called with the outcome, on this or another
  // thread, before or after the return. It must be short, must not throw and must not submit work.
  void SubmitLater(Work work, Done done);

 private:
  // One submitted piece. `done` ends the life of the piece.
  struct Piece {
    const Work* work = nullptr;
    Done done;
    Status status;
  };
  struct LaterPiece : Piece {
    Work own;
  };
  using Batch = std::vector<Piece*>;

  // Puts the piece into the queue. True: nobody commits, and the caller has to.
  bool Enqueue(Piece* piece);
  // Commits one batch and calls what waits for it.
  void Lead();
  // After Lead: passes on what has come meanwhile.
  void HandOver();
  void Loop();
  Batch Gather();
  // Runs pieces from `begin` on in one transaction; returns where the next transaction starts.
  std::size_t RunTransaction(const Batch& batch, std::size_t begin);
  // All of them or none.
  bool RunTogether(const Batch& batch, std::size_t begin);
  // Each in a savepoint.
  std::size_t RunApart(const Batch& batch, std::size_t begin);
  Status RunPiece(const Work& work, bool alone);
  void Commit(const Batch& batch, std::size_t begin);
  static void FailAll(const Batch& pieces, const Error& error);

  Connection& connection_;
  const std::size_t batch_limit_;
  std::mutex mutex_;
  std::condition_variable filled_;  // wanted_ pieces are there
  std::condition_variable work_;    // for the own thread: it has to lead, or to end
  // All below guarded by mutex_.
  std::deque<Piece*> open_;
  bool led_ = false;          // somebody commits, or was told to
  bool handed_over_ = false;  // to the own thread, which has not begun
  bool ending_ = false;
  std::thread::id leader_;    // who runs pieces now
  std::size_t wanted_;        // when to wake a leader that gathers
  std::size_t expected_ = 1;  // how many pieces the last batch had
  std::thread thread_;        // last: uses all of the above
};

}  // namespace sabia::store
