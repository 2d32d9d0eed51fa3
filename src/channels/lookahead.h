// Items of an epoch in order, opened by several threads ahead of their turn where opening means
// waiting for an endpoint, so that many small objects do not each cost a round trip.
//
// Bounds: kAheadThreads at a time, kAheadItems opened and not yet taken, and no further one is
// begun while those hold kAheadBytes or more.
//
// Threading: Next on one thread. The destructor waits for what is being opened; cancel the reader
// to hurry it.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "channels/pipe_items.h"

namespace sabia::channels {

inline constexpr std::size_t kAheadThreads = 8;
inline constexpr std::size_t kAheadItems = 16;
inline constexpr std::uint64_t kAheadBytes = 32 << 20;

class Lookahead {
 public:
  // The place-th item of the epoch; nothing beyond the last. Thread-safe.
  using Fetch = std::function<Result<std::optional<PipeItem>>(std::uint64_t place)>;

  // threads 0: items are opened by Next itself.
  Lookahead(Fetch fetch, std::size_t threads);
  ~Lookahead();

  // Whether Next would not wait.
  bool Ready() const;
  Result<std::optional<PipeItem>> Next();

 private:
  void Run();

  const Fetch fetch_;
  std::vector<std::thread> threads_;
  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable arrived_;
  std::map<std::uint64_t, Result<std::optional<PipeItem>>> done_;
  std::uint64_t bytes_ = 0;  // of done_
  std::uint64_t begun_ = 0;  // places given out
  std::uint64_t taken_ = 0;  // places that Next answered
  bool stop_ = false;        // no further place is given out
};

}  // namespace sabia::channels
