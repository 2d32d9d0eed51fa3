// The XML documents of S3: a writer for answers, parsers for the three bodies that requests carry.
//
// Pure; thread-compatible. Errors: MalformedXML, with AWS's sentence; limits are AWS's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "s3/engine.h"
#include "wire/aws_error.h"

namespace sabia::s3 {

inline constexpr std::string_view kS3Namespace = "http://s3.amazonaws.com/doc/2006-03-01/";

// Writes elements in order. Characters that XML cannot carry are written as references, as S3 does.
class XmlWriter {
 public:
  // With the declaration; name_space "" writes no xmlns.
  explicit XmlWriter(std::string_view root, std::string_view name_space = kS3Namespace);
  XmlWriter& Open(std::string_view name, std::string_view attributes = "");
  XmlWriter& Close();
  XmlWriter& Element(std::string_view name, std::string_view text);
  // Characters of the element that is open.
  XmlWriter& Text(std::string_view text);
  // Elements that are written already.
  XmlWriter& Raw(std::string_view xml);
  // Closes what is open.
  std::string Finish();

 private:
  void Escape(std::string_view text);
  std::string out_;
  std::vector<std::string> open_;
};

struct DeleteRequest {
  struct Entry {
    std::string key;
    std::string version_id;
    // Conditions on the object.
    std::optional<std::string> etag;  // without quotes
    std::optional<WallTime> modified;
    std::optional<std::uint64_t> size;
  };
  std::vector<Entry> entries;  // 1 to 1000
  bool quiet = false;
};
wire::AwsResult<DeleteRequest> ParseDelete(std::string_view xml);

// Numbers, ETags without quotes, checksums; in the document's order.
wire::AwsResult<std::vector<PartInfo>> ParseCompleteMultipart(std::string_view xml);

struct BucketConfiguration {
  std::string location;  // "" when the body is empty or names none
};
// An element that asks for more than a location is refused by name.
wire::AwsResult<BucketConfiguration> ParseCreateBucket(std::string_view xml);

}  // namespace sabia::s3
