#include <algorithm>
#include <array>
#include <charconv>

#include "base/encoding.h"
#include "s3/actions.h"
#include "s3/listing.h"
#include "s3/storage_class.h"
#include "s3/upload.h"

namespace sabia::s3 {
namespace {

constexpr std::array<std::string_view, 5> kAttributes = {"ETag", "Checksum", "ObjectParts",
                                                         "StorageClass", "ObjectSize"};

// Of all fields of that name, which may be lists.
wire::AwsResult<std::vector<std::string>> ReadAttributes(const wire::Headers& headers) {
  std::vector<std::string> out;
  for (const auto& [name, value] : headers.fields()) {
    if (!EqualsIgnoreCase(name, "x-amz-object-attributes")) continue;
    std::string_view list = value;
    while (!list.empty()) {
      const std::size_t comma = std::min(list.find(','), list.size());
      std::string item(list.substr(0, comma));
      std::erase(item, ' ');
      if (std::find(kAttributes.begin(), kAttributes.end(), item) == kAttributes.end()) {
        return wire::Refuse("InvalidArgument", 400, "Invalid attribute name specified.");
      }
      out.push_back(std::move(item));
      list.remove_prefix(std::min(comma + 1, list.size()));
    }
  }
  if (out.empty()) {
    return wire::Refuse("InvalidRequest", 400,
                        "The x-amz-object-attributes header specifying the attributes to be "
                        "retrieved is either missing or empty");
  }
  return out;
}

wire::AwsResult<std::size_t> ReadHeaderCount(const S3Call& call, std::string_view name,
                                             std::size_t fallback, std::size_t max) {
  const std::string_view text = call.headers().Get(name);
  if (text.empty()) return fallback;
  std::size_t out = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, out);
  if (at != end || error != std::errc()) {
    return wire::Refuse("InvalidArgument", 400, "Provided {} not an integer", name);
  }
  return std::min(out, max);
}

// Single parts are described where they have checksums of their own, as on AWS.
S3Result WriteParts(XmlWriter& xml, const S3Call& call, const ObjectInfo& object) {
  if (object.parts.empty()) return {};
  ASSIGN_OR_RETURN(const std::size_t limit,
                   ReadHeaderCount(call, "x-amz-max-parts", kPageMax, kPageMax));
  ASSIGN_OR_RETURN(const std::size_t after,
                   ReadHeaderCount(call, "x-amz-part-number-marker", 0,
                                   static_cast<std::size_t>(kPartNumberMax)));
  xml.Open("ObjectParts");
  if (!object.part_checksums.empty()) {
    const std::size_t first = std::min(after, object.parts.size());
    const std::size_t last = std::min(first + limit, object.parts.size());
    xml.Element("IsTruncated", last < object.parts.size() ? "true" : "false");
    xml.Element("MaxParts", std::to_string(limit));
    xml.Element("NextPartNumberMarker", std::to_string(last));
    xml.Element("PartNumberMarker", std::to_string(after));
    for (std::size_t i = first; i < last; ++i) {
      xml.Open("Part").Element("PartNumber", std::to_string(i + 1));
      xml.Element("Size", std::to_string(object.parts[i]));
      WriteChecksums(xml, PartChecksum(object, i), false);
      xml.Close();
    }
  }
  xml.Element("PartsCount", std::to_string(object.parts.size())).Close();
  return {};
}

}  // namespace

S3Result GetObjectAttributes(S3Call& call) {
  ASSIGN_OR_RETURN(const std::vector<std::string> wanted, ReadAttributes(call.headers()));
  const auto wants = [&](std::string_view name) {
    return std::find(wanted.begin(), wanted.end(), name) != wanted.end();
  };
  ASSIGN_OR_RETURN(const VersionChoice version, ReadVersion(call));
  auto found = call.store.Head(call.target.bucket, call.target.key, version);
  if (!found) return RefuseMissing(call, found.error());
  const ObjectInfo& object = *found;
  if (object.delete_marker) return RefuseMarker(call, object);
  XmlWriter xml("GetObjectAttributesResponse");
  if (wants("ETag")) xml.Element("ETag", object.etag);
  if (wants("Checksum") && !object.checksums.empty()) {
    xml.Open("Checksum");
    WriteChecksums(xml, object.checksums, true);
    xml.Close();
  }
  if (wants("ObjectParts")) RETURN_IF_ERROR(WriteParts(xml, call, object));
  if (wants("StorageClass")) xml.Element("StorageClass", ShownClass(object.storage_class));
  if (wants("ObjectSize")) xml.Element("ObjectSize", std::to_string(object.size));
  wire::Headers headers;
  headers.Add("Last-Modified", FormatRfc1123(object.modified));
  AddVersion(call, object.version_id, headers);
  return AnswerXml(call, xml.Finish(), std::move(headers));
}

}  // namespace sabia::s3
