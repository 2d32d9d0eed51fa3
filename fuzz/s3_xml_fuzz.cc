// The XML bodies of S3 requests. What was parsed, written again, parses to the same.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/encoding.h"
#include "s3/cors.h"
#include "s3/lifecycle.h"
#include "s3/tag_set.h"
#include "s3/xml.h"

namespace sabia::s3 {
namespace {

void CheckDelete(std::string_view xml) {
  const auto parsed = ParseDelete(xml);
  if (!parsed) return;
  CHECK(!parsed->entries.empty() && parsed->entries.size() <= 1000);
  XmlWriter writer("Delete", "");
  for (const auto& entry : parsed->entries) {
    writer.Open("Object").Element("Key", entry.key);
    if (!entry.version_id.empty()) writer.Element("VersionId", entry.version_id);
    writer.Close();
  }
  const auto again = ParseDelete(writer.Finish());
  CHECK(again.has_value() && again->entries.size() == parsed->entries.size());
  for (std::size_t i = 0; i < again->entries.size(); ++i) {
    CHECK(again->entries[i].key == parsed->entries[i].key);
    CHECK(again->entries[i].version_id == parsed->entries[i].version_id);
  }
}

void CheckComplete(std::string_view xml) {
  const auto parsed = ParseCompleteMultipart(xml);
  if (!parsed) return;
  XmlWriter writer("CompleteMultipartUpload", "");
  for (const PartInfo& part : *parsed) {
    CHECK(part.number >= 1 && !part.etag.empty());
    writer.Open("Part").Element("PartNumber", std::to_string(part.number));
    writer.Element("ETag", "\"" + part.etag + "\"").Close();
  }
  const auto again = ParseCompleteMultipart(writer.Finish());
  CHECK(again.has_value() && again->size() == parsed->size());
  for (std::size_t i = 0; i < again->size(); ++i) {
    CHECK((*again)[i].number == (*parsed)[i].number && (*again)[i].etag == (*parsed)[i].etag);
  }
}

// What is kept with a bucket is what was understood, and is understood again.
template <typename Parse, typename Write>
void CheckKept(std::string_view xml, Parse parse, Write write) {
  const auto parsed = parse(xml);
  if (!parsed) return;
  const std::string written = write(*parsed);
  const auto again = parse(written);
  CHECK(again.has_value() && write(*again) == written);
}

}  // namespace
}  // namespace sabia::s3

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sabia::s3;
  const std::string_view xml(reinterpret_cast<const char*>(data), size);
  CheckDelete(xml);
  CheckComplete(xml);
  (void)ParseCreateBucket(xml);
  CheckKept(xml, ParseCors, WriteCors);
  CheckKept(
      xml, [](std::string_view text) { return ParseLifecycle(text, "id"); }, WriteLifecycle);
  CheckKept(
      xml, [](std::string_view text) { return ParseTagging(text, kBucketTagsMax); }, WriteTagging);
  return 0;
}
