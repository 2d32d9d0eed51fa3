#include "s3/actions.h"
#include "s3/conditions.h"
#include "s3/copy_source.h"
#include "s3/metadata.h"
#include "s3/upload.h"

namespace sabia::s3 {
namespace {

constexpr std::string_view kNullVersion = "null";

wire::AwsError NotConditional() {
  return {"NotImplemented",
          501,
          "Conditions on single objects of DeleteObjects (ETag, LastModifiedTime, Size) are not "
          "implemented.",
          {}};
}

// nullopt: the entry may be deleted.
std::optional<wire::AwsError> WhyNot(const DeleteRequest::Entry& entry) {
  if (entry.conditional) return NotConditional();
  if (!entry.version_id.empty() && entry.version_id != kNullVersion) {
    return wire::AwsError{"NoSuchVersion", 404, "The specified version does not exist.", {}};
  }
  if (entry.key.empty())
    return wire::AwsError{"UserKeyMustBeSpecified", 400, "A key must be specified.", {}};
  return std::nullopt;
}

S3Result AnswerCopy(S3Call& call, const ObjectInfo& info) {
  XmlWriter xml("CopyObjectResult");
  xml.Element("ETag", Quoted(info.etag)).Element("LastModified", FormatIso8601(info.modified));
  WriteChecksums(xml, info.checksums, true);
  wire::Headers headers;
  AddEncryption(info.metadata, headers);
  return AnswerXml(call, xml.Finish(), std::move(headers));
}

bool ReplacesMetadata(const S3Call& call) {
  return call.headers().Get("x-amz-metadata-directive") == "REPLACE";
}

// Reads the source through, because the copy shall carry a checksum that the source does not have.
wire::AwsResult<ObjectInfo> CopyBytes(S3Call& call, const ObjectStore::Opened& source,
                                      ChecksumAlgorithm algorithm, const PutOptions& options) {
  ASSIGN_OR_RETURN(auto upload, InS3(call.store.BeginUpload({algorithm}), call.target));
  RETURN_IF_ERROR(InS3(WriteRange(source.fd.get(), {0, source.info.size}, *upload), call.target));
  return InS3(call.store.Put(call.target.bucket, call.target.key, std::move(upload), options),
              call.target);
}

}  // namespace

wire::AwsResult<PutOptions> ReadWriteConditions(const S3Call& call) {
  PutOptions out;
  if (const auto none = call.headers().Find("if-none-match")) {
    if (*none != "*") {
      return wire::Refuse("NotImplemented", 501,
                          "If-None-Match on writes supports only the value *");
    }
    out.if_none_match = true;
  }
  if (const auto match = call.headers().Find("if-match")) {
    std::string_view etag = *match;
    if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
      etag = etag.substr(1, etag.size() - 2);
    }
    out.if_match = std::string(etag);
  }
  return out;
}

S3Result PutObject(S3Call& call) {
  // Before the body is read, so that gigabytes are not sent for nothing; the commit checks again.
  RETURN_IF_ERROR(InS3(call.store.GetBucket(call.target.bucket), call.target));
  if (call.target.key.size() > kKeyBytesMax) {
    return RefuseKey({"KeyTooLongError", 400, "Your key is too long", {}}, call.target.key);
  }
  ASSIGN_OR_RETURN(PutOptions options, ReadWriteConditions(call));
  ASSIGN_OR_RETURN(options.metadata, ReadMetadata(call.headers()));
  ASSIGN_OR_RETURN(const BodyClaims claims, ReadClaims(call));
  ASSIGN_OR_RETURN(auto upload, ReceiveObject(call, claims));
  ASSIGN_OR_RETURN(const ObjectInfo info, InS3(call.store.Put(call.target.bucket, call.target.key,
                                                              std::move(upload), options),
                                               call.target));
  wire::Headers headers;
  headers.Add("ETag", Quoted(info.etag));
  AddChecksums(info.checksums, headers);
  AddEncryption(info.metadata, headers);
  return Answer(call, 200, std::move(headers));
}

S3Result CopyObject(S3Call& call) {
  ASSIGN_OR_RETURN(const CopySource source, OpenCopySource(call));
  const auto& from = source.target;
  const bool replaces = ReplacesMetadata(call);
  if (!replaces && from.bucket == call.target.bucket && from.key == call.target.key) {
    return wire::Refuse(
        "InvalidRequest", 400,
        "This copy request is illegal because it is trying to copy an object to itself without "
        "changing the object's metadata, storage class, website redirect location or encryption "
        "attributes.");
  }
  ASSIGN_OR_RETURN(PutOptions options, ReadWriteConditions(call));
  options.metadata = source.object.info.metadata;
  if (replaces) {
    ASSIGN_OR_RETURN(options.metadata, ReadMetadata(call.headers()));
  } else {
    // Encryption belongs to the request that writes, not to the source.
    ASSIGN_OR_RETURN(const Metadata said, ReadMetadata(call.headers()));
    std::erase_if(options.metadata, [](const auto& m) {
      return m.first.starts_with("x-amz-server-side-encryption");
    });
    for (const auto& [name, value] : said) {
      if (name.starts_with("x-amz-server-side-encryption")) options.metadata[name] = value;
    }
  }
  const std::string_view wanted = call.headers().Get("x-amz-checksum-algorithm");
  const auto algorithm = ParseChecksumAlgorithm(wanted);
  if (!wanted.empty() && !algorithm) {
    return wire::Refuse("InvalidRequest", 400, "Checksum algorithm provided is unsupported.");
  }
  if (algorithm && !source.object.info.checksums.contains(std::string(Name(*algorithm)))) {
    ASSIGN_OR_RETURN(const ObjectInfo info, CopyBytes(call, source.object, *algorithm, options));
    return AnswerCopy(call, info);
  }
  const CopyConditions conditions{source.object.info.etag, options};
  ASSIGN_OR_RETURN(
      const ObjectInfo info,
      InS3(call.store.Copy({from.bucket, from.key}, {call.target.bucket, call.target.key},
                           options.metadata, conditions),
           call.target));
  return AnswerCopy(call, info);
}

S3Result DeleteObject(S3Call& call) {
  ASSIGN_OR_RETURN(const PutOptions conditions, ReadWriteConditions(call));
  RETURN_IF_ERROR(InS3(call.store.Delete(call.target.bucket, call.target.key, conditions.if_match),
                       call.target));
  return Answer(call, 204);
}

S3Result DeleteObjects(S3Call& call) {
  ASSIGN_OR_RETURN(const BodyClaims claims, ReadClaims(call));
  ASSIGN_OR_RETURN(const std::string document, ReceiveDocument(call, claims));
  ASSIGN_OR_RETURN(const DeleteRequest request, ParseDelete(document));
  std::vector<std::string> keys;
  for (const DeleteRequest::Entry& entry : request.entries) {
    if (!WhyNot(entry)) keys.push_back(entry.key);
  }
  RETURN_IF_ERROR(InS3(call.store.DeleteMany(call.target.bucket, keys), call.target));
  XmlWriter xml("DeleteResult");
  for (const DeleteRequest::Entry& entry : request.entries) {
    if (const auto refusal = WhyNot(entry)) {
      xml.Open("Error").Element("Key", entry.key).Element("Code", refusal->code);
      xml.Element("Message", refusal->message).Close();
    } else if (!request.quiet) {
      xml.Open("Deleted").Element("Key", entry.key).Close();
    }
  }
  return AnswerXml(call, xml.Finish());
}

}  // namespace sabia::s3
