#include "store/commit_queue.h"

#include <algorithm>
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
    : connection_(connection),
      batch_limit_(batch_limit),
      open_(std::make_shared<Batch>()),
      wanted_(kNever) {
  CHECK(batch_limit_ > 0);
}

Status CommitQueue::Submit(const Work& work) {
  Ticket ticket{&work, {}};
  std::shared_ptr<Batch> batch;
  bool first = false;
  bool lead = false;
  bool wake = false;
  {
    std::unique_lock lock(mutex_);
    CHECK_MSG(leader_ != std::this_thread::get_id(), "a piece of work called Write()");
    room_.wait(lock, [&] { return open_->tickets.size() < batch_limit_; });
    batch = open_;
    first = batch->tickets.empty();
    batch->tickets.push_back(&ticket);
    lead = first && !std::exchange(led_, true);
    wake = batch->tickets.size() >= wanted_;
  }
  if (wake) filled_.notify_one();
  if (first) {
    if (!lead) batch->lead.wait(0, std::memory_order_acquire);
    Lead(batch);
  } else {
    batch->done.wait(0, std::memory_order_acquire);
  }
  return std::move(ticket.status);
}

// REQUIRES: the caller made the first ticket of the open batch, and led_ is set on its behalf.
void CommitQueue::Lead(const std::shared_ptr<Batch>& batch) {
  {
    std::unique_lock lock(mutex_);
    wanted_ = std::min(expected_, batch_limit_);
    filled_.wait_for(lock, kGatherTime, [&] { return batch->tickets.size() >= wanted_; });
    wanted_ = kNever;
    leader_ = std::this_thread::get_id();
    open_ = std::make_shared<Batch>();
  }
  room_.notify_all();
  for (std::size_t next = 0; next < batch->tickets.size();) {
    next = RunTransaction(batch->tickets, next);
  }
  std::shared_ptr<Batch> heir;
  {
    const std::lock_guard lock(mutex_);
    expected_ = batch->tickets.size();
    leader_ = {};
    led_ = !open_->tickets.empty();
    if (led_) heir = open_;
  }
  if (heir) {
    heir->lead.store(1, std::memory_order_release);
    heir->lead.notify_one();
  }
  batch->done.store(1, std::memory_order_release);
  batch->done.notify_all();
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
