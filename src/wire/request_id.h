// Names for requests, as AWS clients print them in error messages. Unique, not secret, and no
// system call each.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "env/random.h"

namespace sabia::wire {

// Thread-safe.
class RequestIds {
 public:
  explicit RequestIds(env::Random& random) : high_(random.Next()), low_(random.Next()) {}
  // The form of a version 4 UUID.
  std::string Next();

 private:
  const std::uint64_t high_;
  const std::uint64_t low_;
  std::atomic<std::uint64_t> count_{0};
};

}  // namespace sabia::wire
