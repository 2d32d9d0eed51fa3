// A channel's manifest, as its user wrote it. What parses says the same when it is written again.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "objects/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sabia;
  const auto manifest =
      objects::ParseManifest(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!manifest) {
    CHECK(manifest.error().code == ErrorCode::kInvalidArgument);
    return 0;
  }
  CHECK(!manifest->suffixes.empty());
  json::array again{json::object{{"prefix", manifest->prefix}}};
  for (const std::string& suffix : manifest->suffixes) again.push_back(json::value(suffix));
  const auto read = objects::ParseManifest(json::serialize(again));
  CHECK(read && read->prefix == manifest->prefix && read->suffixes == manifest->suffixes);
  return 0;
}
