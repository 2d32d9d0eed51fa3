#include <algorithm>

#include "base/encoding.h"
#include "wire/protocol_json.h"
#include "wire/protocol_rest.h"
#include "wire/scalar_text.h"
#include "wire/xml_codec.h"

namespace sabia::wire {
namespace {

// Header values cannot hold control characters: a line break would start a header of the caller's
// choice.
std::string HeaderText(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  return text;
}

void AddHeader(const Member& member, const json::value& value, Headers& headers) {
  if (member.WireName() == "Content-Length") return;  // the server's
  if (member.shape->kind == ShapeKind::kList) {
    std::string joined;
    if (!value.is_array()) return;
    for (const auto& item : value.get_array()) {
      joined += (joined.empty() ? "" : ",") +
                ScalarToText(*member.shape->element, item, TimestampFormat::kRfc822);
    }
    if (!joined.empty()) headers.Add(std::string(member.WireName()), HeaderText(std::move(joined)));
    return;
  }
  std::string text = ScalarToText(member, value, TimestampFormat::kRfc822);
  if (member.json_value) text = Base64Encode(text);
  headers.Add(std::string(member.WireName()), HeaderText(std::move(text)));
}

void AddHeaders(const Member& member, const json::value& value, Headers& headers) {
  if (!value.is_object()) return;
  for (const auto& entry : value.get_object()) {
    headers.Add(HeaderText(std::string(member.location_name) + std::string(entry.key())),
                HeaderText(ScalarToText(*member.shape->map_value, entry.value(),
                                        TimestampFormat::kRfc822)));
  }
}

std::string XmlDocument(std::string_view root, std::string_view xml_namespace,
                        std::string_view content) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format("<{}", root);
  if (!xml_namespace.empty()) out += fmt::format(" xmlns=\"{}\"", EscapeXml(xml_namespace));
  return out + fmt::format(">{}</{}>", content, root);
}

std::string XmlBody(const Call& call, const Shape& structure, std::string_view root,
                    const json::object& value) {
  std::string content;
  if (call.operation.unwrapped) {
    for (const Member& member : structure.members) {
      const json::value* text = value.if_contains(member.name);
      if (text == nullptr || text->is_null()) continue;
      content = EscapeXml(ScalarToText(member, *text, TimestampFormat::kIso8601));
    }
  } else {
    EncodeXmlMembers(structure, value, content);
  }
  return XmlDocument(root, call.schema.xml_namespace, content);
}

bool HasBodyMembers(const Shape& output) {
  return std::ranges::any_of(
      output.members, [](const Member& member) { return member.location == Location::kBody; });
}

json::object BodyMembers(const Shape& output, const json::object& value) {
  json::object body;
  for (const Member& member : output.members) {
    const json::value* content = value.if_contains(member.name);
    if (member.location == Location::kBody && content != nullptr && !content->is_null()) {
      body.emplace(member.name, *content);
    }
  }
  return body;
}

std::string PayloadBody(const Call& call, const Member& payload, const json::value& value) {
  if (payload.shape->kind == ShapeKind::kBlob) {
    auto bytes = value.is_string() ? Base64Decode(View(value.get_string())) : Result<std::string>();
    return bytes ? std::move(*bytes) : std::string();
  }
  if (!value.is_object()) return ScalarToText(payload, value, TimestampFormat::kDefault);
  if (call.protocol == Protocol::kRestJson) return json::serialize(value);
  const std::string_view root =
      call.operation.root.empty() ? payload.WireName() : call.operation.root;
  return XmlBody(call, *payload.shape, root, value.get_object());
}

void EncodeBody(const Call& call, const json::object& output, Response& response) {
  const Shape& shape = *call.operation.output;
  bool typed = true;
  if (!shape.payload.empty()) {
    const Member& payload = *shape.FindMember(shape.payload);
    const json::value* value = output.if_contains(payload.name);
    if (payload.streaming || value == nullptr || value->is_null()) return;
    typed = !payload.shape->IsScalar();
    response.body = PayloadBody(call, payload, *value);
  } else if (!HasBodyMembers(shape)) {
    return;
  } else if (call.protocol == Protocol::kRestJson) {
    response.body = json::serialize(BodyMembers(shape, output));
  } else {
    const std::string_view root = call.operation.root.empty() ? shape.name : call.operation.root;
    response.body = XmlBody(call, shape, root, output);
  }
  if (typed && !response.headers.Has("Content-Type")) {
    response.headers.Add("Content-Type", std::string(ContentType(call.protocol)));
  }
}

}  // namespace

void EncodeBoundHeaders(const Shape& output, const json::object& value, Headers& headers) {
  for (const Member& member : output.members) {
    const json::value* content = value.if_contains(member.name);
    if (content == nullptr || content->is_null()) continue;
    if (member.location == Location::kHeader) AddHeader(member, *content, headers);
    if (member.location == Location::kHeaders) AddHeaders(member, *content, headers);
  }
}

Response EncodeRestSuccess(const Call& call, const json::object& output) {
  Response response;
  response.status = call.operation.success_status;
  const Shape* shape = call.operation.output;
  if (shape == nullptr) return response;
  EncodeBoundHeaders(*shape, output, response.headers);
  for (const Member& member : shape->members) {
    const auto status = FindInt(output, member.name);
    if (member.location == Location::kStatusCode && status && *status >= 100 && *status <= 599) {
      response.status = static_cast<unsigned>(*status);
    }
  }
  EncodeBody(call, output, response);
  return response;
}

Response EncodeRestJsonError(const ServiceSchema& schema, const AwsError& error) {
  Response response = EncodeJsonError(schema, Protocol::kRestJson, error);
  response.headers.Add("x-amzn-errortype", HeaderText(error.code));
  return response;
}

Response EncodeRestXmlError(const AwsError& error, std::string_view request_id) {
  std::string content = fmt::format("<Code>{}</Code><Message>{}</Message>", EscapeXml(error.code),
                                    EscapeXml(error.message));
  for (const auto& [name, value] : error.details) {
    content += fmt::format("<{0}>{1}</{0}>", name, EscapeXml(value));
  }
  content += fmt::format("<RequestId>{0}</RequestId><HostId>{0}</HostId>", EscapeXml(request_id));
  Response response;
  response.status = error.status;
  response.headers.Add("Content-Type", std::string(ContentType(Protocol::kRestXml)));
  response.body = XmlDocument("Error", "", content);
  return response;
}

}  // namespace sabia::wire
