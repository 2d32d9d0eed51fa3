#include "store/commit_queue.h"

#include <chrono>
#include <limits>
#include <utility>

#include "base/check.h"

namespace sabia::store {
namespace {

// About one fsync of a fast disk: waiting longer than what is saved would be a loss.
constexpr std::chrono::microseconds kGatherTime{100};
constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

}  // namespace

CommitQueue::CommitQueue(Connection& connection, std::size_t batch_limit)
    : connection_(connection), batch_limit_(batch_limit), open_(std::make_shared<Batch>()) {
  CHECK(batch_limit_ > 0);
  thread_ = std::thread([this] { Loop(); });
}

CommitQueue::~CommitQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  filled_.notify_one();
  thread_.join();
}

Status CommitQueue::Submit(const Work& work) {
  Ticket ticket{&work, {}};
  std::shared_ptr<Batch> batch;
  bool wake = false;
  {
    std::unique_lock lock(mutex_);
    CHECK_MSG(std::this_thread::get_id() != thread_.get_id(), "a piece of work called Write()");
    room_.wait(lock, [&] { return open_->tickets.size() < batch_limit_; });
    batch = open_;
    batch->tickets.push_back(&ticket);
    wake = batch->tickets.size() >= wanted_;
  }
  if (wake) filled_.notify_one();
  batch->done.wait(0, std::memory_order_acquire);
  return std::move(ticket.status);
}

std::shared_ptr<CommitQueue::Batch> CommitQueue::TakeBatch(std::size_t expected) {
  std::unique_lock lock(mutex_);
  const auto holds = [&](std::size_t count) {
    return [this, count] { return stopping_ || open_->tickets.size() >= count; };
  };
  if (expected > 1) {
    wanted_ = expected;
    filled_.wait_for(lock, kGatherTime, holds(expected));
  }
  wanted_ = 1;
  filled_.wait(lock, holds(1));
  wanted_ = kNever;  // the thread is about to be busy: nobody need wake it
  if (open_->tickets.empty()) return nullptr;
  std::shared_ptr<Batch> batch = std::exchange(open_, std::make_shared<Batch>());
  lock.unlock();
  room_.notify_all();
  return batch;
}

void CommitQueue::Loop() {
  std::size_t expected = 1;
  while (std::shared_ptr<Batch> batch = TakeBatch(expected)) {
    for (std::size_t next = 0; next < batch->tickets.size();) {
      next = RunTransaction(batch->tickets, next);
    }
    expected = batch->tickets.size();
    batch->done.store(1, std::memory_order_release);
    batch->done.notify_all();
  }
}

std::size_t CommitQueue::RunTransaction(const std::vector<Ticket*>& tickets, std::size_t begin) {
  const auto fail_all = [&](std::size_t end, Error error) {
    for (std::size_t i = begin; i < end; ++i) {
      if (tickets[i]->status) tickets[i]->status = tl::make_unexpected(error);
    }
    return end;
  };
  const bool alone = tickets.size() - begin == 1;
  if (Status begun = connection_.Run("BEGIN IMMEDIATE"); !begun) {
    return fail_all(tickets.size(), begun.error());
  }
  for (std::size_t i = begin; i < tickets.size(); ++i) {
    tickets[i]->status = RunPiece(*tickets[i]->work, alone);
    // A full disk or an I/O error rolls the whole transaction back: then the pieces before this one
    // are gone too, and those behind it get a transaction of their own.
    if (!connection_.InTransaction()) {
      const Error ended{ErrorCode::kInternal, "a piece of work ended its transaction"};
      return fail_all(i + 1, tickets[i]->status ? ended : tickets[i]->status.error());
    }
  }
  if (alone && !tickets[begin]->status) {
    (void)connection_.Run("ROLLBACK");
    return tickets.size();
  }
  if (Status committed = connection_.Run("COMMIT"); !committed) {
    if (connection_.InTransaction()) (void)connection_.Run("ROLLBACK");
    return fail_all(tickets.size(), Annotate(committed.error(), "failed to commit"));
  }
  return tickets.size();
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
