// Memory for bytes under way, in blocks of one size that are used again: fresh memory costs a page
// fault and a page of zeroes each time, which is dearer than the bytes themselves.
//
// Threading: thread-safe. The pool outlives its blocks.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace sabia::fastfile {

inline constexpr std::size_t kBlockSize = 128 << 10;

class BlockPool {
 public:
  // keep: so many bytes at most stay with the pool while nobody uses them.
  explicit BlockPool(std::size_t keep) : keep_(keep / kBlockSize) {}
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // Blocks for so many bytes; returned by Give, or not at all.
  std::vector<char*> Take(std::size_t bytes);
  void Give(std::vector<char*> blocks);

 private:
  const std::size_t keep_;
  std::mutex mutex_;
  std::vector<char*> idle_;
};

}  // namespace sabia::fastfile
