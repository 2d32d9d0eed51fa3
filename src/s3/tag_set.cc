#include "s3/tag_set.h"

#include <algorithm>

#include "base/encoding.h"
#include "s3/xml_tree.h"
#include "wire/http.h"

namespace sabia::s3 {
namespace {

constexpr std::size_t kKeyCharactersMax = 128;
constexpr std::size_t kValueCharactersMax = 256;

// Of UTF-8: bytes that do not continue a character.
std::size_t Characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

// Letters and digits of every script, blanks and _ . : / = + - @; of ASCII that is a list, and the
// rest is taken for letters.
bool IsTagText(std::string_view text) {
  constexpr std::string_view kSigns = " _.:/=+-@";
  return IsUtf8(text) && std::all_of(text.begin(), text.end(), [&](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return byte >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  (c >= '0' && c <= '9') || kSigns.find(c) != std::string_view::npos;
         });
}

tl::unexpected<wire::AwsError> BadTag(std::string_view member, std::string_view key) {
  auto refusal = wire::Refuse("InvalidTag", 400, "The Tag{} you have provided is invalid", member);
  refusal.value().details.emplace_back(fmt::format("Tag{}", member), key);
  return refusal;
}

wire::AwsResult<void> Add(std::string_view key, std::string_view value, Tags& tags) {
  if (key.empty() || Characters(key) > kKeyCharactersMax || !IsTagText(key)) {
    return BadTag("Key", key);
  }
  if (key.starts_with("aws:")) {
    return wire::Refuse("InvalidTag", 400, "System tags cannot be added/updated by requester: {}",
                        key);
  }
  if (Characters(value) > kValueCharactersMax || !IsTagText(value)) return BadTag("Value", value);
  if (tags.emplace(key, value).second) return {};
  return wire::Refuse("InvalidTag", 400, "Cannot provide multiple Tags with the same key: {}", key);
}

wire::AwsResult<void> CheckCount(const Tags& tags, std::size_t max) {
  if (tags.size() <= max) return {};
  return wire::Refuse("BadRequest", 400, "{} tags cannot be greater than {}",
                      max == kObjectTagsMax ? "Object" : "Bucket", max);
}

}  // namespace

wire::AwsResult<Tags> ParseTagHeader(std::string_view header) {
  const auto refuse = [] {
    return wire::Refuse("InvalidArgument", 400,
                        "The header 'x-amz-tagging' shall be encoded as UTF-8 then URLEncoded URL "
                        "query parameters without tag name duplicates.");
  };
  Tags out;
  const auto parsed = wire::QueryParameters::Parse(header);
  if (!parsed) return refuse();
  for (const auto& [key, value] : parsed->all()) {
    if (out.contains(key)) return refuse();
    RETURN_IF_ERROR(Add(key, value, out));
  }
  RETURN_IF_ERROR(CheckCount(out, kObjectTagsMax));
  return out;
}

wire::AwsResult<Tags> ParseTagging(std::string_view document, std::size_t max) {
  ASSIGN_OR_RETURN(const XmlNode root, ParseXml(document, "Tagging"));
  RETURN_IF_ERROR(OnlyChildren(root, {"TagSet"}));
  const XmlNode* const set = root.Find("TagSet");
  if (set == nullptr || root.children.size() != 1) return MalformedXml();
  RETURN_IF_ERROR(OnlyChildren(*set, {"Tag"}));
  Tags out;
  for (const XmlNode& tag : set->children) {
    RETURN_IF_ERROR(OnlyChildren(tag, {"Key", "Value"}));
    RETURN_IF_ERROR(AtMostOnce(tag, {"Key", "Value"}));
    if (!tag.Has("Key") || !tag.Has("Value")) return MalformedXml();
    RETURN_IF_ERROR(Add(tag.Get("Key"), tag.Get("Value"), out));
  }
  RETURN_IF_ERROR(CheckCount(out, max));
  return out;
}

std::string WriteTagging(const Tags& tags) {
  XmlWriter xml("Tagging");
  xml.Open("TagSet");
  for (const auto& [key, value] : tags) {
    xml.Open("Tag").Element("Key", key).Element("Value", value).Close();
  }
  return xml.Finish();
}

void AddTagCount(const Tags& tags, wire::Headers& headers) {
  if (!tags.empty()) headers.Add("x-amz-tagging-count", std::to_string(tags.size()));
}

}  // namespace sabia::s3
