#include "wire/protocol_json.h"

#include "wire/scalar_text.h"

namespace sabia::wire {

AwsResult<json::object> DecodeJson(std::string_view body) {
  if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) return json::object();
  auto value = ParseJsonAtOnce(body);
  if (!value) {
    return Refuse("SerializationException", 400, "The request body could not be parsed: {}",
                  value.error().message);
  }
  if (!value->is_object()) {
    return Refuse("SerializationException", 400, "The request body must be a JSON object");
  }
  return std::move(value->get_object());
}

Response EncodeJsonSuccess(const Call& call, const json::object& output) {
  Response response;
  response.status = call.operation.success_status;
  response.headers.Add("Content-Type", std::string(ContentType(call.protocol)));
  response.body = json::serialize(output);
  return response;
}

namespace {

// Details are texts; the model may say that one is a number.
json::value Detail(const Shape* exception, const std::string& name, const std::string& text) {
  const Member* member = exception == nullptr ? nullptr : exception->FindMember(name);
  if (member == nullptr || !member->shape->IsScalar()) return json::value(text);
  auto value = ScalarFromText(*member, text);
  return value ? std::move(*value) : json::value(text);
}

}  // namespace

// SageMaker's modelled exceptions carry "Message", everything else "message"; clients look for
// both.
Response EncodeJsonError(const ServiceSchema& schema, Protocol protocol, const AwsError& error) {
  const Shape* modelled = schema.FindException(error.code);
  const bool capital = modelled != nullptr && modelled->FindMember("Message") != nullptr;
  json::object body;
  body.emplace("__type", modelled != nullptr ? modelled->name : std::string_view(error.code));
  body.emplace(capital ? "Message" : "message", error.message);
  for (const auto& [name, value] : error.details) body.emplace(name, Detail(modelled, name, value));
  Response response;
  response.status = error.status;
  response.headers.Add("Content-Type", std::string(ContentType(protocol)));
  if (schema.query_compatible) {
    const std::string_view code =
        modelled != nullptr ? modelled->error_code : std::string_view(error.code);
    response.headers.Add("x-amzn-query-error",
                         fmt::format("{};{}", code, error.status < 500 ? "Sender" : "Receiver"));
  }
  response.body = json::serialize(body);
  return response;
}

}  // namespace sabia::wire
