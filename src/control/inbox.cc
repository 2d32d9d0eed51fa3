#include "control/inbox.h"

#include <iterator>
#include <utility>

namespace sabia::control {

void Inbox::Changed(const std::string& job) {
  const std::lock_guard lock(mutex_);
  ++letters_.changed[job];
  arrived_.notify_one();
}

void Inbox::Accepted(std::unique_ptr<model::TrainingJob> job) {
  const std::lock_guard lock(mutex_);
  letters_.accepted.push_back(std::move(job));
  if (letters_.accepted.size() == 1) arrived_.notify_one();
}

void Inbox::Poked(const std::string& instance) {
  const std::lock_guard lock(mutex_);
  // A poke that is lost here costs latency only: instances are looked at every second.
  if (letters_.poked.size() < kPokesMax) letters_.poked.insert(instance);
  arrived_.notify_one();
}

void Inbox::Done(std::unique_ptr<JobWork> work) {
  const std::lock_guard lock(mutex_);
  letters_.done.push_back(std::move(work));
  arrived_.notify_one();
}

void Inbox::Swept(std::vector<std::string> left) {
  const std::lock_guard lock(mutex_);
  ++letters_.swept;
  std::move(left.begin(), left.end(), std::back_inserter(letters_.left));
  arrived_.notify_one();
}

void Inbox::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  arrived_.notify_one();
}

Inbox::Letters Inbox::Take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(letters_, Letters{});
}

bool Inbox::Urgent() const {
  return !letters_.changed.empty() || !letters_.poked.empty() || !letters_.done.empty() ||
         letters_.swept > 0;
}

bool Inbox::Empty() const { return !Urgent() && letters_.accepted.empty(); }

void Inbox::Wait(Millis at_most, bool patient) {
  std::unique_lock lock(mutex_);
  arrived_.wait_for(lock, at_most, [this] { return closed_ || !Empty(); });
  if (!patient || Empty()) return;
  arrived_.wait_for(lock, kPatience, [this] { return closed_ || Urgent(); });
}

bool Inbox::closed() {
  const std::lock_guard lock(mutex_);
  return closed_;
}

}  // namespace sabia::control
