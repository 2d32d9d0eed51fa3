#include "fastfile/block_pool.h"

#include <sys/mman.h>

#include "base/check.h"

namespace sabia::fastfile {
namespace {

// Straight from the kernel, and back to it: a heap would keep what it once had.
char* NewBlock() {
  void* block =
      ::mmap(nullptr, kBlockSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(block != MAP_FAILED);
  return static_cast<char*>(block);
}

}  // namespace

BlockPool::~BlockPool() {
  for (char* block : idle_) ::munmap(block, kBlockSize);
}

std::vector<char*> BlockPool::Take(std::size_t bytes) {
  std::vector<char*> out((bytes + kBlockSize - 1) / kBlockSize);
  std::size_t known = 0;
  {
    const std::lock_guard lock(mutex_);
    for (; known < out.size() && !idle_.empty(); ++known) {
      out[known] = idle_.back();
      idle_.pop_back();
    }
  }
  for (; known < out.size(); ++known) out[known] = NewBlock();
  return out;
}

void BlockPool::Give(std::vector<char*> blocks) {
  {
    const std::lock_guard lock(mutex_);
    while (!blocks.empty() && idle_.size() < keep_) {
      idle_.push_back(blocks.back());
      blocks.pop_back();
    }
  }
  for (char* block : blocks) ::munmap(block, kBlockSize);
}

}  // namespace sabia::fastfile
