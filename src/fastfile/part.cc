#include "fastfile/part.h"

#include <algorithm>
#include <cstring>

namespace sabia::fastfile {

void Part::Collect(Range wanted, std::vector<iovec>& out) const {
  for (std::uint64_t at = wanted.begin - range.begin; at < wanted.end - range.begin;) {
    const std::uint64_t in_block = at % kBlockSize;
    const std::uint64_t n =
        std::min<std::uint64_t>(kBlockSize - in_block, wanted.end - range.begin - at);
    out.push_back({memory[at / kBlockSize] + in_block, n});
    at += n;
  }
}

void Part::Fill(std::uint64_t at, std::string_view data) {
  while (!data.empty()) {
    const std::uint64_t in_block = at % kBlockSize;
    const std::size_t n = std::min<std::size_t>(kBlockSize - in_block, data.size());
    std::memcpy(memory[at / kBlockSize] + in_block, data.data(), n);
    data.remove_prefix(n);
    at += n;
  }
}

Part* Object::FirstMissing(Range wanted, std::uint64_t& gap) const {
  Part* missing = nullptr;
  std::uint64_t at = wanted.begin;
  auto it = parts.upper_bound(at);
  if (it != parts.begin()) --it;
  for (; it != parts.end() && at < wanted.end; ++it) {
    Part& part = *it->second;
    if (part.range.end <= at) continue;
    if (part.range.begin > at) break;
    if (missing == nullptr && part.filled_end() < std::min(part.range.end, wanted.end))
      missing = &part;
    at = part.range.end;
  }
  gap = std::min(at, wanted.end);
  return missing;
}

}  // namespace sabia::fastfile
