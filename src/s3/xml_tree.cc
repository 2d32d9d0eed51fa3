#include "s3/xml_tree.h"

#include <algorithm>
#include <charconv>
#include <pugixml.hpp>

namespace sabia::s3 {
namespace {

constexpr int kDepthMax = 16;
// White space that is the whole content of an element is content: a key may be one blank.
constexpr unsigned kParse = pugi::parse_default | pugi::parse_ws_pcdata_single;

std::string_view LocalName(const pugi::xml_node& node) {
  const std::string_view name = node.name();
  const std::size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

bool Fill(const pugi::xml_node& from, XmlNode& to, int depth) {
  if (depth > kDepthMax) return false;
  to.name = LocalName(from);
  for (const pugi::xml_node& child : from.children()) {
    if (child.type() != pugi::node_element) continue;
    if (!Fill(child, to.children.emplace_back(), depth + 1)) return false;
  }
  if (to.children.empty()) to.text = from.child_value();
  return true;
}

}  // namespace

const XmlNode* XmlNode::Find(std::string_view child) const {
  const auto found = std::find_if(children.begin(), children.end(),
                                  [&](const XmlNode& node) { return node.name == child; });
  return found == children.end() ? nullptr : &*found;
}

std::string_view XmlNode::Get(std::string_view child) const {
  const XmlNode* const node = Find(child);
  return node == nullptr ? std::string_view() : node->text;
}

std::vector<const XmlNode*> XmlNode::All(std::string_view child) const {
  std::vector<const XmlNode*> out;
  for (const XmlNode& node : children) {
    if (node.name == child) out.push_back(&node);
  }
  return out;
}

tl::unexpected<wire::AwsError> MalformedXml() {
  return wire::Refuse(
      "MalformedXML", 400,
      "The XML you provided was not well-formed or did not validate against our published schema");
}

wire::AwsResult<XmlNode> ParseXml(std::string_view document, std::string_view root) {
  pugi::xml_document parsed;
  if (!parsed.load_buffer(document.data(), document.size(), kParse, pugi::encoding_utf8)) {
    return MalformedXml();
  }
  XmlNode out;
  if (!Fill(parsed.document_element(), out, 0) || out.name != root) return MalformedXml();
  return out;
}

wire::AwsResult<void> OnlyChildren(const XmlNode& node,
                                   std::initializer_list<std::string_view> names) {
  for (const XmlNode& child : node.children) {
    if (std::find(names.begin(), names.end(), child.name) == names.end()) return MalformedXml();
  }
  return {};
}

wire::AwsResult<void> AtMostOnce(const XmlNode& node,
                                 std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (node.All(name).size() > 1) return MalformedXml();
  }
  return {};
}

wire::AwsResult<std::int64_t> WholeNumber(const XmlNode& node, std::int64_t min) {
  std::int64_t out = 0;
  const char* const end = node.text.data() + node.text.size();
  const auto [at, error] = std::from_chars(node.text.data(), end, out);
  if (error != std::errc() || at != end || out < min) return MalformedXml();
  return out;
}

wire::AwsResult<bool> Truth(const XmlNode& node) {
  if (node.text == "true" || node.text == "TRUE") return true;
  if (node.text == "false" || node.text == "FALSE") return false;
  return MalformedXml();
}

}  // namespace sabia::s3
