// Where blocking work runs.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace sabia::control {

// Threading: thread-safe. A task may submit others. How many wait is bounded by the submitter.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void Submit(std::function<void()> task) = 0;
};

// Runs each task at once, on the caller's thread: for tests and the simulator.
class InlineExecutor final : public Executor {
 public:
  void Submit(std::function<void()> task) override { task(); }
};

// A fixed number of threads. The destructor runs what was submitted, then joins.
class ThreadPool final : public Executor {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool() override;
  void Submit(std::function<void()> task) override;

 private:
  void Work();

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> tasks_;  // guarded by mutex_
  bool ending_ = false;                      // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace sabia::control
