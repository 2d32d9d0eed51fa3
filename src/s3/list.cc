#include "base/encoding.h"
#include "s3/actions.h"
#include "s3/expiry.h"
#include "s3/listing.h"
#include "s3/storage_class.h"
#include "s3/upload.h"

namespace sabia::s3 {
namespace {

void WriteContents(XmlWriter& xml, const S3Call& call, const Listing& listing,
                   const NameEncoding& encode, bool with_owner) {
  for (const ObjectInfo& object : listing.objects) {
    xml.Open("Contents").Element("Key", encode(object.key));
    WriteFacts(xml, object);
    if (with_owner) WriteOwner(xml, call.context);
    xml.Element("StorageClass", ShownClass(object.storage_class)).Close();
  }
  WritePrefixes(xml, listing.common_prefixes, encode);
}

// What the client asked for when it began the upload.
void WriteUploadChecksum(XmlWriter& xml, const MultipartOptions& options) {
  if (!options.algorithm) return;
  xml.Element("ChecksumAlgorithm", ToUpper(Name(*options.algorithm)));
  xml.Element("ChecksumType", options.full_object ? "FULL_OBJECT" : "COMPOSITE");
}

// Opaque to clients; "1" stands for the format.
std::string EncodeToken(std::string_view start_after) {
  return Base64Encode(std::string("1") + std::string(start_after));
}

wire::AwsResult<std::string> DecodeToken(std::string_view token) {
  const auto text = Base64Decode(token);
  if (!text || !text->starts_with('1')) {
    return wire::Refuse("InvalidArgument", 400, "The continuation token provided is incorrect");
  }
  return text->substr(1);
}

struct Page {
  ListOptions options;
  NameEncoding encode;
};

wire::AwsResult<Page> ReadPage(const S3Call& call) {
  Page out;
  out.options.prefix = call.Parameter("prefix");
  out.options.delimiter = call.Parameter("delimiter");
  RETURN_IF_ERROR(CheckUtf8(call, {"prefix", "delimiter", "marker", "start-after"}));
  ASSIGN_OR_RETURN(out.options.limit, ReadCount(call, "max-keys", kPageMax, kPageMax));
  ASSIGN_OR_RETURN(out.encode, ReadEncoding(call));
  return out;
}

void WriteCommon(XmlWriter& xml, const S3Call& call, const Page& page, const Listing& listing) {
  xml.Element("Name", call.target.bucket).Element("Prefix", page.encode(page.options.prefix));
  if (!page.options.delimiter.empty()) {
    xml.Element("Delimiter", page.encode(page.options.delimiter));
  }
  xml.Element("MaxKeys", std::to_string(page.options.limit));
  if (page.encode.url) xml.Element("EncodingType", "url");
  xml.Element("IsTruncated", listing.truncated ? "true" : "false");
}

}  // namespace

S3Result CheckUtf8(const S3Call& call, std::initializer_list<std::string_view> parameters) {
  for (const std::string_view name : parameters) {
    if (IsUtf8(call.Parameter(name))) continue;
    return wire::Refuse("InvalidArgument", 400, "The parameter {} is not UTF-8", name);
  }
  return {};
}

void WriteFacts(XmlWriter& xml, const ObjectInfo& object) {
  xml.Element("LastModified", FormatIso8601(object.modified));
  xml.Element("ETag", Quoted(object.etag));
  for (const auto& [name, value] : object.checksums) {
    xml.Element("ChecksumAlgorithm", ToUpper(name)).Element("ChecksumType", ChecksumTypeOf(value));
  }
  xml.Element("Size", std::to_string(object.size));
}

void WritePrefixes(XmlWriter& xml, const std::vector<std::string>& prefixes,
                   const NameEncoding& encode) {
  for (const std::string& prefix : prefixes) {
    xml.Open("CommonPrefixes").Element("Prefix", encode(prefix)).Close();
  }
}

S3Result ListObjects(S3Call& call) {
  ASSIGN_OR_RETURN(Page page, ReadPage(call));
  page.options.start_after = call.Parameter("marker");
  ASSIGN_OR_RETURN(const Listing listing,
                   InS3(call.store.List(call.target.bucket, page.options), call.target));
  XmlWriter xml("ListBucketResult");
  WriteCommon(xml, call, page, listing);
  xml.Element("Marker", page.encode(page.options.start_after));
  // Without a delimiter clients take the last key, as AWS has them do.
  if (listing.truncated && !page.options.delimiter.empty()) {
    xml.Element("NextMarker", page.encode(listing.next_start_after));
  }
  WriteContents(xml, call, listing, page.encode, true);
  return AnswerXml(call, xml.Finish());
}

S3Result ListObjectsV2(S3Call& call) {
  ASSIGN_OR_RETURN(Page page, ReadPage(call));
  const std::string_view start_after = call.Parameter("start-after");
  page.options.start_after = start_after;
  const auto token = call.query.Find("continuation-token");
  if (token) {
    ASSIGN_OR_RETURN(page.options.start_after, DecodeToken(*token));
  }
  ASSIGN_OR_RETURN(const Listing listing,
                   InS3(call.store.List(call.target.bucket, page.options), call.target));
  XmlWriter xml("ListBucketResult");
  WriteCommon(xml, call, page, listing);
  xml.Element("KeyCount", std::to_string(listing.objects.size() + listing.common_prefixes.size()));
  if (!start_after.empty()) xml.Element("StartAfter", page.encode(start_after));
  if (token) xml.Element("ContinuationToken", *token);
  if (listing.truncated) {
    xml.Element("NextContinuationToken", EncodeToken(listing.next_start_after));
  }
  WriteContents(xml, call, listing, page.encode, call.Parameter("fetch-owner") == "true");
  return AnswerXml(call, xml.Finish());
}

S3Result ListMultipartUploads(S3Call& call) {
  ListMultipartsOptions options;
  options.prefix = call.Parameter("prefix");
  options.delimiter = call.Parameter("delimiter");
  options.key_marker = call.Parameter("key-marker");
  options.upload_id_marker = call.Parameter("upload-id-marker");
  RETURN_IF_ERROR(CheckUtf8(call, {"prefix", "delimiter", "key-marker", "upload-id-marker"}));
  // Without a key the marker of an upload means nothing.
  if (options.key_marker.empty()) options.upload_id_marker.clear();
  ASSIGN_OR_RETURN(options.limit, ReadCount(call, "max-uploads", kPageMax, kPageMax));
  ASSIGN_OR_RETURN(const NameEncoding encode, ReadEncoding(call));
  ASSIGN_OR_RETURN(const MultipartListing listing,
                   InS3(call.store.ListMultiparts(call.target.bucket, options), call.target));
  XmlWriter xml("ListMultipartUploadsResult");
  xml.Element("Bucket", call.target.bucket).Element("KeyMarker", encode(options.key_marker));
  xml.Element("UploadIdMarker", options.upload_id_marker);
  if (listing.truncated) {
    xml.Element("NextKeyMarker", encode(listing.next_key_marker));
    xml.Element("NextUploadIdMarker", listing.next_upload_id_marker);
  }
  xml.Element("Prefix", encode(options.prefix));
  if (!options.delimiter.empty()) xml.Element("Delimiter", encode(options.delimiter));
  xml.Element("MaxUploads", std::to_string(options.limit));
  if (encode.url) xml.Element("EncodingType", "url");
  xml.Element("IsTruncated", listing.truncated ? "true" : "false");
  for (const MultipartInfo& upload : listing.uploads) {
    xml.Open("Upload").Element("Key", encode(upload.key)).Element("UploadId", upload.upload_id);
    WriteOwner(xml, call.context, "Initiator");
    WriteOwner(xml, call.context);
    xml.Element("StorageClass", ShownClass(upload.options.storage_class));
    xml.Element("Initiated", FormatIso8601(upload.initiated));
    WriteUploadChecksum(xml, upload.options);
    xml.Close();
  }
  WritePrefixes(xml, listing.common_prefixes, encode);
  return AnswerXml(call, xml.Finish());
}

S3Result ListParts(S3Call& call) {
  const std::string upload_id(call.Parameter("uploadId"));
  ASSIGN_OR_RETURN(const std::size_t limit, ReadCount(call, "max-parts", kPageMax, kPageMax));
  ASSIGN_OR_RETURN(const std::size_t after, ReadCount(call, "part-number-marker", 0,
                                                      static_cast<std::size_t>(kPartNumberMax)));
  const UploadName name{call.target.bucket, call.target.key, upload_id};
  ASSIGN_OR_RETURN(const MultipartInfo info, InS3(call.store.GetMultipart(name), call.target));
  ASSIGN_OR_RETURN(const std::vector<PartInfo> parts,
                   InS3(call.store.ListParts(name), call.target));
  XmlWriter body("ListPartsResult");
  body.Element("Bucket", call.target.bucket).Element("Key", call.target.key);
  body.Element("UploadId", upload_id);
  WriteOwner(body, call.context, "Initiator");
  WriteOwner(body, call.context);
  body.Element("StorageClass", ShownClass(info.options.storage_class));
  WriteUploadChecksum(body, info.options);
  body.Element("PartNumberMarker", std::to_string(after));
  body.Element("MaxParts", std::to_string(limit));
  std::size_t count = 0;
  std::size_t last = 0;
  bool truncated = false;
  for (const PartInfo& part : parts) {
    if (static_cast<std::size_t>(part.number) <= after) continue;
    if (count == limit) {
      truncated = true;
      break;
    }
    ++count;
    last = static_cast<std::size_t>(part.number);
    body.Open("Part").Element("PartNumber", std::to_string(part.number));
    body.Element("LastModified", FormatIso8601(part.modified));
    body.Element("ETag", Quoted(part.etag)).Element("Size", std::to_string(part.size));
    WriteChecksums(body, part.checksums, false);
    body.Close();
  }
  if (truncated) body.Element("NextPartNumberMarker", std::to_string(last));
  body.Element("IsTruncated", truncated ? "true" : "false");
  wire::Headers headers;
  AddAbort(call, info, headers);
  return AnswerXml(call, body.Finish(), std::move(headers));
}

}  // namespace sabia::s3
