#include <algorithm>

#include "base/encoding.h"
#include "wire/protocol_json.h"
#include "wire/protocol_rest.h"
#include "wire/scalar_text.h"

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

std::string PayloadBody(const Member& payload, const json::value& value) {
  if (payload.shape->kind == ShapeKind::kBlob) {
    auto bytes = value.is_string() ? Base64Decode(View(value.get_string())) : Result<std::string>();
    return bytes ? std::move(*bytes) : std::string();
  }
  if (!value.is_object()) return ScalarToText(payload, value, TimestampFormat::kDefault);
  return json::serialize(value);
}

void EncodeBody(const Call& call, const json::object& output, Response& response) {
  const Shape& shape = *call.operation.output;
  bool typed = true;
  if (!shape.payload.empty()) {
    const Member& payload = *shape.FindMember(shape.payload);
    const json::value* value = output.if_contains(payload.name);
    if (payload.streaming || value == nullptr || value->is_null()) return;
    typed = !payload.shape->IsScalar();
    response.body = PayloadBody(payload, *value);
  } else if (!HasBodyMembers(shape)) {
    return;
  } else {
    response.body = json::serialize(BodyMembers(shape, output));
  }
  if (typed && !response.headers.Has("Content-Type")) {
    response.headers.Add("Content-Type", std::string(ContentType(call.protocol)));
  }
}

void EncodeBoundHeaders(const Shape& output, const json::object& value, Headers& headers) {
  for (const Member& member : output.members) {
    const json::value* content = value.if_contains(member.name);
    if (content == nullptr || content->is_null()) continue;
    if (member.location == Location::kHeader) AddHeader(member, *content, headers);
    if (member.location == Location::kHeaders) AddHeaders(member, *content, headers);
  }
}

}  // namespace

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

Response EncodeRestError(const ServiceSchema& schema, const AwsError& error) {
  Response response = EncodeJsonError(schema, Protocol::kRestJson, error);
  response.headers.Add("x-amzn-errortype", HeaderText(error.code));
  return response;
}

}  // namespace sabia::wire
