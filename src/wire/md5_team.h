// MD5 for many streams at once: threads that hash at the same time share the lanes of one
// processor.
//
// A thread that brings enough bytes either becomes the leader, which hashes for everybody who has
// come meanwhile, or waits until a leader has done its bytes; it leaves when its own are done and
// hands the lead on. Alone, a thread is as fast as it would be by itself; four get about four times
// as far with one processor. A waiting thread counts as blocked (env/blocking.h).
//
// Threading: a team is thread-safe; the hashers made for it are thread-compatible and must not
// outlive it.
#pragma once

#include <deque>
#include <memory>
#include <mutex>

#include "wire/checksum.h"
#include "wire/md5_lanes.h"

namespace sabia::wire {

class Md5Team {
 public:
  // Returns when the state covers the blocks.
  void Hash(Md5State& state, const char* data, std::size_t blocks);

 private:
  struct Job;
  void Lead(std::unique_lock<std::mutex>& lock, const Job& own);

  std::mutex mutex_;
  std::deque<Job*> waiting_;  // guarded by mutex_
  bool led_ = false;          // guarded by mutex_
};

std::unique_ptr<Hasher> NewMd5(Md5Team& team);

}  // namespace sabia::wire
