#include "base/encoding.h"
#include "s3/actions.h"
#include "s3/expiry.h"
#include "s3/settings.h"
#include "s3/upload.h"

namespace sabia::s3 {
namespace {

// Only about transitions, of which there are none: kept and shown.
constexpr std::string_view kMinimumSize = "x-amz-transition-default-minimum-object-size";
constexpr std::string_view kDefaultMinimumSize = "all_storage_classes_128K";

}  // namespace

S3Result GetBucketLifecycleConfiguration(S3Call& call) {
  RETURN_IF_ERROR(RequireBucket(call));
  const std::string* const document = FindSetting(*call.bucket, kLifecycleSetting);
  if (document == nullptr) return RefuseAbsent(call, kLifecycleSetting);
  const std::string* const size = FindSetting(*call.bucket, kTransitionSizeSetting);
  wire::Headers headers;
  headers.Add(std::string(kMinimumSize),
              size == nullptr ? std::string(kDefaultMinimumSize) : *size);
  return AnswerXml(call, *document, std::move(headers));
}

S3Result PutBucketLifecycleConfiguration(S3Call& call) {
  RETURN_IF_ERROR(RequireBucket(call));
  ASSIGN_OR_RETURN(const BodyClaims claims, ReadClaims(call));
  ASSIGN_OR_RETURN(const std::string document, ReceiveDocument(call, claims));
  ASSIGN_OR_RETURN(const std::vector<LifecycleRule> rules,
                   ParseLifecycle(document, ToLower(call.context.request_id)));
  std::string size(call.headers().Get(kMinimumSize));
  if (size.empty()) size = kDefaultMinimumSize;
  RETURN_IF_ERROR(InS3(call.store.PutSetting(call.target.bucket, kTransitionSizeSetting.name, size),
                       call.target));
  RETURN_IF_ERROR(
      InS3(call.store.PutSetting(call.target.bucket, kLifecycleSetting.name, WriteLifecycle(rules)),
           call.target));
  if (call.options.lifecycle_changed) call.options.lifecycle_changed();
  wire::Headers headers;
  headers.Add(std::string(kMinimumSize), size);
  return Answer(call, 200, std::move(headers));
}

S3Result DeleteBucketLifecycle(S3Call& call) { return DeleteSetting(call, kLifecycleSetting); }

void AddExpiration(const S3Call& call, const ObjectInfo& object, wire::Headers& headers) {
  AddExpiration(call.rules.get(), object, headers);
}

void AddExpiration(const BucketRules* rules, const ObjectInfo& object, wire::Headers& headers) {
  if (rules == nullptr || rules->lifecycle.empty()) return;
  const auto expiry = NextExpiry(rules->lifecycle, object);
  if (!expiry) return;
  headers.Add("x-amz-expiration",
              fmt::format("expiry-date=\"{}\", rule-id=\"{}\"", FormatRfc1123(expiry->at),
                          UriEncode(expiry->rule_id)));
}

void AddAbort(const S3Call& call, const MultipartInfo& upload, wire::Headers& headers) {
  if (!call.rules || call.rules->lifecycle.empty()) return;
  const auto abort = NextAbort(call.rules->lifecycle, upload.key, upload.initiated);
  if (!abort) return;
  headers.Add("x-amz-abort-date", FormatRfc1123(abort->at));
  headers.Add("x-amz-abort-rule-id", UriEncode(abort->rule_id));
}

}  // namespace sabia::s3
