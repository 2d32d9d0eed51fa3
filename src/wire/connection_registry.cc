#include "wire/connection_registry.h"

#include <sys/socket.h>

#include "base/check.h"

namespace sabia::wire {

Connection* ConnectionRegistry::Add(std::unique_ptr<Connection> connection) {
  const std::scoped_lock lock(mutex_);
  connection->slot = connections_.size();
  connections_.push_back(std::move(connection));
  size_.store(connections_.size(), std::memory_order_relaxed);
  return connections_.back().get();
}

void ConnectionRegistry::Remove(Connection* connection) {
  std::unique_ptr<Connection> removed;  // closes its socket outside the lock
  const std::scoped_lock lock(mutex_);
  const std::size_t slot = connection->slot;
  CHECK(slot < connections_.size() && connections_[slot].get() == connection);
  removed = std::move(connections_[slot]);
  if (slot + 1 != connections_.size()) {
    connections_[slot] = std::move(connections_.back());
    connections_[slot]->slot = slot;
  }
  connections_.pop_back();
  size_.store(connections_.size(), std::memory_order_relaxed);
}

void ConnectionRegistry::CutExpired(MonoTime now) {
  const std::scoped_lock lock(mutex_);
  for (const auto& connection : connections_) {
    const std::int64_t deadline = connection->deadline.load();
    if (deadline == 0 || deadline > now.time_since_epoch().count()) continue;
    connection->expired.store(true);
    ::shutdown(connection->transport->fd(), SHUT_RD);
  }
}

void ConnectionRegistry::CutAll() {
  const std::scoped_lock lock(mutex_);
  for (const auto& connection : connections_) {
    ::shutdown(connection->transport->fd(), SHUT_RDWR);
  }
}

void ConnectionRegistry::Clear() {
  const std::scoped_lock lock(mutex_);
  connections_.clear();
  size_.store(0, std::memory_order_relaxed);
}

}  // namespace sabia::wire
