#include "s3/fixed_answers.h"

#include <algorithm>
#include <iterator>

#include "s3/upload.h"
#include "s3/xml_tree.h"

namespace sabia::s3 {

// code "": the document is the answer, or, where that is empty too, nothing needs to be done.
struct FixedAnswer {
  std::string_view operation;
  std::string_view root;
  std::string_view content;
  std::string_view code;
  std::string_view message;
  unsigned status = 404;
};

namespace {

constexpr std::string_view kNoConfiguration = "The specified configuration does not exist.";
constexpr std::string_view kNoLock = "Bucket is missing Object Lock Configuration";

constexpr FixedAnswer kAnswers[] = {
    {"DeleteBucketAnalyticsConfiguration", "", "", "NoSuchConfiguration", kNoConfiguration},
    {"DeleteBucketIntelligentTieringConfiguration", "", "", "NoSuchConfiguration",
     kNoConfiguration},
    {"DeleteBucketInventoryConfiguration", "", "", "NoSuchConfiguration", kNoConfiguration},
    {"DeleteBucketMetricsConfiguration", "", "", "NoSuchConfiguration", kNoConfiguration},
    {"DeleteBucketReplication", "", "", "", ""},
    {"DeleteBucketWebsite", "", "", "", ""},
    {"GetBucketAccelerateConfiguration", "AccelerateConfiguration", "", "", ""},
    {"GetBucketAnalyticsConfiguration", "", "", "NoSuchConfiguration", kNoConfiguration},
    {"GetBucketIntelligentTieringConfiguration", "", "", "NoSuchConfiguration", kNoConfiguration},
    {"GetBucketInventoryConfiguration", "", "", "NoSuchConfiguration", kNoConfiguration},
    {"GetBucketLogging", "BucketLoggingStatus", "", "", ""},
    {"GetBucketMetricsConfiguration", "", "", "NoSuchConfiguration", kNoConfiguration},
    {"GetBucketNotification", "NotificationConfiguration", "", "", ""},
    {"GetBucketNotificationConfiguration", "NotificationConfiguration", "", "", ""},
    {"GetBucketReplication", "", "", "ReplicationConfigurationNotFoundError",
     "The replication configuration was not found"},
    {"GetBucketRequestPayment", "RequestPaymentConfiguration", "<Payer>BucketOwner</Payer>", "",
     ""},
    {"GetBucketWebsite", "", "", "NoSuchWebsiteConfiguration",
     "The specified bucket does not have a website configuration"},
    {"GetObjectLegalHold", "", "", "InvalidRequest", kNoLock, 400},
    {"GetObjectLockConfiguration", "", "", "ObjectLockConfigurationNotFoundError",
     "Object Lock configuration does not exist for this bucket"},
    {"GetObjectRetention", "", "", "InvalidRequest", kNoLock, 400},
    {"ListBucketAnalyticsConfigurations", "ListBucketAnalyticsConfigurationResult",
     "<IsTruncated>false</IsTruncated>", "", ""},
    {"ListBucketIntelligentTieringConfigurations",
     "ListBucketIntelligentTieringConfigurationsOutput", "<IsTruncated>false</IsTruncated>", "",
     ""},
    {"ListBucketInventoryConfigurations", "ListInventoryConfigurationsResult",
     "<IsTruncated>false</IsTruncated>", "", ""},
    {"ListBucketMetricsConfigurations", "ListMetricsConfigurationsResult",
     "<IsTruncated>false</IsTruncated>", "", ""},
};

wire::AwsResult<XmlNode> ReceiveRoot(S3Call& call, std::string_view root) {
  RETURN_IF_ERROR(RequireBucket(call));
  ASSIGN_OR_RETURN(const BodyClaims claims, ReadClaims(call));
  ASSIGN_OR_RETURN(const std::string document, ReceiveDocument(call, claims));
  return ParseXml(document, root);
}

// Nothing inside, or a refusal that names the first thing.
S3Result AcceptEmpty(S3Call& call, std::string_view root) {
  ASSIGN_OR_RETURN(const XmlNode node, ReceiveRoot(call, root));
  if (node.children.empty()) return Answer(call, 200);
  return wire::Refuse("NotImplemented", 501, "{} of {} is not implemented.",
                      node.children.front().name, root);
}

struct Only {
  std::string_view root;
  std::string_view member;
  std::string_view value;
};

S3Result AcceptOnly(S3Call& call, const Only& only) {
  ASSIGN_OR_RETURN(const XmlNode node, ReceiveRoot(call, only.root));
  RETURN_IF_ERROR(OnlyChildren(node, {only.member}));
  const std::string_view value = node.Get(only.member);
  if (value == only.value) return Answer(call, 200);
  if (value.empty()) return MalformedXml();
  return wire::Refuse("NotImplemented", 501, "{} {} of {} is not implemented.", only.member, value,
                      only.root);
}

}  // namespace

const FixedAnswer* FindFixedAnswer(std::string_view operation) {
  const auto found = std::find_if(std::begin(kAnswers), std::end(kAnswers),
                                  [&](const auto& a) { return a.operation == operation; });
  return found == std::end(kAnswers) ? nullptr : &*found;
}

S3Result GiveFixedAnswer(S3Call& call, const FixedAnswer& answer) {
  RETURN_IF_ERROR(RequireBucket(call));
  if (!call.target.key.empty()) {
    RETURN_IF_ERROR(InS3(call.store.Head(call.target.bucket, call.target.key), call.target));
  }
  if (!answer.code.empty()) {
    auto refusal = wire::Refuse(answer.code, answer.status, "{}", answer.message);
    refusal.value().details.emplace_back("BucketName", call.target.bucket);
    return refusal;
  }
  if (answer.root.empty()) return Answer(call, 204);
  return AnswerXml(call, XmlWriter(answer.root).Raw(answer.content).Finish());
}

S3Result PutBucketAccelerateConfiguration(S3Call& call) {
  return AcceptOnly(call, {"AccelerateConfiguration", "Status", "Suspended"});
}

S3Result PutBucketLogging(S3Call& call) { return AcceptEmpty(call, "BucketLoggingStatus"); }

S3Result PutBucketNotificationConfiguration(S3Call& call) {
  return AcceptEmpty(call, "NotificationConfiguration");
}

S3Result PutBucketRequestPayment(S3Call& call) {
  return AcceptOnly(call, {"RequestPaymentConfiguration", "Payer", "BucketOwner"});
}

}  // namespace sabia::s3
