// A channel's listing, as the agent reads it. No path that passes can leave the channel or occur
// twice.
#include <cstdint>
#include <set>
#include <string_view>

#include "base/check.h"
#include "channels/listing.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sabia::channels;
  const auto listing = ParseListing(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!listing) return 0;
  std::set<std::string_view> seen;
  for (const auto& object : *listing) {
    CHECK(IsSafeRelativePath(object.path));
    CHECK_MSG(seen.insert(object.path).second, object.path);
    CHECK(object.local() || !object.bucket.empty());
  }
  return 0;
}
