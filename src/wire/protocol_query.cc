#include "wire/protocol_query.h"

#include <algorithm>
#include <charconv>
#include <memory>

#include "base/encoding.h"
#include "wire/constraints.h"
#include "wire/scalar_text.h"
#include "wire/xml_codec.h"
#include "wire/xml_names.h"

namespace sabia::wire {
namespace {

constexpr std::size_t kNameBytesMax = 128;

tl::unexpected<AwsError> Malformed(std::string_view why) {
  return Refuse("MalformedInput", 400, "{}", why);
}

// "Tags.member.1.Key=x" is the path Tags → member → 1 → Key with the value x.
struct Node {
  std::optional<std::string_view> value;
  std::map<std::string_view, Node> children;
  const Node* Find(std::string_view name) const {
    const auto found = children.find(name);
    return found == children.end() ? nullptr : &found->second;
  }
};

AwsResult<Node> MakeTree(const QueryParameters& form) {
  if (form.all().size() > kQueryParametersMax)
    return Malformed("The request has too many parameters");
  Node root;
  for (const auto& [name, value] : form.all()) {
    if (name == "Action" || name == "Version") continue;
    if (name.starts_with("X-Amz-")) continue;  // a presigned URL's own
    Node* node = &root;
    std::string_view rest = name;
    for (std::size_t depth = 0;; ++depth) {
      if (depth == kQueryDepthMax) return Malformed("A parameter's name has too many parts");
      const auto dot = rest.find('.');
      node = &node->children[rest.substr(0, dot)];
      if (dot == std::string_view::npos) break;
      rest.remove_prefix(dot + 1);
    }
    if (node->value) {
      return Malformed(
          fmt::format("The parameter '{}' occurs twice", CutText(name, kNameBytesMax)));
    }
    node->value = value;
  }
  return root;
}

AwsResult<json::value> DecodeValue(const Member& member, const Node& node, std::string_view name);

// The children that are named by numbers, in the order of the numbers.
AwsResult<std::map<unsigned, const Node*>> Numbered(const Node& node, std::string_view name) {
  std::map<unsigned, const Node*> out;
  for (const auto& [text, child] : node.children) {
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() ||
        !out.emplace(number, &child).second) {
      return Malformed(fmt::format("The parameter '{}.{}' has no valid index", name,
                                   CutText(text, kNameBytesMax)));
    }
  }
  return out;
}

// The node that holds the numbers: itself when flattened, else its only child of that name.
AwsResult<const Node*> Container(const Member& member, const Node& node, std::string_view wrapper,
                                 std::string_view name) {
  if (IsFlattened(member)) return &node;
  for (const auto& [text, child] : node.children) {
    if (text != wrapper) {
      return Malformed(
          fmt::format("The parameter '{}.{}' is not expected", name, CutText(text, kNameBytesMax)));
    }
    if (child.value)
      return Malformed(fmt::format("The parameter '{}.{}' has no index", name, wrapper));
  }
  static const Node kNone;
  const Node* found = node.Find(wrapper);
  return found == nullptr ? &kNone : found;  // "Names=" is an empty list
}

AwsResult<json::value> DecodeList(const Member& member, const Node& node, std::string_view name) {
  ASSIGN_OR_RETURN(const Node* container,
                   Container(member, node, ElementName(*member.shape), name));
  ASSIGN_OR_RETURN(auto items, Numbered(*container, name));
  json::array out;
  for (const auto& [number, item] : items) {
    ASSIGN_OR_RETURN(json::value value, DecodeValue(*member.shape->element, *item, name));
    out.push_back(std::move(value));
  }
  return out;
}

AwsResult<json::value> DecodeMap(const Member& member, const Node& node, std::string_view name) {
  const Shape& map = *member.shape;
  ASSIGN_OR_RETURN(const Node* container, Container(member, node, "entry", name));
  ASSIGN_OR_RETURN(auto entries, Numbered(*container, name));
  json::object out;
  for (const auto& [number, entry] : entries) {
    const Node* key = entry->Find(PartName(*map.map_key, "key"));
    const Node* value = entry->Find(PartName(*map.map_value, "value"));
    if (key == nullptr || !key->value || value == nullptr) {
      return Malformed(fmt::format("An entry of '{}' has no key or no value", name));
    }
    if (!IsUtf8(*key->value)) return Malformed(fmt::format("A key of '{}' is not UTF-8", name));
    ASSIGN_OR_RETURN(json::value item, DecodeValue(*map.map_value, *value, name));
    out.insert_or_assign(*key->value, std::move(item));
  }
  return out;
}

AwsResult<json::object> DecodeStructure(const Shape& structure, const Node& node) {
  json::object out;
  std::size_t known = 0;
  for (const Member& member : structure.members) {
    const Node* child = node.Find(XmlName(member));
    if (child == nullptr) continue;
    ++known;
    ASSIGN_OR_RETURN(json::value value, DecodeValue(member, *child, member.name));
    out.emplace(member.name, std::move(value));
  }
  if (known == node.children.size()) return out;
  for (const auto& [text, child] : node.children) {
    const std::string_view given = text;  // clang 14 captures no structured binding
    const auto same = [given](const Member& member) { return XmlName(member) == given; };
    if (std::ranges::none_of(structure.members, same)) {
      return Malformed(fmt::format("{} has no parameter '{}'", structure.name,
                                   IsUtf8(text) ? CutText(text, kNameBytesMax) : std::string("?")));
    }
  }
  return out;
}

AwsResult<json::value> DecodeValue(const Member& member, const Node& node, std::string_view name) {
  const Shape& shape = *member.shape;
  if (shape.IsScalar()) {
    if (!node.children.empty() || !node.value) {
      return Malformed(fmt::format("The parameter '{}' is not a single value", name));
    }
    auto value = ScalarFromText(member, *node.value);
    if (!value)
      return Malformed(fmt::format("The parameter '{}': {}", name, value.error().message));
    return value;
  }
  if (node.value && !node.value->empty()) {
    return Malformed(fmt::format("The parameter '{}' is a single value", name));
  }
  if (shape.kind == ShapeKind::kList) return DecodeList(member, node, name);
  if (shape.kind == ShapeKind::kMap) return DecodeMap(member, node, name);
  ASSIGN_OR_RETURN(json::object members, DecodeStructure(shape, node));
  return members;
}

Response XmlResponse(unsigned status, std::string body) {
  Response response;
  response.status = status;
  response.headers.Add("Content-Type", std::string(ContentType(Protocol::kQuery)));
  response.body = std::move(body);
  return response;
}

}  // namespace

std::optional<std::string> QueryAction(std::string_view body, const QueryParameters& query) {
  const auto form = body.empty() ? Result<QueryParameters>(query) : QueryParameters::Parse(body);
  if (!form) return std::nullopt;
  const auto action = form->Find("Action");
  return action ? std::optional<std::string>(*action) : std::nullopt;
}

AwsResult<json::object> DecodeQuery(const Operation& operation, const RequestParts& request) {
  const auto form = request.body.empty() ? Result<QueryParameters>(request.query)
                                         : QueryParameters::Parse(request.body);
  if (!form) return Malformed(form.error().message);
  ASSIGN_OR_RETURN(const Node tree, MakeTree(*form));
  if (operation.input == nullptr) {
    if (tree.children.empty()) return json::object();
    return Malformed(fmt::format("{} takes no parameters", operation.name));
  }
  return DecodeStructure(*operation.input, tree);
}

Response EncodeQuerySuccess(const Call& call, const json::object& output,
                            std::string_view request_id) {
  const Operation& operation = call.operation;
  std::string body = fmt::format("<{}Response xmlns=\"{}\">", operation.name,
                                 EscapeXml(call.schema.xml_namespace));
  if (!operation.result_wrapper.empty()) body += fmt::format("<{}>", operation.result_wrapper);
  if (operation.output != nullptr) EncodeXmlMembers(*operation.output, output, body);
  if (!operation.result_wrapper.empty()) body += fmt::format("</{}>", operation.result_wrapper);
  body += fmt::format("<ResponseMetadata><RequestId>{}</RequestId></ResponseMetadata></{}Response>",
                      EscapeXml(request_id), operation.name);
  return XmlResponse(operation.success_status, std::move(body));
}

Response EncodeQueryError(const ServiceSchema& schema, const AwsError& error,
                          std::string_view request_id) {
  std::string details;
  for (const auto& [name, value] : error.details) {
    details += fmt::format("<{0}>{1}</{0}>", name, EscapeXml(value));
  }
  return XmlResponse(
      error.status,
      fmt::format(
          "<ErrorResponse xmlns=\"{}\"><Error><Type>{}</Type><Code>{}</Code><Message>{}</Message>"
          "{}</Error><RequestId>{}</RequestId></ErrorResponse>",
          EscapeXml(schema.xml_namespace), error.status < 500 ? "Sender" : "Receiver",
          EscapeXml(error.code), EscapeXml(error.message), details, EscapeXml(request_id)));
}

}  // namespace sabia::wire
