#include "store/reader_pool.h"

#include <utility>

namespace sabia::store {

ReaderPool::ReaderPool(Connection::Options options) : options_(std::move(options)) {
  free_.reserve(kReadersMax);
}

Result<ReaderPool::Loan> ReaderPool::Borrow() {
  {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [this] { return !free_.empty() || open_ < kReadersMax; });
    if (!free_.empty()) {
      std::unique_ptr<Connection> connection = std::move(free_.back());
      free_.pop_back();
      return Loan(*this, std::move(connection));
    }
    ++open_;
  }
  Result<std::unique_ptr<Connection>> opened = Connection::Open(options_);
  if (opened) return Loan(*this, std::move(*opened));
  {
    const std::lock_guard lock(mutex_);
    --open_;
  }
  returned_.notify_one();
  return tl::make_unexpected(opened.error());
}

void ReaderPool::Return(std::unique_ptr<Connection> connection) {
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(connection));
  }
  returned_.notify_one();
}

}  // namespace sabia::store
