// Read-only connections, handed to one thread at a time.
//
// The one returned last is handed out first, so that few callers share few warm caches. Connections
// are opened when first needed; at most kReadersMax exist, and Borrow waits for one beyond that.
//
// Threading: thread-safe.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "store/connection.h"

namespace sabia::store {

class ReaderPool {
 public:
  static constexpr std::size_t kReadersMax = 64;

  explicit ReaderPool(Connection::Options options);

  // A loan that returns itself.
  class Loan {
   public:
    Loan(ReaderPool& pool, std::unique_ptr<Connection> connection)
        : pool_(&pool), connection_(std::move(connection)) {}
    Loan(Loan&&) noexcept = default;
    Loan& operator=(Loan&&) = delete;
    ~Loan() {
      if (connection_) pool_->Return(std::move(connection_));
    }
    Connection& operator*() const { return *connection_; }
    Connection* operator->() const { return connection_.get(); }

   private:
    ReaderPool* pool_;
    std::unique_ptr<Connection> connection_;
  };
  Result<Loan> Borrow();

 private:
  void Return(std::unique_ptr<Connection> connection);

  const Connection::Options options_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Connection>> free_;  // guarded by mutex_
  std::size_t open_ = 0;                           // guarded by mutex_; free or on loan
};

}  // namespace sabia::store
