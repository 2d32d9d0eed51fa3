// What S3 requests carry outside their bodies: ranges, copy sources, paths, hosts, ETag lists.
// Ranges lie inside the object; targets have a bucket wherever they have a key.
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/check.h"
#include "s3/conditions.h"
#include "s3/names.h"
#include "s3/range.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sabia::s3;
  // The size of the object, then the text.
  std::uint64_t object_size = 0;
  if (size < sizeof object_size) return 0;
  std::memcpy(&object_size, data, sizeof object_size);
  const std::string_view text(reinterpret_cast<const char*>(data) + sizeof object_size,
                              size - sizeof object_size);
  if (const auto range = ParseRange(text, object_size); range && *range) {
    CHECK((*range)->length > 0 && (*range)->offset < object_size);
    CHECK((*range)->length <= object_size - (*range)->offset);
  }
  if (const auto range = ParseCopyRange(text, object_size)) {
    CHECK(range->length > 0 && range->offset < object_size);
    CHECK(range->length <= object_size - range->offset);
  }
  const std::size_t line = text.find('\n');
  const std::string_view host = line == std::string_view::npos ? "" : text.substr(line + 1);
  if (const auto target = ParseTarget(text.substr(0, line), host)) {
    CHECK(target->key.empty() || !target->bucket.empty());
    CHECK(target->key.size() + target->bucket.size() <= text.size());
  }
  if (const auto source = ParseCopySource(text)) {
    CHECK(!source->target.bucket.empty() && !source->target.key.empty());
    CHECK(source->target.bucket.find('/') == std::string::npos);
  }
  if (IsLegalBucketName(text)) CHECK(text.size() >= 3 && text.size() <= 63);
  (void)MatchesEtag(text, "etag");
  return 0;
}
