#include <pugixml.hpp>

#include "base/encoding.h"
#include "wire/constraints.h"
#include "wire/scalar_text.h"
#include "wire/xml_codec.h"
#include "wire/xml_names.h"

namespace sabia::wire {
namespace {

constexpr std::size_t kNameBytesMax = 128;

tl::unexpected<AwsError> Malformed(std::string_view why) {
  return Refuse(
      "MalformedXML", 400,
      "The XML you provided was not well-formed or did not validate against our published "
      "schema: {}",
      why);
}

std::string_view LocalName(std::string_view name) {
  const auto colon = name.find(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

class DepthCheck final : public pugi::xml_tree_walker {
 public:
  bool for_each(pugi::xml_node&) override { return depth() < kXmlDepthMax; }
};

std::string TextOf(pugi::xml_node node) {
  std::string text;
  for (const auto& child : node.children()) {
    if (child.type() == pugi::node_pcdata || child.type() == pugi::node_cdata)
      text += child.value();
  }
  return text;
}

bool IsElement(pugi::xml_node node) { return node.type() == pugi::node_element; }

AwsResult<json::value> DecodeValue(const Member& member, pugi::xml_node node);

AwsResult<json::value> DecodeScalar(const Member& member, pugi::xml_node node) {
  for (const auto& child : node.children()) {
    if (IsElement(child)) return Malformed(fmt::format("'{}' holds elements", node.name()));
  }
  auto value = ScalarFromText(member, TextOf(node));
  if (!value) return Malformed(fmt::format("{} in '{}'", value.error().message, node.name()));
  return value;
}

AwsResult<json::value> DecodeList(const Shape& list, pugi::xml_node node) {
  json::array out;
  for (const auto& child : node.children()) {
    if (!IsElement(child)) continue;
    if (LocalName(child.name()) != ElementName(list)) {
      return Malformed(fmt::format("unexpected element '{}' in '{}'",
                                   CutText(child.name(), kNameBytesMax), node.name()));
    }
    ASSIGN_OR_RETURN(json::value item, DecodeValue(*list.element, child));
    out.push_back(std::move(item));
  }
  return out;
}

AwsResult<void> DecodeEntry(const Shape& map, pugi::xml_node entry, json::object& out) {
  const std::string key = TextOf(entry.child(std::string(PartName(*map.map_key, "key")).c_str()));
  const auto value = entry.child(std::string(PartName(*map.map_value, "value")).c_str());
  if (!value) return Malformed(fmt::format("'{}' has no value", entry.name()));
  ASSIGN_OR_RETURN(json::value item, DecodeValue(*map.map_value, value));
  out.insert_or_assign(key, std::move(item));
  return {};
}

AwsResult<json::value> DecodeMap(const Shape& map, pugi::xml_node node) {
  json::object out;
  for (const auto& child : node.children()) {
    if (IsElement(child)) RETURN_IF_ERROR(DecodeEntry(map, child, out));
  }
  return out;
}

const Member* MemberOf(const Shape& structure, std::string_view element) {
  for (const Member& member : structure.members) {
    if (member.location == Location::kBody && !member.xml_attribute &&
        LocalName(XmlName(member)) == element) {
      return &member;
    }
  }
  return nullptr;
}

void DecodeAttributes(const Shape& structure, pugi::xml_node node, json::object& out) {
  for (const Member& member : structure.members) {
    if (!member.xml_attribute) continue;
    for (const auto& attribute : node.attributes()) {
      if (LocalName(attribute.name()) == LocalName(member.WireName())) {
        out.emplace(member.name, attribute.value());
      }
    }
  }
}

AwsResult<json::object> DecodeMembers(const Shape& structure, pugi::xml_node node) {
  json::object out;
  DecodeAttributes(structure, node, out);
  for (const auto& child : node.children()) {
    if (!IsElement(child)) continue;
    const Member* member = MemberOf(structure, LocalName(child.name()));
    if (member == nullptr) {
      return Malformed(fmt::format("unexpected element '{}' in '{}'",
                                   CutText(child.name(), kNameBytesMax), node.name()));
    }
    if (IsFlattened(*member) && member->shape->kind == ShapeKind::kMap) {
      json::value& entries = out.emplace(member->name, json::object()).first->value();
      RETURN_IF_ERROR(DecodeEntry(*member->shape, child, entries.get_object()));
    } else if (IsFlattened(*member)) {
      ASSIGN_OR_RETURN(json::value item, DecodeValue(*member->shape->element, child));
      out.emplace(member->name, json::array())
          .first->value()
          .get_array()
          .push_back(std::move(item));
    } else {
      ASSIGN_OR_RETURN(json::value value, DecodeValue(*member, child));
      if (!out.emplace(member->name, std::move(value)).second) {
        return Malformed(fmt::format("'{}' occurs twice", child.name()));
      }
    }
  }
  return out;
}

AwsResult<json::value> DecodeValue(const Member& member, pugi::xml_node node) {
  const Shape& shape = *member.shape;
  if (shape.kind == ShapeKind::kList) return DecodeList(shape, node);
  if (shape.kind == ShapeKind::kMap) return DecodeMap(shape, node);
  if (shape.kind != ShapeKind::kStructure) return DecodeScalar(member, node);
  ASSIGN_OR_RETURN(json::object members, DecodeMembers(shape, node));
  return members;
}

}  // namespace

AwsResult<json::object> DecodeXml(const Shape& structure, std::string_view root,
                                  std::string_view body) {
  if (body.empty()) return json::object();
  if (!IsUtf8(body)) return Malformed("it is not UTF-8");
  pugi::xml_document document;
  const auto parsed = document.load_buffer(body.data(), body.size(),
                                           pugi::parse_cdata | pugi::parse_escapes |
                                               pugi::parse_eol | pugi::parse_wconv_attribute |
                                               pugi::parse_ws_pcdata_single | pugi::parse_doctype,
                                           pugi::encoding_utf8);
  if (!parsed) {
    return Malformed(fmt::format("{} at byte {}", parsed.description(), parsed.offset));
  }
  for (const auto& node : document.children()) {
    if (node.type() == pugi::node_doctype) return Malformed("it has a document type");
  }
  DepthCheck depth;
  if (!document.traverse(depth)) return Malformed("it is nested too deeply");
  const auto element = document.document_element();
  if (element.next_sibling()) return Malformed("it has more than one root element");
  if (!root.empty() && LocalName(element.name()) != root) {
    return Malformed(fmt::format("the root element is not '{}'", root));
  }
  return DecodeMembers(structure, element);
}

}  // namespace sabia::wire
