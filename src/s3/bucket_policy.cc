// Who may use a bucket: its policy, its public access block, and what is left of ACLs.
#include "s3/access.h"
#include "s3/actions.h"
#include "s3/settings.h"
#include "s3/upload.h"
#include "s3/xml_tree.h"

namespace sabia::s3 {
namespace {

wire::AwsResult<std::string> ReceiveBody(S3Call& call) {
  ASSIGN_OR_RETURN(const BodyClaims claims, ReadClaims(call));
  return ReceiveDocument(call, claims);
}

const PublicAccessBlock& BlockOf(const S3Call& call) {
  static const PublicAccessBlock kDefault;
  return call.rules ? call.rules->public_access : kDefault;
}

}  // namespace

S3Result GetBucketPolicy(S3Call& call) {
  RETURN_IF_ERROR(RequireBucket(call));
  const std::string* const document = FindSetting(*call.bucket, kPolicySetting);
  if (document == nullptr) return RefuseAbsent(call, kPolicySetting);
  wire::Response response{200, {}, *document};
  response.headers.Add("Content-Type", "application/json");
  AddCommon(call, response.headers);
  (void)call.exchange.Send(response);
  return {};
}

S3Result GetBucketPolicyStatus(S3Call& call) {
  RETURN_IF_ERROR(RequireBucket(call));
  if (!call.rules || !call.rules->policy) return RefuseAbsent(call, kPolicySetting);
  XmlWriter xml("PolicyStatus");
  xml.Element("IsPublic", call.rules->public_policy ? "true" : "false");
  return AnswerXml(call, xml.Finish());
}

S3Result PutBucketPolicy(S3Call& call) {
  RETURN_IF_ERROR(RequireBucket(call));
  ASSIGN_OR_RETURN(std::string document, ReceiveBody(call));
  ASSIGN_OR_RETURN(const BucketPolicy policy, ParsePolicy(document, call.target.bucket));
  if (IsPublic(policy) && BlockOf(call).block_public_policy) return RefusePublicPolicy(call);
  const bool confirmed = call.headers().Get("x-amz-confirm-remove-self-bucket-access") == "true";
  if (!confirmed && LocksOut(call, policy)) {
    return wire::Refuse("AccessDenied", 403,
                        "The policy would deny you to change it again; confirm that with "
                        "x-amz-confirm-remove-self-bucket-access");
  }
  return PutSetting(call, kPolicySetting, std::move(document), 204);
}

S3Result DeleteBucketPolicy(S3Call& call) {
  RETURN_IF_ERROR(RequireBucket(call));
  return DeleteSetting(call, kPolicySetting);
}

S3Result GetPublicAccessBlock(S3Call& call) {
  RETURN_IF_ERROR(RequireBucket(call));
  const std::string* const document = FindSetting(*call.bucket, kPublicAccessSetting);
  if (document != nullptr && document->empty()) return RefuseAbsent(call, kPublicAccessSetting);
  return AnswerXml(call, WritePublicAccessBlock(BlockOf(call)));
}

S3Result PutPublicAccessBlock(S3Call& call) {
  RETURN_IF_ERROR(RequireBucket(call));
  ASSIGN_OR_RETURN(const std::string document, ReceiveBody(call));
  if (document.empty()) return MalformedXml();
  ASSIGN_OR_RETURN(const PublicAccessBlock block, ParsePublicAccessBlock(document));
  return PutSetting(call, kPublicAccessSetting, WritePublicAccessBlock(block));
}

S3Result DeletePublicAccessBlock(S3Call& call) {
  RETURN_IF_ERROR(RequireBucket(call));
  return PutSetting(call, kPublicAccessSetting, "", 204);
}

S3Result GetBucketOwnershipControls(S3Call& call) {
  RETURN_IF_ERROR(RequireBucket(call));
  XmlWriter xml("OwnershipControls");
  xml.Open("Rule").Element("ObjectOwnership", "BucketOwnerEnforced");
  return AnswerXml(call, xml.Finish());
}

S3Result PutBucketOwnershipControls(S3Call& call) {
  RETURN_IF_ERROR(RequireBucket(call));
  ASSIGN_OR_RETURN(const std::string document, ReceiveBody(call));
  ASSIGN_OR_RETURN(const XmlNode root, ParseXml(document, "OwnershipControls"));
  RETURN_IF_ERROR(OnlyChildren(root, {"Rule"}));
  const auto rules = root.All("Rule");
  if (rules.size() != 1) return MalformedXml();
  const std::string_view ownership = rules.front()->Get("ObjectOwnership");
  if (ownership == "BucketOwnerEnforced") return Answer(call, 200);
  if (ownership != "BucketOwnerPreferred" && ownership != "ObjectWriter") return MalformedXml();
  return wire::Refuse("NotImplemented", 501,
                      "ObjectOwnership {} is not implemented: the bucket owner owns every object "
                      "and there are no ACLs.",
                      ownership);
}

// The router lets only the canned ACLs through that say what is the case anyway; a document, which
// could say anything, is refused as AWS refuses it where ACLs are off.
S3Result PutAcl(S3Call& call) {
  RETURN_IF_ERROR(RequireBucket(call));
  if (!call.target.key.empty()) {
    ASSIGN_OR_RETURN(const VersionChoice version, ReadVersion(call));
    const auto object = call.store.Head(call.target.bucket, call.target.key, version);
    if (!object) return RefuseMissing(call, object.error());
  }
  ASSIGN_OR_RETURN(const std::string document, ReceiveBody(call));
  if (document.empty() && call.headers().Has("x-amz-acl")) return Answer(call, 200);
  return wire::Refuse("AccessControlListNotSupported", 400, "The bucket does not allow ACLs");
}

}  // namespace sabia::s3
