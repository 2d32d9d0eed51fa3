#include "s3/api.h"

#include <map>

#include "base/log.h"
#include "s3/access.h"
#include "s3/actions.h"
#include "s3/fixed_answers.h"
#include "wire/s3_error.h"

namespace sabia::s3 {
namespace {

using Action = S3Result (*)(S3Call&);

const std::map<std::string_view, Action>& Actions() {
  static const std::map<std::string_view, Action> kActions = {
      {"AbortMultipartUpload", AbortMultipartUpload},
      {"CompleteMultipartUpload", CompleteMultipartUpload},
      {"CopyObject", CopyObject},
      {"CreateBucket", CreateBucket},
      {"CreateMultipartUpload", CreateMultipartUpload},
      {"DeleteBucket", DeleteBucket},
      {"DeleteObject", DeleteObject},
      {"DeleteObjects", DeleteObjects},
      {"GetBucketAcl", GetAcl},
      {"GetBucketCors", GetBucketCors},
      {"GetBucketEncryption", GetBucketEncryption},
      {"GetBucketLifecycleConfiguration", GetBucketLifecycleConfiguration},
      {"GetBucketLocation", GetBucketLocation},
      {"DeleteBucketCors", DeleteBucketCors},
      {"DeleteBucketEncryption", DeleteBucketEncryption},
      {"DeleteBucketLifecycle", DeleteBucketLifecycle},
      {"DeleteBucketPolicy", DeleteBucketPolicy},
      {"DeleteBucketTagging", DeleteBucketTagging},
      {"DeleteObjectTagging", DeleteObjectTagging},
      {"DeletePublicAccessBlock", DeletePublicAccessBlock},
      {"GetBucketOwnershipControls", GetBucketOwnershipControls},
      {"GetBucketPolicy", GetBucketPolicy},
      {"GetBucketPolicyStatus", GetBucketPolicyStatus},
      {"GetBucketTagging", GetBucketTagging},
      {"GetBucketVersioning", GetBucketVersioning},
      {"GetObject", GetObject},
      {"GetObjectAcl", GetAcl},
      {"GetObjectAttributes", GetObjectAttributes},
      {"GetObjectTagging", GetObjectTagging},
      {"GetPublicAccessBlock", GetPublicAccessBlock},
      {"HeadBucket", HeadBucket},
      {"HeadObject", GetObject},
      {"ListBuckets", ListBuckets},
      {"ListMultipartUploads", ListMultipartUploads},
      {"ListObjects", ListObjects},
      {"ListObjectVersions", ListObjectVersions},
      {"ListObjectsV2", ListObjectsV2},
      {"ListParts", ListParts},
      {"PutBucketAccelerateConfiguration", PutBucketAccelerateConfiguration},
      {"PutBucketAcl", PutAcl},
      {"PutBucketCors", PutBucketCors},
      {"PutBucketEncryption", PutBucketEncryption},
      {"PutBucketLifecycleConfiguration", PutBucketLifecycleConfiguration},
      {"PutBucketLogging", PutBucketLogging},
      {"PutBucketNotification", PutBucketNotificationConfiguration},
      {"PutBucketNotificationConfiguration", PutBucketNotificationConfiguration},
      {"PutBucketOwnershipControls", PutBucketOwnershipControls},
      {"PutBucketPolicy", PutBucketPolicy},
      {"PutBucketRequestPayment", PutBucketRequestPayment},
      {"PutBucketTagging", PutBucketTagging},
      {"PutBucketVersioning", PutBucketVersioning},
      {"PutObject", PutObject},
      {"PutObjectAcl", PutAcl},
      {"PutObjectTagging", PutObjectTagging},
      {"PutPublicAccessBlock", PutPublicAccessBlock},
      {"UploadPart", UploadPart},
      {"UploadPartCopy", UploadPartCopy},
  };
  return kActions;
}

S3Result RunUnimplemented(S3Call& call, std::string_view operation) {
  if (const FixedAnswer* const answer = FindFixedAnswer(operation)) {
    return GiveFixedAnswer(call, *answer);
  }
  return wire::Refuse("NotImplemented", 501, "{} is not implemented.", operation);
}

// A form of a browser, which names the object and carries its policy in its fields.
bool IsPostUpload(const wire::RequestHead& head) {
  return head.method == "POST" &&
         head.headers.Get("content-type").starts_with("multipart/form-data");
}

S3Result CheckOwner(const wire::Headers& headers, const wire::CallContext& context) {
  const std::string_view owner = headers.Get("x-amz-expected-bucket-owner");
  if (!owner.empty() && owner != context.principal.account) {
    return wire::Refuse("AccessDenied", 403, "Access Denied");
  }
  return {};
}

// That a key does not exist is told to those only who could find out by listing.
S3Result HideAbsence(const S3Call& call, S3Result result) {
  if (result || result.error().code != "NoSuchKey" || MayList(call)) return result;
  return wire::Refuse("AccessDenied", 403, "Access Denied");
}

}  // namespace

void S3Api::Handle(wire::Exchange& exchange, const wire::CallContext& context, wire::S3Body& body) {
  if (!context.principal.anonymous) return HandleAs(exchange, context, body);
  wire::CallContext owned = context;
  owned.principal.account = options_.account;
  HandleAs(exchange, owned, body);
}

void S3Api::HandleAs(wire::Exchange& exchange, const wire::CallContext& context,
                     wire::S3Body& body) {
  wire::Headers common;
  const S3Result result = Run({exchange, context, body}, common);
  if (result || exchange.answered()) return;
  const wire::AwsError& error = result.error();
  if (error.status >= 500 && error.status != 501) {
    LogError("S3 {} {} failed: {}", exchange.head().method, exchange.head().raw_path,
             error.message);
  }
  wire::Response response =
      wire::S3ErrorResponse(error, exchange.head().raw_path, context.request_id);
  for (const auto& [name, value] : common.fields()) response.headers.Add(name, value);
  if (exchange.head().method == "HEAD") response.body.clear();
  (void)exchange.Send(response);  // a client that is gone is told nothing
}

S3Result S3Api::Run(const Request& request, wire::Headers& common) {
  const wire::RequestHead& head = request.exchange.head();
  auto query = wire::QueryParameters::Parse(head.raw_query);
  if (!query) return wire::Refuse("InvalidURI", 400, "Couldn't parse the specified URI.");
  const std::optional<wire::Headers> hoisted = HoistedHeaders(head.headers, *query);
  const wire::Headers& headers = hoisted ? *hoisted : head.headers;
  ASSIGN_OR_RETURN(S3Target target, ParseTarget(head.raw_path, headers.Get("host")));
  S3Call call{options_,          store_,       request.exchange,
              request.context,   request.body, std::move(target),
              std::move(*query), headers};
  if (!call.target.bucket.empty()) {
    if (auto bucket = store_.GetBucket(call.target.bucket)) call.bucket = std::move(*bucket);
  }
  call.rules_cache = &rules_;
  if (call.bucket && !call.bucket->settings.empty()) {
    call.rules = rules_.Get(call.bucket);
    common = call.common = CrossOriginHeaders(call);
  }
  if (head.method == "OPTIONS") return Preflight(call);
  if (IsPostUpload(head)) {
    return wire::Refuse("NotImplemented", 501,
                        "PostObject (uploads by HTML forms with a POST policy) is not "
                        "implemented.");
  }
  RETURN_IF_ERROR(CheckOwner(headers, request.context));
  ASSIGN_OR_RETURN(const wire::Operation* operation,
                   router_.Route({head.method, call.target, headers, call.query}));
  RETURN_IF_ERROR(Authorize(call, operation->name));
  const auto action = Actions().find(operation->name);
  if (action == Actions().end()) return RunUnimplemented(call, operation->name);
  RETURN_IF_ERROR(router_.CheckHonoured(*operation, headers, call.query));
  return HideAbsence(call, action->second(call));
}

}  // namespace sabia::s3
