#include "s3/bucket_encryption.h"

#include "s3/xml.h"
#include "s3/xml_tree.h"

namespace sabia::s3 {
namespace {

constexpr std::string_view kS3 = "AES256";
constexpr std::string_view kKms = "aws:kms";

wire::AwsResult<BucketEncryption> ParseDefault(const XmlNode& node) {
  RETURN_IF_ERROR(OnlyChildren(node, {"SSEAlgorithm", "KMSMasterKeyID"}));
  BucketEncryption out;
  out.how.algorithm = node.Get("SSEAlgorithm");
  out.how.key_id = node.Get("KMSMasterKeyID");
  if (out.how.algorithm == "aws:kms:dsse") {
    return wire::Refuse("NotImplemented", 501, "SSEAlgorithm aws:kms:dsse is not implemented.");
  }
  if (out.how.algorithm != kS3 && out.how.algorithm != kKms) return MalformedXml();
  if (out.how.algorithm == kS3 && !out.how.key_id.empty()) {
    return wire::Refuse(
        "InvalidArgument", 400,
        "a KMSMasterKeyID is not applicable if the default sse algorithm is not aws:kms");
  }
  return out;
}

}  // namespace

wire::AwsResult<BucketEncryption> ParseBucketEncryption(std::string_view document) {
  ASSIGN_OR_RETURN(const XmlNode root, ParseXml(document, "ServerSideEncryptionConfiguration"));
  RETURN_IF_ERROR(OnlyChildren(root, {"Rule"}));
  const auto rules = root.All("Rule");
  if (rules.size() != 1) return MalformedXml();
  const XmlNode& rule = *rules.front();
  RETURN_IF_ERROR(OnlyChildren(
      rule, {"ApplyServerSideEncryptionByDefault", "BucketKeyEnabled", "BlockedEncryptionTypes"}));
  if (rule.Has("BlockedEncryptionTypes")) {
    return wire::Refuse("NotImplemented", 501, "BlockedEncryptionTypes is not implemented.");
  }
  const XmlNode* const applied = rule.Find("ApplyServerSideEncryptionByDefault");
  if (applied == nullptr) return MalformedXml();
  ASSIGN_OR_RETURN(BucketEncryption out, ParseDefault(*applied));
  if (const XmlNode* const bucket_key = rule.Find("BucketKeyEnabled")) {
    ASSIGN_OR_RETURN(out.bucket_key, Truth(*bucket_key));
  }
  return out;
}

std::string WriteBucketEncryption(const BucketEncryption& encryption) {
  XmlWriter xml("ServerSideEncryptionConfiguration");
  xml.Open("Rule").Open("ApplyServerSideEncryptionByDefault");
  xml.Element("SSEAlgorithm", encryption.how.algorithm);
  if (!encryption.how.key_id.empty()) xml.Element("KMSMasterKeyID", encryption.how.key_id);
  xml.Close().Element("BucketKeyEnabled", encryption.bucket_key ? "true" : "false");
  return xml.Finish();
}

}  // namespace sabia::s3
