// One S3 request on its way through an action, and what every action does with it.
//
// Threading: as its Exchange. Errors are AwsError values that the caller (api.h) turns into a
// document.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "s3/bucket_rules.h"
#include "s3/engine.h"
#include "s3/names.h"
#include "s3/xml.h"
#include "wire/s3_handler.h"

namespace sabia::s3 {

struct S3ApiOptions {
  std::function<void()> lifecycle_changed = nullptr;  // a bucket has new lifecycle rules
  std::string account = {};  // the owner of all buckets; unsigned requests have none of their own
};

struct S3Call {
  const S3ApiOptions& options;
  ObjectStore& store;
  wire::Exchange& exchange;
  const wire::CallContext& context;
  wire::S3Body& body;
  S3Target target;
  wire::QueryParameters query;
  // With those that a presigned URL carries as parameters.
  const wire::Headers& fields;
  // The target's, as it was when the request came; nullptr when there is none.
  BucketHandle bucket = nullptr;
  std::shared_ptr<const BucketRules> rules = nullptr;
  // What the bucket's rules add to every answer: CORS.
  wire::Headers common = {};
  BucketRulesCache* rules_cache = nullptr;  // for other buckets than the target's

  const wire::Headers& headers() const { return fields; }
  bool is_head() const { return exchange.head().method == "HEAD"; }
  std::string_view Parameter(std::string_view name) const { return query.Find(name).value_or(""); }
  bool versioned() const { return bucket && bucket->versioning != Versioning::kOff; }
};

// Presigned URLs may carry as parameters what else would be header fields, x-amz-meta-a=1 for
// example: they mean the same. nullopt when there are none, so that nothing need be copied.
std::optional<wire::Headers> HoistedHeaders(const wire::Headers& headers,
                                            const wire::QueryParameters& query);

// An action answers on the exchange, or gives the error that is to be answered.
using S3Result = wire::AwsResult<void>;

// An empty answer, or one with an XML document; adds what AddCommon adds.
S3Result Answer(S3Call& call, unsigned status, wire::Headers headers = {});
S3Result AnswerXml(S3Call& call, std::string document, wire::Headers headers = {});
// What every answer carries: x-amz-request-id and the call's common headers.
void AddCommon(const S3Call& call, wire::Headers& headers);

// What of a call its answer needs, for answers that are given after the call is over.
struct CallTrace {
  explicit CallTrace(const S3Call& call);
  S3Target target;
  std::string method;
  std::string raw_path;
  std::string request_id;
  wire::Headers common;
  bool versioned;
  std::shared_ptr<const BucketRules> rules;
};
// The document of an error, with a line in the log where the fault is ours.
wire::Response ErrorAnswer(const wire::AwsError& error, const CallTrace& trace);

// NoSuchBucket unless the target's bucket exists.
S3Result RequireBucket(const S3Call& call);

// The parameter versionId: nullopt when it is absent. InvalidArgument when it cannot be an id.
wire::AwsResult<VersionChoice> ReadVersion(const S3Call& call);
wire::AwsResult<VersionChoice> ParseVersion(std::string_view text);
// As clients see ids: the null version is "null".
std::string ShownVersion(std::string_view version_id);
// x-amz-version-id, where versions are, or ever were, made.
void AddVersion(const S3Call& call, std::string_view version_id, wire::Headers& headers);

// What an engine error is called in S3: NoSuchBucket, NoSuchKey, NoSuchVersion, NoSuchUpload,
// InvalidPart, …
wire::AwsError ToS3Error(const Error& error, const S3Target& target);
tl::unexpected<wire::AwsError> RefuseKey(wire::AwsError error, std::string_view key);
// An object could not be read; where a delete marker hides the key, the answer says so.
tl::unexpected<wire::AwsError> RefuseMissing(const S3Call& call, const Error& error);
// A delete marker was named where only an object will do: MethodNotAllowed.
tl::unexpected<wire::AwsError> RefuseMarker(const S3Call& call, const ObjectInfo& marker);

// Unwraps an engine result inside an action.
template <typename T>
wire::AwsResult<T> InS3(Result<T> result, const S3Target& target) {
  if (!result) return tl::unexpected<wire::AwsError>(ToS3Error(result.error(), target));
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return std::move(*result);
  }
}

// A whole number in [0, max] of a query parameter; `fallback` when it is absent. Larger values
// count as max.
wire::AwsResult<std::size_t> ReadCount(const S3Call& call, std::string_view name,
                                       std::size_t fallback, std::size_t max);
// A whole number that must lie within 1 to kPartNumberMax.
wire::AwsResult<int> ReadPartNumber(const S3Call& call);

// Names in listings under encoding-type=url: percent-encoded, "/" kept.
struct NameEncoding {
  bool url = false;
  std::string operator()(std::string_view name) const;
};
wire::AwsResult<NameEncoding> ReadEncoding(const S3Call& call);

std::string Quoted(std::string_view etag);
// The account's canonical user id, as S3 prints it for owners: 64 hex digits.
std::string OwnerId(const wire::CallContext& context);
void WriteOwner(XmlWriter& xml, const wire::CallContext& context,
                std::string_view element = "Owner");

}  // namespace sabia::s3
