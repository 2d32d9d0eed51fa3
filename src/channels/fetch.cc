#include "channels/fetch.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <thread>
#include <variant>
#include <vector>

#include "base/log.h"
#include "channels/object_fetch.h"
#include "channels/object_reader.h"

namespace sabia::channels {
namespace {

constexpr int kTriesMax = 3;  // of an object whose content is wrong

class Fetch {
 public:
  Fetch(std::span<const FetchJob> jobs, const FetchOptions& options, const MakeClient& make_client,
        const FetchHooks& hooks, const Cancelled& cancelled)
      : jobs_(jobs),
        options_(options),
        make_client_(make_client),
        hooks_(hooks),
        cancelled_(cancelled) {}

  Status Run() {
    std::size_t pieces = 0;
    for (const FetchJob& job : jobs_) {
      pieces += std::max<std::uint64_t>(1, job.object->size / options_.piece_size);
    }
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < std::min(options_.connections, pieces); ++i) {
      threads.emplace_back([this] { Work(); });
    }
    Work();
    for (std::thread& thread : threads) thread.join();
    return std::move(first_);
  }

 private:
  struct Active {
    ObjectFetch fetch;
    bool open = false;  // pieces can be taken
    int tries = 0;
    Active(const FetchJob& job, const FetchOptions& options) : fetch(job, options) {}
  };
  // What a thread does next.
  struct Begin {
    Active* object;
  };
  struct Piece {
    Active* object;
    std::size_t index;
  };
  using Task = std::variant<std::monostate, Begin, Piece>;

  void Work() {
    auto client = make_client_();
    if (!client) return Report(std::move(client).error());
    for (Task task = Next(); task.index() != 0; task = Next()) {
      Status done = Perform(**client, task);
      const std::lock_guard lock(mutex_);
      --busy_;
      if (!done && first_) first_ = std::move(done);
      changed_.notify_all();
    }
  }

  // Waits while others may still make work: a new object, or a piece that comes again.
  Task Next() {
    std::unique_lock lock(mutex_);
    while (true) {
      if (!first_) return {};
      if (cancelled_ && cancelled_()) {
        first_ = Fail(ErrorCode::kTimeout, "cancelled");
        changed_.notify_all();
        return {};
      }
      for (Active& active : active_) {
        if (!active.open) continue;
        if (const auto index = active.fetch.Take()) {
          ++busy_;
          return Piece{&active, *index};
        }
      }
      if (next_job_ < jobs_.size()) {
        ++busy_;
        active_.emplace_back(jobs_[next_job_++], options_);
        return Begin{&active_.back()};
      }
      if (busy_ == 0) return {};
      changed_.wait(lock);
    }
  }

  Status Perform(wire::S3Client& client, const Task& task) {
    Active* active = nullptr;
    Status done;
    if (const auto* begin = std::get_if<Begin>(&task)) {
      active = begin->object;
      done = Start(client, *active);
    } else {
      const Piece& piece = std::get<Piece>(task);
      active = piece.object;
      done = active->fetch.FetchPiece(client, piece.index, cancelled_);
      if (done && active->fetch.TakeCompletion()) done = Complete(*active);
    }
    if (done) return done;
    return Wrap(std::move(done).error(), NameOf(*active->fetch.job().object));
  }

  Status Start(wire::S3Client& client, Active& active) {
    if (hooks_.begin) {
      ASSIGN_OR_RETURN(const bool wanted, hooks_.begin(active.fetch.job()));
      if (!wanted) {
        Forget(active);
        return {};
      }
    }
    return active.fetch.is_small() ? Small(client, active) : Open(client, active);
  }

  Status Small(wire::S3Client& client, Active& active) {
    Status got;
    for (int i = 0; i < kTriesMax; ++i) {
      got = active.fetch.FetchSmall(client, cancelled_);
      if (got || got.error().code != ErrorCode::kCorrupt) break;
      LogWarn("{}: {}", NameOf(*active.fetch.job().object), got.error().message);
    }
    if (got) got = hooks_.done(active.fetch.job(), active.fetch.fd());
    if (got) Forget(active);
    return got;
  }

  Status Open(wire::S3Client& client, Active& active) {
    RETURN_IF_ERROR(active.fetch.Open(client));
    if (active.fetch.TakeCompletion()) return Complete(active);  // by a process before this one
    const std::lock_guard lock(mutex_);
    active.open = true;
    return {};
  }

  Status Complete(Active& active) {
    Status right = active.fetch.Verify();
    if (right) {
      active.fetch.Finish();
      RETURN_IF_ERROR(hooks_.done(active.fetch.job(), active.fetch.fd()));
      Forget(active);
      return {};
    }
    if (right.error().code != ErrorCode::kCorrupt || ++active.tries >= kTriesMax) return right;
    LogWarn("{}: {}; it is fetched again", NameOf(*active.fetch.job().object),
            right.error().message);
    const std::lock_guard lock(mutex_);
    active.open = true;
    return {};
  }

  void Forget(Active& active) {
    const std::lock_guard lock(mutex_);
    active_.remove_if([&](const Active& each) { return &each == &active; });
  }

  void Report(Error error) {
    const std::lock_guard lock(mutex_);
    if (first_) first_ = tl::make_unexpected(std::move(error));
    changed_.notify_all();
  }

  const std::span<const FetchJob> jobs_;
  const FetchOptions& options_;
  const MakeClient& make_client_;
  const FetchHooks& hooks_;
  const Cancelled& cancelled_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Active> active_;
  std::size_t next_job_ = 0;
  std::size_t busy_ = 0;  // threads that perform a task
  Status first_;
};

}  // namespace

Status FetchObjects(std::span<const FetchJob> jobs, const FetchOptions& options,
                    const MakeClient& make_client, const FetchHooks& hooks,
                    const Cancelled& cancelled) {
  if (jobs.empty()) return {};
  return Fetch(jobs, options, make_client, hooks, cancelled).Run();
}

}  // namespace sabia::channels
