#include "store/commit_queue.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <utility>

#include "base/check.h"

namespace sabia::store {
namespace {

// About one fsync of a fast disk: waiting longer than what is saved would be a loss.
constexpr std::chrono::microseconds kGatherTime{100};
constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

// Where a caller of Submit sleeps. Not std::atomic::wait, which yields the processor many times
// before it sleeps: with more callers than processors that is the larger part of the cost.
class Bell {
 public:
  void Ring() {
    const std::lock_guard lock(mutex_);
    rung_ = true;
    changed_.notify_one();  // under the lock: the sleeper may end the bell's life at once
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return rung_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool rung_ = false;
};

}  // namespace

CommitQueue::CommitQueue(Connection& connection, std::size_t batch_limit)
    : connection_(connection), batch_limit_(batch_limit), wanted_(kNever) {
  CHECK(batch_limit_ > 0);
  thread_ = std::thread([this] { Loop(); });
}

CommitQueue::~CommitQueue() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  work_.notify_one();
  thread_.join();
}

Status CommitQueue::Submit(const Work& work) {
  Bell bell;
  Status outcome;
  Piece piece{&work, {}, {}};
  piece.done = [&](Status status) {
    outcome = std::move(status);
    bell.Ring();
  };
  if (Enqueue(&piece)) {
    Lead();
    HandOver();
  }
  bell.Wait();
  return outcome;
}

void CommitQueue::SubmitLater(Work work, Done done) {
  auto piece = std::make_unique<LaterPiece>();
  piece->own = std::move(work);
  piece->work = &piece->own;
  LaterPiece* raw = piece.release();
  raw->done = [raw, done = std::move(done)](Status status) {
    const std::unique_ptr<LaterPiece> ended(raw);
    done(std::move(status));
  };
  if (Enqueue(raw)) {
    Lead();
    HandOver();
  }
}

bool CommitQueue::Enqueue(Piece* piece) {
  bool lead = false;
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    CHECK_MSG(leader_ != std::this_thread::get_id(), "a piece of work called Write()");
    open_.push_back(piece);
    lead = !std::exchange(led_, true);
    wake = !lead && open_.size() >= wanted_;
  }
  if (wake) filled_.notify_one();
  return lead;
}

CommitQueue::Batch CommitQueue::Gather() {
  std::unique_lock lock(mutex_);
  wanted_ = std::min(expected_, batch_limit_);
  filled_.wait_for(lock, kGatherTime, [&] { return open_.size() >= wanted_; });
  wanted_ = kNever;
  leader_ = std::this_thread::get_id();
  const auto end =
      open_.begin() + static_cast<std::ptrdiff_t>(std::min(open_.size(), batch_limit_));
  Batch batch(open_.begin(), end);
  open_.erase(open_.begin(), end);
  expected_ = batch.size();
  return batch;
}

// REQUIRES: led_ is set on behalf of the caller, and a piece is in the queue.
void CommitQueue::Lead() {
  const Batch batch = Gather();
  for (std::size_t next = 0; next < batch.size();) next = RunTransaction(batch, next);
  for (Piece* piece : batch) piece->done(std::move(piece->status));
  const std::lock_guard lock(mutex_);
  leader_ = {};
}

void CommitQueue::HandOver() {
  {
    const std::lock_guard lock(mutex_);
    led_ = handed_over_ = !open_.empty();
    if (!led_) return;
  }
  work_.notify_one();
}

void CommitQueue::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return handed_over_ || ending_; });
    if (!handed_over_) return;
    handed_over_ = false;
    while (!open_.empty()) {
      lock.unlock();
      Lead();
      lock.lock();
    }
    led_ = false;
  }
}

std::size_t CommitQueue::RunTransaction(const Batch& batch, std::size_t begin) {
  if (batch.size() - begin > 1 && RunTogether(batch, begin)) return batch.size();
  return RunApart(batch, begin);
}

bool CommitQueue::RunTogether(const Batch& batch, std::size_t begin) {
  bool good = connection_.Run("BEGIN IMMEDIATE").has_value();
  for (std::size_t i = begin; good && i < batch.size(); ++i) {
    good = (*batch[i]->work)(connection_).has_value() && connection_.InTransaction();
  }
  if (good) {
    Commit(batch, begin);
  } else if (connection_.InTransaction()) {
    (void)connection_.Run("ROLLBACK");
  }
  return good;
}

// A commit that fails is not tried again: how much of it reached the disk is not known.
void CommitQueue::Commit(const Batch& batch, std::size_t begin) {
  const Status committed = connection_.Run("COMMIT");
  if (committed) return;
  if (connection_.InTransaction()) (void)connection_.Run("ROLLBACK");
  FailAll({batch.begin() + static_cast<std::ptrdiff_t>(begin), batch.end()},
          Annotate(committed.error(), "failed to commit"));
}

void CommitQueue::FailAll(const Batch& pieces, const Error& error) {
  for (Piece* piece : pieces) {
    if (piece->status) piece->status = tl::make_unexpected(error);
  }
}

std::size_t CommitQueue::RunApart(const Batch& batch, std::size_t begin) {
  const auto first = batch.begin() + static_cast<std::ptrdiff_t>(begin);
  const bool alone = batch.size() - begin == 1;
  if (Status begun = connection_.Run("BEGIN IMMEDIATE"); !begun) {
    FailAll({first, batch.end()}, begun.error());
    return batch.size();
  }
  for (std::size_t i = begin; i < batch.size(); ++i) {
    batch[i]->status = RunPiece(*batch[i]->work, alone);
    // A full disk or an I/O error rolls the whole transaction back: then the pieces before this one
    // are gone too, and those behind it get a transaction of their own.
    if (!connection_.InTransaction()) {
      const Error ended{ErrorCode::kInternal, "a piece of work ended its transaction"};
      FailAll({first, batch.begin() + static_cast<std::ptrdiff_t>(i) + 1},
              batch[i]->status ? ended : batch[i]->status.error());
      return i + 1;
    }
  }
  if (alone && !batch[begin]->status) {
    (void)connection_.Run("ROLLBACK");
  } else {
    Commit(batch, begin);
  }
  return batch.size();
}

Status CommitQueue::RunPiece(const Work& work, bool alone) {
  if (alone) return work(connection_);
  RETURN_IF_ERROR(connection_.Run("SAVEPOINT piece"));
  Status done = work(connection_);
  if (!connection_.InTransaction()) return done;
  Status undone = done ? Status{} : connection_.Run("ROLLBACK TO piece");
  if (undone) undone = connection_.Run("RELEASE piece");
  if (undone) return done;
  if (connection_.InTransaction()) (void)connection_.Run("ROLLBACK");
  return undone;
}

}  // namespace sabia::store
