#include "fastfile/fetch_pool.h"

#include <utility>

namespace sabia::fastfile {

void FetchPool::Submit(Job job, bool urgent) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    (urgent ? urgent_ : others_).push_back(std::move(job));
    if (idle_ < urgent_.size() + others_.size() && threads_.size() < most_) {
      ++running_;
      threads_.emplace_back([this] { Run(); });
    }
  }
  work_.notify_one();
}

bool FetchPool::Stop(std::optional<Millis> patience) {
  std::unique_lock lock(mutex_);
  stopped_ = true;
  urgent_.clear();
  others_.clear();
  work_.notify_all();
  const auto over = [this] { return running_ == 0; };
  if (patience && !ended_.wait_for(lock, *patience, over)) {
    for (std::thread& thread : threads_) thread.detach();
    threads_.clear();
    return false;
  }
  ended_.wait(lock, over);
  lock.unlock();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  return true;
}

void FetchPool::Run() {
  Work();
  const std::lock_guard lock(mutex_);
  --running_;
  ended_.notify_all();
}

void FetchPool::Work() {
  auto client = make_client_();
  while (true) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      ++idle_;
      work_.wait(lock, [this] { return stopped_ || !urgent_.empty() || !others_.empty(); });
      --idle_;
      if (stopped_) return;
      std::deque<Job>& queue = urgent_.empty() ? others_ : urgent_;
      job = std::move(queue.front());
      queue.pop_front();
    }
    if (!client) client = make_client_();
    if (client) {
      job(client->get());
    } else {
      job(tl::make_unexpected(client.error()));
    }
  }
}

}  // namespace sabia::fastfile
