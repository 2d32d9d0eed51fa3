// A piece of an object on its way: one request, whose bytes may be read as they arrive.
//
// Threading: guarded by the engine's mutex, but for the bytes: those below `filled` never change,
// those above belong to the thread that fetches.
#pragma once

#include <sys/uio.h>

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "fastfile/block_pool.h"
#include "fastfile/read_pattern.h"

namespace sabia::fastfile {

struct Part;
struct Object;

// A reader that waits.
struct PendingRead {
  Range range;
  const void* token = nullptr;
  std::function<void(int error, std::span<const iovec> data)> done;
};

struct Part {
  enum class State { kQueued, kFetching, kDone, kGone };

  Part(Range wanted, std::shared_ptr<Object> of, BlockPool& blocks)
      : range(wanted), object(std::move(of)), pool(blocks) {}
  ~Part() { pool.Give(std::move(memory)); }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  std::uint64_t filled_end() const { return range.begin + filled; }
  std::uint64_t held() const { return (range.size() + kBlockSize - 1) / kBlockSize * kBlockSize; }
  // Appends [from, to) of the file, which lies in the part.
  void Collect(Range wanted, std::vector<iovec>& out) const;
  // Writes at a place of the part.
  void Fill(std::uint64_t at, std::string_view data);

  const Range range;
  const std::shared_ptr<Object> object;
  BlockPool& pool;
  State state = State::kQueued;
  bool urgent = false;  // somebody waits, or did
  bool ahead = false;   // of a file that nobody has opened yet
  std::uint64_t filled = 0;
  std::uint64_t served = 0;  // bytes given to readers
  std::vector<char*> memory;
  std::vector<std::unique_ptr<PendingRead>> waiting;  // for bytes of this part before any other
};

// An object that is open, or of which something is there.
struct Object {
  explicit Object(std::uint32_t number) : file(number) {}

  // The first part that lacks bytes of the range, as far as there are parts; nullptr: all there.
  // `gap`: the first byte that no part covers; the range's end when there is none.
  Part* FirstMissing(Range wanted, std::uint64_t& gap) const;

  const std::uint32_t file;
  std::map<std::uint64_t, std::shared_ptr<Part>> parts;  // by begin; they do not overlap
  std::vector<ReadPattern*> readers;                     // of the open handles
  std::uint64_t held = 0;                                // bytes of memory
  bool failed = false;
};

}  // namespace sabia::fastfile
