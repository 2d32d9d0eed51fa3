#include "fastfile/order_pattern.h"

#include <algorithm>

namespace sabia::fastfile {
namespace {

// Readers side by side: so far apart they may be.
constexpr std::uint32_t kApart = 32;
// So many jumps in a row mean that there is no order.
constexpr std::uint32_t kMissesMax = 3;

}  // namespace

OrderPattern::Files OrderPattern::Observe(std::uint32_t file, std::uint32_t most) {
  const std::uint32_t reach = std::max(kApart, depth_);
  const bool near = begun_ && file + reach >= furthest_ && file <= furthest_ + reach;
  begun_ = true;
  if (!near) {
    if (depth_ > 0 && ++misses_ < kMissesMax) return {};
    furthest_ = file;
    ahead_ = file + 1;
    depth_ = 0;
    misses_ = 0;
    return {};
  }
  misses_ = 0;
  if (file > furthest_) {
    furthest_ = file;
    depth_ = std::min(std::max(depth_ * 2, 2U), most);
  }
  ahead_ = std::max(ahead_, furthest_ + 1);
  const Files out{ahead_, std::max(ahead_, furthest_ + 1 + depth_)};
  ahead_ = out.end;
  return out;
}

}  // namespace sabia::fastfile
