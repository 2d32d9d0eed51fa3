#include "wire/http_server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/check.h"
#include "base/log.h"
#include "wire/connection_registry.h"
#include "wire/listener.h"
#include "wire/runner_slots.h"

namespace sabia::wire {
namespace {

class PooledHttpServer final : public HttpServer, private ConnectionOwner {
 public:
  PooledHttpServer(HttpServerOptions options, Handler& handler, env::Clock& clock)
      : options_(std::move(options)),
        handler_(handler),
        clock_(clock),
        slots_(std::clamp<std::size_t>(std::thread::hardware_concurrency(), 2,
                                       std::max<std::size_t>(options_.threads, 2)),
               [this] { AskForHelp(); }) {}
  ~PooledHttpServer() override { Stop(Millis(0)); }

  Status Open();
  std::uint16_t port(std::size_t listener) const override { return listeners_.at(listener)->port; }
  HttpServerStats stats() const override;
  void Stop(Millis grace) override;

 private:
  void LetGo() override;
  void TakeBack(Connection* connection, bool close) override;
  bool AddWorker();
  void Work();
  bool MayLeave();
  void AskForHelp();
  bool TakeEvent(HttpSession& session, void* source);
  void Accept(Listener& listener);
  void Admit(Listener& listener, AcceptedSocket accepted);
  void ServeConnection(HttpSession& session, Connection* connection);
  void Arm(int fd, void* source, int operation, std::uint32_t more = 0);
  void Maintain();
  void GrowIfStarving();
  void ReapEnded();

  HttpServerOptions options_;
  Handler& handler_;
  env::Clock& clock_;
  HttpCounters counters_;
  env::UniqueFd poller_;
  env::UniqueFd stop_event_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  ConnectionRegistry connections_;
  std::atomic<std::uint64_t> accepted_{0};
  std::atomic<std::uint64_t> rejected_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<std::size_t> threads_{0};
  std::atomic<std::size_t> waiting_{0};
  std::atomic<bool> starving_{false};  // perhaps nobody is left to take work
  RunnerSlots slots_;

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::list<std::thread> workers_;
  std::vector<std::thread::id> ended_;
  bool stopped_ = false;
  std::size_t taken_ = 0;  // connections that wait for a later answer
  std::thread maintainer_;
};

Status PooledHttpServer::Open() {
  poller_.Reset(::epoll_create1(EPOLL_CLOEXEC));
  stop_event_.Reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!poller_ || !stop_event_) return FailErrno(errno, "failed to make a poller");
  for (const ListenOptions& wanted : options_.listeners) {
    ASSIGN_OR_RETURN(std::unique_ptr<Listener> listener, Listen(wanted));
    listeners_.push_back(std::move(listener));
  }
  epoll_event stop{EPOLLIN, {&stop_event_}};
  CHECK(::epoll_ctl(poller_.get(), EPOLL_CTL_ADD, stop_event_.get(), &stop) == 0);
  for (const auto& listener : listeners_) {
    Arm(listener->socket.get(), listener.get(), EPOLL_CTL_ADD);
  }
  const std::scoped_lock lock(mutex_);
  for (std::size_t i = 0; i < options_.threads; ++i) {
    if (!AddWorker() && i == 0) {
      return Fail(ErrorCode::kResourceExhausted, "the machine gives no thread to the HTTP server");
    }
  }
  maintainer_ = std::thread([this] { Maintain(); });
  return {};
}

// One-shot: after an event nobody hears of the source until it is armed again, so one worker owns
// it.
void PooledHttpServer::Arm(int fd, void* source, int operation, std::uint32_t more) {
  epoll_event event{EPOLLIN | EPOLLRDHUP | EPOLLONESHOT | more, {source}};
  CHECK(::epoll_ctl(poller_.get(), operation, fd, &event) == 0);
}

// REQUIRES: mutex_ is held. False when the machine gives no more threads.
bool PooledHttpServer::AddWorker() {
  threads_.fetch_add(1);
  try {
    workers_.emplace_back([this] { Work(); });
    return true;
  } catch (const std::system_error& error) {
    threads_.fetch_sub(1);
    LogWarn("failed to start thread {} of the HTTP server: {}", threads_.load() + 1, error.what());
    return false;
  }
}

// Takes the caller out of the count unless the pool is at its least.
bool PooledHttpServer::MayLeave() {
  std::size_t count = threads_.load();
  while (count > options_.threads) {
    if (threads_.compare_exchange_weak(count, count - 1)) return true;
  }
  return false;
}

// A client that has gone must not end the process: sendfile and OpenSSL raise SIGPIPE and have no
// flag against it.
void BlockSigpipe() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

void PooledHttpServer::Work() {
  BlockSigpipe();
  HttpSession session({handler_, options_.limits, clock_, counters_, this});
  bool counted = true;
  {
    RunnerSlots::Runner runner(slots_);
    env::SetBlockingObserver(&runner);
    while (!stopping_.load()) {
      if (!runner.MayRun(options_.thread_idle)) {
        counted = !MayLeave();
        if (!counted) break;
        continue;
      }
      epoll_event event{};
      waiting_.fetch_add(1);
      const int n = ::epoll_wait(poller_.get(), &event, 1, -1);
      if (waiting_.fetch_sub(1) == 1 && n > 0) AskForHelp();
      if (n <= 0) continue;
      runner.Begin();
      const bool go_on = TakeEvent(session, event.data.ptr);
      runner.End();
      if (!go_on) break;
    }
    env::SetBlockingObserver(nullptr);
  }
  const std::scoped_lock lock(mutex_);
  if (counted) threads_.fetch_sub(1);
  ended_.push_back(std::this_thread::get_id());
  changed_.notify_all();
}

// The maintainer looks, after the growth delay, whether work waits in vain.
void PooledHttpServer::AskForHelp() {
  if (!starving_.exchange(true)) changed_.notify_all();
}

bool PooledHttpServer::TakeEvent(HttpSession& session, void* source) {
  if (source == &stop_event_) return false;
  for (const auto& listener : listeners_) {
    if (source == listener.get()) {
      Accept(*listener);
      return true;
    }
  }
  ServeConnection(session, static_cast<Connection*>(source));
  return true;
}

void PooledHttpServer::Accept(Listener& listener) {
  while (!stopping_.load()) {
    auto accepted = AcceptOne(listener);
    if (!accepted) {
      // Out of descriptors or memory: the maintainer arms the listener again at its next tick.
      LogWarn("failed to accept a connection: {}", accepted.error().message);
      listener.resting.store(true);
      return;
    }
    if (!accepted->socket) break;  // nobody waits any more
    Admit(listener, std::move(*accepted));
  }
  if (!stopping_.load()) Arm(listener.socket.get(), &listener, EPOLL_CTL_MOD);
}

void PooledHttpServer::Admit(Listener& listener, AcceptedSocket accepted) {
  accepted_.fetch_add(1, std::memory_order_relaxed);
  if (connections_.size() >= options_.connections_max) {
    rejected_.fetch_add(1, std::memory_order_relaxed);
    RejectConnection(accepted);
    return;
  }
  auto connection = std::make_unique<Connection>();
  connection->peer = std::move(accepted.peer);
  connection->transport = listener.options.transports
                              ? listener.options.transports->Accept(std::move(accepted.socket))
                              : MakePlainTransport(std::move(accepted.socket));
  connection->head_deadline = clock_.Mono() + options_.limits.header_timeout;
  connection->deadline.store(connection->head_deadline.time_since_epoch().count());
  const int fd = connection->transport->fd();
  Arm(fd, connections_.Add(std::move(connection)), EPOLL_CTL_ADD);
}

void PooledHttpServer::ServeConnection(HttpSession& session, Connection* connection) {
  // Reads what the last worker stored when it let go, so that all it wrote before is seen here: the
  // poller itself promises nothing to the memory model.
  connection->deadline.exchange(0);
  const int fd = connection->transport->fd();
  switch (session.Serve(*connection, stopping_)) {
    case HttpSession::Next::kClose:
      connections_.Remove(connection);
      break;
    case HttpSession::Next::kRest:
      Arm(fd, connection, EPOLL_CTL_MOD);  // from here on another worker may have it
      break;
    case HttpSession::Next::kTaken:
      break;
  }
}

void PooledHttpServer::LetGo() {
  const std::scoped_lock lock(mutex_);
  ++taken_;
}

void PooledHttpServer::TakeBack(Connection* connection, bool close) {
  if (close) {
    connections_.Remove(connection);
  } else {
    const int fd = connection->transport->fd();
    const std::uint32_t more = connection->unsent.empty() ? 0U : std::uint32_t{EPOLLOUT};
    const MonoTime deadline = clock_.Mono() + options_.limits.idle_timeout;
    connection->deadline.store(deadline.time_since_epoch().count());
    Arm(fd, connection, EPOLL_CTL_MOD, more);
  }
  // Under the lock to the end: a server that stops goes away as soon as it may.
  const std::scoped_lock lock(mutex_);
  --taken_;
  if (stopping_.load()) changed_.notify_all();
}

void PooledHttpServer::Maintain() {
  std::unique_lock lock(mutex_);
  while (!stopping_.load()) {
    changed_.wait_for(lock, options_.tick, [this] { return stopping_.load() || starving_.load(); });
    if (stopping_.load()) return;
    if (starving_.exchange(false)) {
      changed_.wait_for(lock, options_.growth_delay, [this] { return stopping_.load(); });
    }
    GrowIfStarving();
    ReapEnded();
    lock.unlock();
    connections_.CutExpired(clock_.Mono());
    for (const auto& listener : listeners_) {
      if (listener->resting.exchange(false))
        Arm(listener->socket.get(), listener.get(), EPOLL_CTL_MOD);
    }
    lock.lock();
  }
}

// REQUIRES: mutex_ is held. Events that wait while no worker does: when handlers block, another
// thread helps; when they are busy, it would only get in their way.
void PooledHttpServer::GrowIfStarving() {
  pollfd ready{poller_.get(), POLLIN, 0};
  if (waiting_.load() > 0 || ::poll(&ready, 1, 0) <= 0) return;
  starving_.store(true);  // look again: a worker may get stuck, or one may not be enough
  if (!slots_.Rescue()) return;
  if (threads_.load() >= options_.threads_max) return;
  AddWorker();
}

// REQUIRES: mutex_ is held.
void PooledHttpServer::ReapEnded() {
  for (const std::thread::id id : ended_) {
    const auto worker = std::find_if(workers_.begin(), workers_.end(),
                                     [id](const std::thread& w) { return w.get_id() == id; });
    CHECK(worker != workers_.end());
    worker->join();
    workers_.erase(worker);
  }
  ended_.clear();
}

void PooledHttpServer::Stop(Millis grace) {
  std::unique_lock lock(mutex_);
  if (std::exchange(stopped_, true)) return;
  stopping_.store(true);
  slots_.Close();
  for (const auto& listener : listeners_) ::shutdown(listener->socket.get(), SHUT_RDWR);
  const std::uint64_t one = 1;
  (void)!::write(stop_event_.get(), &one, sizeof one);
  changed_.notify_all();
  if (maintainer_.joinable()) {
    lock.unlock();
    maintainer_.join();
    lock.lock();
  }
  const auto over = [this] { return threads_.load() == 0 && taken_ == 0; };
  changed_.wait_for(lock, grace, over);
  connections_.CutAll();
  changed_.wait(lock, over);
  // Nobody adds workers any more; one that leaves may still need the mutex.
  std::list<std::thread> workers = std::move(workers_);
  lock.unlock();
  for (std::thread& worker : workers) worker.join();
  connections_.Clear();
  listeners_.clear();
}

HttpServerStats PooledHttpServer::stats() const {
  HttpServerStats stats;
  stats.requests = counters_.requests.load(std::memory_order_relaxed);
  stats.refused_heads = counters_.refused_heads.load(std::memory_order_relaxed);
  stats.timeouts = counters_.timeouts.load(std::memory_order_relaxed);
  stats.accepted = accepted_.load(std::memory_order_relaxed);
  stats.rejected_connections = rejected_.load(std::memory_order_relaxed);
  stats.connections = connections_.size();
  stats.threads = threads_.load();
  stats.idle_threads = waiting_.load() + slots_.parked();
  return stats;
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::Start(HttpServerOptions options, Handler& handler,
                                                      env::Clock& clock) {
  auto server = std::make_unique<PooledHttpServer>(std::move(options), handler, clock);
  RETURN_IF_ERROR(server->Open());
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace sabia::wire
