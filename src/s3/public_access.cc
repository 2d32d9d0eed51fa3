#include "s3/public_access.h"

#include <array>

#include "s3/xml.h"
#include "s3/xml_tree.h"

namespace sabia::s3 {
namespace {

constexpr std::string_view kRoot = "PublicAccessBlockConfiguration";

struct Member {
  std::string_view name;
  bool PublicAccessBlock::*field;
};
constexpr std::array kMembers = {
    Member{"BlockPublicAcls", &PublicAccessBlock::block_public_acls},
    Member{"IgnorePublicAcls", &PublicAccessBlock::ignore_public_acls},
    Member{"BlockPublicPolicy", &PublicAccessBlock::block_public_policy},
    Member{"RestrictPublicBuckets", &PublicAccessBlock::restrict_public_buckets},
};

}  // namespace

wire::AwsResult<PublicAccessBlock> ParsePublicAccessBlock(std::string_view document) {
  PublicAccessBlock out{false, false, false, false};  // what is not said is off
  if (document.empty()) return out;
  ASSIGN_OR_RETURN(const XmlNode root, ParseXml(document, kRoot));
  RETURN_IF_ERROR(OnlyChildren(
      root, {"BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"}));
  RETURN_IF_ERROR(AtMostOnce(
      root, {"BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"}));
  for (const Member& member : kMembers) {
    const XmlNode* const node = root.Find(member.name);
    if (node == nullptr) continue;
    // Some clients write "TRUE".
    if (node->text == "TRUE" || node->text == "FALSE") {
      out.*member.field = node->text == "TRUE";
      continue;
    }
    ASSIGN_OR_RETURN(out.*member.field, Truth(*node));
  }
  return out;
}

std::string WritePublicAccessBlock(const PublicAccessBlock& block) {
  XmlWriter xml(kRoot);
  for (const Member& member : kMembers) {
    xml.Element(member.name, block.*member.field ? "true" : "false");
  }
  return xml.Finish();
}

}  // namespace sabia::s3
