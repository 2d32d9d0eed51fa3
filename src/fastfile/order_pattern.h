// Which small files will be opened next, learnt from the order in which they were read.
//
// Readers that take files in the order of the listing, alone or several of them side by side, get
// the following ones fetched ahead: two at first, then twice as many with every hit. Any other
// order gets none.
//
// Pure. Threading: thread-compatible.
#pragma once

#include <cstdint>

namespace sabia::fastfile {

class OrderPattern {
 public:
  struct Files {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };
  // The file was read for the first time since it was opened. Which ones to fetch now; at most
  // `most` beyond it. May be empty, and may reach beyond the last file.
  Files Observe(std::uint32_t file, std::uint32_t most);

 private:
  std::uint32_t furthest_ = 0;
  std::uint32_t ahead_ = 0;  // the first one that was not asked for
  std::uint32_t depth_ = 0;  // how many to fetch ahead
  std::uint32_t misses_ = 0;
  bool begun_ = false;
};

}  // namespace sabia::fastfile
