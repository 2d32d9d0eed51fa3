// All open connections of a server, so that deadlines and a stop reach those that rest in the
// poller.
//
// Cutting a connection only ends its reads (or both directions): the socket becomes readable, and
// the worker that it wakes closes it. So nobody but a worker ever frees a connection. Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "wire/http_connection.h"

namespace sabia::wire {

class ConnectionRegistry {
 public:
  Connection* Add(std::unique_ptr<Connection> connection);
  void Remove(Connection* connection);
  std::size_t size() const { return size_.load(std::memory_order_relaxed); }

  // Ends the reads of every resting connection whose deadline lies before now.
  void CutExpired(MonoTime now);
  // Ends all transfers, also those of running requests.
  void CutAll();
  // REQUIRES: no worker is left.
  void Clear();

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::atomic<std::size_t> size_{0};
};

}  // namespace sabia::wire
