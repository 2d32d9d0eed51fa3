#include <charconv>

#include "s3/access.h"
#include "s3/actions.h"
#include "s3/conditions.h"
#include "s3/copy_source.h"
#include "s3/encryption.h"
#include "s3/expiry.h"
#include "s3/metadata.h"
#include "s3/storage_class.h"
#include "s3/tag_set.h"
#include "s3/upload.h"

namespace sabia::s3 {
namespace {

wire::AwsResult<objects::DeleteRequest> RequestOf(const S3Call& call,
                                                  const DeleteRequest::Entry& entry) {
  if (entry.key.empty()) {
    return wire::Refuse("UserKeyMustBeSpecified", 400, "A key must be specified.");
  }
  objects::DeleteOptions options;
  if (!entry.version_id.empty()) {
    auto version = ParseVersion(entry.version_id);
    if (!version) {
      return wire::Refuse("NoSuchVersion", 404, "The specified version does not exist.");
    }
    options.version = std::move(*version);
  }
  RETURN_IF_ERROR(
      AuthorizeObject(call, {"DeleteObject", {call.target.bucket, entry.key}, options.version}));
  options.if_match = entry.etag;
  options.if_modified = entry.modified;
  options.if_size = entry.size;
  return objects::DeleteRequest{entry.key, std::move(options)};
}

void WriteDeleted(XmlWriter& xml, const S3Call& call, const DeleteRequest::Entry& entry,
                  const Deleted& deleted) {
  xml.Open("Deleted").Element("Key", entry.key);
  if (!entry.version_id.empty()) xml.Element("VersionId", entry.version_id);
  if (deleted.marker) {
    xml.Element("DeleteMarker", "true");
    if (call.versioned()) {
      xml.Element("DeleteMarkerVersionId", ShownVersion(deleted.version_id));
    }
  }
  xml.Close();
}

void WriteRefused(XmlWriter& xml, const DeleteRequest::Entry& entry, const wire::AwsError& error) {
  xml.Open("Error").Element("Key", entry.key);
  if (!entry.version_id.empty()) xml.Element("VersionId", entry.version_id);
  xml.Element("Code", error.code).Element("Message", error.message).Close();
}

wire::AwsResult<DeleteOptions> ReadDeleteConditions(const S3Call& call) {
  constexpr std::string_view kTime = "x-amz-if-match-last-modified-time";
  constexpr std::string_view kSize = "x-amz-if-match-size";
  const auto refuse = [](std::string_view header) {
    return wire::Refuse("InvalidArgument", 400, "Value for {} header is invalid.", header);
  };
  DeleteOptions out;
  if (const auto time = call.headers().Find(kTime)) {
    const auto parsed = ParseRfc1123(*time);
    if (!parsed) return refuse(kTime);
    out.if_modified = *parsed;
  }
  if (const auto size = call.headers().Find(kSize)) {
    std::uint64_t bytes = 0;
    const char* const end = size->data() + size->size();
    const auto [at, error] = std::from_chars(size->data(), end, bytes);
    if (error != std::errc() || at != end) return refuse(kSize);
    out.if_size = bytes;
  }
  return out;
}

S3Result AnswerCopy(S3Call& call, const CopySource& source, const ObjectInfo& info) {
  XmlWriter xml("CopyObjectResult");
  xml.Element("ETag", Quoted(info.etag)).Element("LastModified", FormatIso8601(info.modified));
  WriteChecksums(xml, info.checksums, true);
  wire::Headers headers;
  AddVersion(call, info.version_id, headers);
  AddExpiration(call, info, headers);
  AddSourceVersion(call, source, headers);
  AddEncryption(info.metadata, headers);
  return AnswerXml(call, xml.Finish(), std::move(headers));
}

bool Replaces(const S3Call& call, std::string_view directive) {
  return call.headers().Get(directive) == "REPLACE";
}

// What the copy shall carry: of the source, or of the request.
wire::AwsResult<PutOptions> ReadCopyTarget(const S3Call& call, const ObjectInfo& source) {
  ASSIGN_OR_RETURN(PutOptions out, ReadWriteConditions(call));
  ASSIGN_OR_RETURN(out.storage_class, ReadStorageClass(call.headers()));
  ASSIGN_OR_RETURN(Metadata said, ReadMetadata(call.headers()));
  if (Replaces(call, "x-amz-metadata-directive")) {
    out.metadata = std::move(said);
  } else {
    out.metadata = source.metadata;
    ForgetRequested(out.metadata);
    Metadata requested = said;
    ForgetRequested(said);
    for (const auto& [name, value] : requested) {
      if (!said.contains(name)) out.metadata[name] = value;
    }
  }
  if (Replaces(call, "x-amz-tagging-directive")) {
    ASSIGN_OR_RETURN(out.tags, ParseTagHeader(call.headers().Get("x-amz-tagging")));
  } else {
    out.tags = source.tags;
  }
  return out;
}

ChecksumAlgorithm KeptAlgorithm(const ObjectInfo& source) {
  const auto kept = source.checksums.empty()
                        ? std::nullopt
                        : ParseChecksumAlgorithm(source.checksums.begin()->first);
  return kept.value_or(ChecksumAlgorithm::kCrc32);
}

// A copy onto itself must change something, or bring an old version back.
S3Result CheckChanges(const S3Call& call, const CopySource& source, const PutOptions& target) {
  if (source.target.bucket != call.target.bucket || source.target.key != call.target.key ||
      source.version || Replaces(call, "x-amz-metadata-directive") ||
      target.storage_class != source.object.info.storage_class ||
      target.metadata != source.object.info.metadata) {
    return {};
  }
  return wire::Refuse(
      "InvalidRequest", 400,
      "This copy request is illegal because it is trying to copy an object to itself without "
      "changing the object's metadata, storage class, website redirect location or encryption "
      "attributes.");
}

// Reads the source through, because the copy shall be encrypted in another way, or carry a checksum
// that the source does not have.
wire::AwsResult<ObjectInfo> CopyBytes(S3Call& call, const ObjectStore::Opened& source,
                                      ChecksumAlgorithm algorithm, PutOptions options) {
  ASSIGN_OR_RETURN(const EncryptionPlan plan, PlanCopy(call, source.info));
  ASSIGN_OR_RETURN(const auto seal, MakeSeal(call, plan, options.metadata));
  ASSIGN_OR_RETURN(auto upload, BeginUpload(call, seal, {algorithm}));
  RETURN_IF_ERROR(
      InS3(WriteRange(call.store, source, {0, source.info.size}, *upload), call.target));
  return InS3(call.store.Put(call.target.bucket, call.target.key, std::move(upload), options),
              call.target);
}

wire::Response AnswerOfPut(const ObjectInfo& info, const CallTrace& trace) {
  wire::Response response;
  wire::Headers& headers = response.headers;
  headers.Add("ETag", Quoted(info.etag));
  if (trace.versioned) headers.Add("x-amz-version-id", ShownVersion(info.version_id));
  AddExpiration(trace.rules.get(), info, headers);
  AddChecksums(info.checksums, headers);
  AddEncryption(info.metadata, headers);
  for (const auto& [name, value] : trace.common.fields()) headers.Add(name, value);
  return response;
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
  RETURN_IF_ERROR(RequireBucket(call));
  if (call.target.key.size() > kKeyBytesMax) {
    return RefuseKey({"KeyTooLongError", 400, "Your key is too long", {}}, call.target.key);
  }
  ASSIGN_OR_RETURN(PutOptions options, ReadWriteConditions(call));
  ASSIGN_OR_RETURN(options.metadata, ReadMetadata(call.headers()));
  ASSIGN_OR_RETURN(options.storage_class, ReadStorageClass(call.headers()));
  ASSIGN_OR_RETURN(options.tags, ParseTagHeader(call.headers().Get("x-amz-tagging")));
  ASSIGN_OR_RETURN(const BodyClaims claims, ReadClaims(call));
  ASSIGN_OR_RETURN(const EncryptionPlan plan, PlanEncryption(call));
  ASSIGN_OR_RETURN(const Seal seal, MakeSeal(call, plan, options.metadata));
  ASSIGN_OR_RETURN(auto upload, ReceiveObject(call, claims, seal));
  if (std::shared_ptr<wire::LaterAnswer> later = call.exchange.Later()) {
    const auto answer = [trace = CallTrace(call), later](const Result<ObjectInfo>& put) {
      later->Send(put ? AnswerOfPut(*put, trace)
                      : ErrorAnswer(ToS3Error(put.error(), trace.target), trace));
    };
    call.store.PutLater(call.target.bucket, call.target.key, std::move(upload), options, answer);
    return {};
  }
  ASSIGN_OR_RETURN(const ObjectInfo info, InS3(call.store.Put(call.target.bucket, call.target.key,
                                                              std::move(upload), options),
                                               call.target));
  (void)call.exchange.Send(AnswerOfPut(info, CallTrace(call)));
  return {};
}

S3Result CopyObject(S3Call& call) {
  RETURN_IF_ERROR(RequireBucket(call));
  ASSIGN_OR_RETURN(const CopySource source, OpenCopySource(call));
  const ObjectInfo& from = source.object.info;
  ASSIGN_OR_RETURN(PutOptions target, ReadCopyTarget(call, from));
  RETURN_IF_ERROR(CheckChanges(call, source, target));
  const std::string_view wanted = call.headers().Get("x-amz-checksum-algorithm");
  const auto algorithm = ParseChecksumAlgorithm(wanted);
  if (!wanted.empty() && !algorithm) {
    return wire::Refuse("InvalidRequest", 400, "Checksum algorithm provided is unsupported.");
  }
  ASSIGN_OR_RETURN(const EncryptionPlan plan, PlanCopy(call, from));
  ASSIGN_OR_RETURN(const bool shares, SharesFile(call, plan, from));
  if (!shares || (algorithm && !from.checksums.contains(std::string(Name(*algorithm))))) {
    ASSIGN_OR_RETURN(
        const ObjectInfo info,
        CopyBytes(call, source.object, algorithm.value_or(KeptAlgorithm(from)), target));
    return AnswerCopy(call, source, info);
  }
  KeepEncryption(from.metadata, target.metadata);
  const CopyOptions options{from.blob_id, target.metadata, target.tags, target};
  ASSIGN_OR_RETURN(const ObjectInfo info,
                   InS3(call.store.Copy({source.target.bucket, source.target.key, from.version_id},
                                        {call.target.bucket, call.target.key}, options),
                        call.target));
  return AnswerCopy(call, source, info);
}

S3Result DeleteObject(S3Call& call) {
  RETURN_IF_ERROR(RequireBucket(call));
  ASSIGN_OR_RETURN(const PutOptions conditions, ReadWriteConditions(call));
  ASSIGN_OR_RETURN(DeleteOptions options, ReadDeleteConditions(call));
  options.if_match = conditions.if_match;
  ASSIGN_OR_RETURN(options.version, ReadVersion(call));
  ASSIGN_OR_RETURN(
      const Deleted deleted,
      InS3(call.store.Delete(call.target.bucket, call.target.key, options), call.target));
  wire::Headers headers;
  if (deleted.marker) headers.Add("x-amz-delete-marker", "true");
  if (deleted.marker || options.version) AddVersion(call, deleted.version_id, headers);
  return Answer(call, 204, std::move(headers));
}

S3Result DeleteObjects(S3Call& call) {
  RETURN_IF_ERROR(RequireBucket(call));
  ASSIGN_OR_RETURN(const BodyClaims claims, ReadClaims(call));
  ASSIGN_OR_RETURN(const std::string document, ReceiveDocument(call, claims));
  ASSIGN_OR_RETURN(const DeleteRequest request, ParseDelete(document));
  std::vector<wire::AwsResult<void>> understood;
  std::vector<objects::DeleteRequest> requests;
  for (const DeleteRequest::Entry& entry : request.entries) {
    auto made = RequestOf(call, entry);
    if (made) requests.push_back(std::move(*made));
    understood.push_back(made.map([](auto&&) {}));
  }
  ASSIGN_OR_RETURN(const auto results,
                   InS3(call.store.DeleteMany(call.target.bucket, requests), call.target));
  XmlWriter xml("DeleteResult");
  auto result = results.begin();
  for (std::size_t i = 0; i < request.entries.size(); ++i) {
    const DeleteRequest::Entry& entry = request.entries[i];
    if (!understood[i]) {
      WriteRefused(xml, entry, understood[i].error());
      continue;
    }
    if (!*result) {
      WriteRefused(xml, entry, ToS3Error(result->error(), {call.target.bucket, entry.key}));
    } else if (!request.quiet) {
      WriteDeleted(xml, call, entry, **result);
    }
    ++result;
  }
  return AnswerXml(call, xml.Finish());
}

}  // namespace sabia::s3
