#include "base/encoding.h"
#include "s3/actions.h"
#include "s3/listing.h"
#include "s3/storage_class.h"
#include "s3/upload.h"
#include "s3/xml_tree.h"

namespace sabia::s3 {
namespace {

wire::AwsResult<ListVersionsOptions> ReadOptions(const S3Call& call) {
  ListVersionsOptions out;
  out.prefix = call.Parameter("prefix");
  out.delimiter = call.Parameter("delimiter");
  out.key_marker = call.Parameter("key-marker");
  RETURN_IF_ERROR(CheckUtf8(call, {"prefix", "delimiter", "key-marker"}));
  ASSIGN_OR_RETURN(out.limit, ReadCount(call, "max-keys", kPageMax, kPageMax));
  const auto marker = call.query.Find("version-id-marker");
  if (!marker) return out;
  if (out.key_marker.empty()) {
    return wire::Refuse("InvalidArgument", 400,
                        "A version-id marker cannot be specified without a key marker.");
  }
  if (marker->empty()) {
    return wire::Refuse("InvalidArgument", 400, "A version-id marker cannot be empty.");
  }
  ASSIGN_OR_RETURN(out.version_marker, ParseVersion(*marker));
  return out;
}

void WriteVersion(XmlWriter& xml, const S3Call& call, const VersionListing::Entry& entry,
                  const NameEncoding& encode) {
  const ObjectInfo& object = entry.object;
  xml.Open(object.delete_marker ? "DeleteMarker" : "Version");
  xml.Element("Key", encode(object.key));
  xml.Element("VersionId", ShownVersion(object.version_id));
  xml.Element("IsLatest", entry.latest ? "true" : "false");
  if (object.delete_marker) {
    xml.Element("LastModified", FormatIso8601(object.modified));
  } else {
    WriteFacts(xml, object);
  }
  WriteOwner(xml, call.context);
  if (!object.delete_marker) xml.Element("StorageClass", ShownClass(object.storage_class));
  xml.Close();
}

}  // namespace

S3Result GetBucketVersioning(S3Call& call) {
  RETURN_IF_ERROR(RequireBucket(call));
  XmlWriter xml("VersioningConfiguration");
  if (call.versioned()) {
    xml.Element("Status",
                call.bucket->versioning == Versioning::kEnabled ? "Enabled" : "Suspended");
  }
  return AnswerXml(call, xml.Finish());
}

S3Result PutBucketVersioning(S3Call& call) {
  RETURN_IF_ERROR(RequireBucket(call));
  ASSIGN_OR_RETURN(const BodyClaims claims, ReadClaims(call));
  ASSIGN_OR_RETURN(const std::string document, ReceiveDocument(call, claims));
  ASSIGN_OR_RETURN(const XmlNode root, ParseXml(document, "VersioningConfiguration"));
  RETURN_IF_ERROR(OnlyChildren(root, {"Status", "MfaDelete"}));
  RETURN_IF_ERROR(AtMostOnce(root, {"Status", "MfaDelete"}));
  const std::string_view mfa = root.Get("MfaDelete");
  if (mfa == "Enabled") {
    return wire::Refuse("NotImplemented", 501,
                        "MfaDelete is not implemented: there are no MFA devices here.");
  }
  const std::string_view status = root.Get("Status");
  if (!mfa.empty() && mfa != "Disabled") return MalformedXml();
  if (status.empty()) {
    return wire::Refuse("IllegalVersioningConfigurationException", 400,
                        "The Versioning element must be specified");
  }
  if (status != "Enabled" && status != "Suspended") return MalformedXml();
  const Versioning wanted = status == "Enabled" ? Versioning::kEnabled : Versioning::kSuspended;
  RETURN_IF_ERROR(InS3(call.store.SetVersioning(call.target.bucket, wanted), call.target));
  return Answer(call, 200);
}

S3Result ListObjectVersions(S3Call& call) {
  ASSIGN_OR_RETURN(const ListVersionsOptions options, ReadOptions(call));
  ASSIGN_OR_RETURN(const NameEncoding encode, ReadEncoding(call));
  ASSIGN_OR_RETURN(const VersionListing listing,
                   InS3(call.store.ListVersions(call.target.bucket, options), call.target));
  XmlWriter xml("ListVersionsResult");
  xml.Element("Name", call.target.bucket).Element("Prefix", encode(options.prefix));
  if (!options.delimiter.empty()) xml.Element("Delimiter", encode(options.delimiter));
  xml.Element("KeyMarker", encode(options.key_marker));
  xml.Element("VersionIdMarker", call.Parameter("version-id-marker"));
  if (listing.truncated) {
    xml.Element("NextKeyMarker", encode(listing.next_key_marker));
    if (listing.next_version_marker) {
      xml.Element("NextVersionIdMarker", ShownVersion(*listing.next_version_marker));
    }
  }
  xml.Element("MaxKeys", std::to_string(options.limit));
  if (encode.url) xml.Element("EncodingType", "url");
  xml.Element("IsTruncated", listing.truncated ? "true" : "false");
  for (const VersionListing::Entry& entry : listing.versions) {
    WriteVersion(xml, call, entry, encode);
  }
  WritePrefixes(xml, listing.common_prefixes, encode);
  return AnswerXml(call, xml.Finish());
}

}  // namespace sabia::s3
