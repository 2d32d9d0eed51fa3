#include "wire/md5_team.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>

#include "env/blocking.h"

namespace sabia::wire {
namespace {

// Fewer bytes are hashed sooner than a second thread wakes.
constexpr std::size_t kSharedBlocks = (64U << 10) / kMd5Block;
// Whoever comes joins after so many at most.
constexpr std::size_t kStepBlocks = (16U << 10) / kMd5Block;

class TeamMd5 final : public Hasher {
 public:
  explicit TeamMd5(Md5Team& team) : team_(team) {}

  void Update(std::string_view data) override {
    total_ += data.size();
    if (held_ > 0) {
      const std::size_t n = std::min(data.size(), kMd5Block - held_);
      std::memcpy(block_ + held_, data.data(), n);
      held_ += n;
      data.remove_prefix(n);
      if (held_ < kMd5Block) return;
      Md5Blocks(state_, block_, 1);
      held_ = 0;
    }
    const std::size_t blocks = data.size() / kMd5Block;
    if (blocks > 0) team_.Hash(state_, data.data(), blocks);
    data.remove_prefix(blocks * kMd5Block);
    std::copy(data.begin(), data.end(), block_);
    held_ = data.size();
  }

  std::string Finish() override {
    if (!value_.empty()) return value_;
    char end[2 * kMd5Block] = {};
    std::copy_n(block_, held_, end);
    end[held_] = static_cast<char>(0x80);
    const std::uint64_t bits = total_ * 8;
    const std::size_t blocks = held_ + 1 + sizeof bits > kMd5Block ? 2 : 1;
    std::memcpy(end + blocks * kMd5Block - sizeof bits, &bits, sizeof bits);
    Md5Blocks(state_, end, blocks);
    value_ = Md5Bytes(state_);
    return value_;
  }

 private:
  Md5Team& team_;
  Md5State state_;
  char block_[kMd5Block] = {};
  std::size_t held_ = 0;
  std::uint64_t total_ = 0;
  std::string value_;
};

}  // namespace

struct Md5Team::Job {
  Md5State* state;
  const char* data;
  std::size_t blocks;  // left; 0: done
  bool leads = false;  // the lead was handed to its thread
  std::condition_variable woken{};

  void Take(std::size_t taken) {
    data += taken * kMd5Block;
    blocks -= taken;
  }
};

void Md5Team::Hash(Md5State& state, const char* data, std::size_t blocks) {
  if (blocks < kSharedBlocks) return Md5Blocks(state, data, blocks);
  Job own{&state, data, blocks};
  std::unique_lock lock(mutex_);
  if (led_) {
    waiting_.push_back(&own);
    const env::BlockingScope blocking;
    own.woken.wait(lock, [&own] { return own.leads || own.blocks == 0; });
    if (own.blocks == 0) return;
  } else {
    led_ = true;
    waiting_.push_front(&own);
  }
  Lead(lock, own);
  led_ = !waiting_.empty();
  if (!led_) return;
  waiting_.front()->leads = true;
  waiting_.front()->woken.notify_one();
}

void Md5Team::Lead(std::unique_lock<std::mutex>& lock, const Job& own) {
  while (own.blocks > 0) {
    // Ours is among the first: jobs leave the front only when they are done.
    const std::size_t count = std::min(waiting_.size(), kMd5Lanes);
    std::array<Md5State, kMd5Lanes> idle;
    std::array<Md5State*, kMd5Lanes> states{&idle[0], &idle[1], &idle[2], &idle[3]};
    std::array<const char*, kMd5Lanes> data;
    data.fill(own.data);
    std::size_t blocks = kStepBlocks;
    for (std::size_t i = 0; i < count; ++i) {
      states[i] = waiting_[i]->state;
      data[i] = waiting_[i]->data;
      blocks = std::min(blocks, waiting_[i]->blocks);
    }
    if (count < kMd5Lanes) blocks = std::min(blocks, own.blocks);
    lock.unlock();
    if (count == 1) {
      Md5Blocks(*states[0], data[0], blocks);
    } else {
      Md5Blocks(states, data, blocks);
    }
    lock.lock();
    for (std::size_t i = 0; i < count; ++i) {
      waiting_[i]->Take(blocks);
      if (waiting_[i]->blocks == 0 && waiting_[i] != &own) waiting_[i]->woken.notify_one();
    }
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
    waiting_.erase(
        std::remove_if(waiting_.begin(), end, [](const Job* job) { return job->blocks == 0; }),
        end);
  }
}

std::unique_ptr<Hasher> NewMd5(Md5Team& team) { return std::make_unique<TeamMd5>(team); }

}  // namespace sabia::wire
