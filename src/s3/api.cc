#include "s3/api.h"

#include <map>

#include "base/log.h"
#include "s3/actions.h"
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
      {"GetBucketLocation", GetBucketLocation},
      {"DeleteBucketTagging", DeleteBucketTagging},
      {"DeleteObjectTagging", DeleteObjectTagging},
      {"GetBucketTagging", GetBucketTagging},
      {"GetBucketVersioning", GetBucketVersioning},
      {"GetObject", GetObject},
      {"GetObjectAcl", GetAcl},
      {"GetObjectTagging", GetObjectTagging},
      {"HeadBucket", HeadBucket},
      {"HeadObject", GetObject},
      {"ListBuckets", ListBuckets},
      {"ListMultipartUploads", ListMultipartUploads},
      {"ListObjects", ListObjects},
      {"ListObjectVersions", ListObjectVersions},
      {"ListObjectsV2", ListObjectsV2},
      {"ListParts", ListParts},
      {"PutBucketTagging", PutBucketTagging},
      {"PutBucketVersioning", PutBucketVersioning},
      {"PutObject", PutObject},
      {"PutObjectTagging", PutObjectTagging},
      {"UploadPart", UploadPart},
      {"UploadPartCopy", UploadPartCopy},
  };
  return kActions;
}

// Questions about settings that no bucket here can have: the truthful answer is that there are
// none.
struct Absence {
  std::string_view operation;
  std::string_view code;
  std::string_view message;
};
constexpr Absence kAbsences[] = {
    {"GetBucketCors", "NoSuchCORSConfiguration", "The CORS configuration does not exist"},
    {"GetBucketEncryption", "ServerSideEncryptionConfigurationNotFoundError",
     "The server side encryption configuration was not found"},
    {"GetBucketLifecycleConfiguration", "NoSuchLifecycleConfiguration",
     "The lifecycle configuration does not exist"},
    {"GetBucketPolicy", "NoSuchBucketPolicy", "The bucket policy does not exist"},
    {"GetBucketReplication", "ReplicationConfigurationNotFoundError",
     "The replication configuration was not found"},
    {"GetBucketWebsite", "NoSuchWebsiteConfiguration",
     "The specified bucket does not have a website configuration"},
    {"GetObjectLockConfiguration", "ObjectLockConfigurationNotFoundError",
     "Object Lock configuration does not exist for this bucket"},
    {"GetPublicAccessBlock", "NoSuchPublicAccessBlockConfiguration",
     "The public access block configuration was not found"},
};

S3Result RunUnimplemented(S3Call& call, std::string_view operation) {
  for (const Absence& absence : kAbsences) {
    if (absence.operation != operation) continue;
    RETURN_IF_ERROR(RequireBucket(call));
    auto refusal = wire::Refuse(absence.code, 404, "{}", absence.message);
    refusal.value().details.emplace_back("BucketName", call.target.bucket);
    return refusal;
  }
  return wire::Refuse("NotImplemented", 501, "{} is not implemented.", operation);
}

S3Result CheckCaller(const wire::Headers& headers, const wire::CallContext& context) {
  const std::string_view owner = headers.Get("x-amz-expected-bucket-owner");
  if (context.principal.anonymous || (!owner.empty() && owner != context.principal.account)) {
    return wire::Refuse("AccessDenied", 403, "Access Denied");
  }
  return {};
}

}  // namespace

void S3Api::Handle(wire::Exchange& exchange, const wire::CallContext& context, wire::S3Body& body) {
  const S3Result result = Run(exchange, context, body);
  if (result || exchange.answered()) return;
  const wire::AwsError& error = result.error();
  if (error.status >= 500 && error.status != 501) {
    LogError("S3 {} {} failed: {}", exchange.head().method, exchange.head().raw_path,
             error.message);
  }
  wire::Response response =
      wire::S3ErrorResponse(error, exchange.head().raw_path, context.request_id);
  if (exchange.head().method == "HEAD") response.body.clear();
  (void)exchange.Send(response);  // a client that is gone is told nothing
}

S3Result S3Api::Run(wire::Exchange& exchange, const wire::CallContext& context,
                    wire::S3Body& body) {
  const wire::RequestHead& head = exchange.head();
  auto query = wire::QueryParameters::Parse(head.raw_query);
  if (!query) return wire::Refuse("InvalidURI", 400, "Couldn't parse the specified URI.");
  const std::optional<wire::Headers> hoisted = HoistedHeaders(head.headers, *query);
  const wire::Headers& headers = hoisted ? *hoisted : head.headers;
  RETURN_IF_ERROR(CheckCaller(headers, context));
  ASSIGN_OR_RETURN(S3Target target, ParseTarget(head.raw_path, headers.Get("host")));
  S3Call call{store_, exchange, context, body, std::move(target), std::move(*query), headers};
  if (!call.target.bucket.empty()) {
    if (auto bucket = store_.GetBucket(call.target.bucket)) call.bucket = std::move(*bucket);
  }
  ASSIGN_OR_RETURN(const wire::Operation* operation,
                   router_.Route({head.method, call.target, headers, call.query}));
  const auto action = Actions().find(operation->name);
  if (action == Actions().end()) return RunUnimplemented(call, operation->name);
  RETURN_IF_ERROR(S3Router::CheckHonoured(*operation, headers, call.query));
  return action->second(call);
}

}  // namespace sabia::s3
