#include "wire/json_client.h"

#include "wire/sha256.h"

namespace sabia::wire {
namespace {

constexpr std::size_t kAnswerMax = 64 << 20;

Error RefusalOf(const HttpAnswer& answer) {
  std::string code;
  std::string message = answer.body.substr(0, 1024);
  if (const auto document = ParseJsonObject(answer.body)) {
    code = GetString(*document, "__type");
    message = GetString(*document, "message", GetString(*document, "Message"));
  }
  const bool missing = answer.status == 404 || code.find("NotFound") != std::string::npos;
  const bool denied = answer.status == 401 || answer.status == 403 ||
                      code == "UnrecognizedClientException" ||
                      code == "InvalidSignatureException" || code == "ExpiredTokenException";
  const ErrorCode ours = missing                ? ErrorCode::kNotFound
                         : denied               ? ErrorCode::kDenied
                         : answer.status >= 500 ? ErrorCode::kUnavailable
                                                : ErrorCode::kInvalidArgument;
  if (code.empty()) code = fmt::format("{}", answer.status);
  return {ours, fmt::format("{}: {}", code, message)};
}

}  // namespace

Result<std::unique_ptr<JsonClient>> JsonClient::Create(ServiceEndpoint endpoint,
                                                       SignedClient::Options options,
                                                       env::Clock& clock) {
  // Fails early on a bad URL; the real clients are made per service.
  RETURN_IF_ERROR(SignedClient::Create(endpoint, options, clock).map([](const auto&) {}));
  return std::unique_ptr<JsonClient>(
      new JsonClient(std::move(endpoint), std::move(options), clock));
}

Result<json::object> JsonClient::CallExtension(const std::string& path, const json::object& input) {
  OutgoingRequest request;
  request.path = path;
  request.headers.Add("Content-Type", "application/json");
  return Post("sabia", std::move(request), input);
}

Result<json::object> JsonClient::CallAction(const Action& action, const json::object& input) {
  OutgoingRequest request;
  request.headers.Add("Content-Type", "application/x-amz-json-1.1");
  request.headers.Add("X-Amz-Target", action.target);
  return Post(action.service, std::move(request), input);
}

Result<json::object> JsonClient::Post(const std::string& service, OutgoingRequest request,
                                      const json::object& input) {
  if (!client_ || client_service_ != service) {
    endpoint_.identity.service = service;
    ASSIGN_OR_RETURN(client_, SignedClient::Create(endpoint_, options_, clock_));
    client_service_ = service;
  }
  const std::string body = json::serialize(input);
  SignedCall call;
  call.request = std::move(request);
  call.request.method = "POST";
  call.request.payload_hash = Hex(Sha256Of(body));
  call.body = body;
  call.body_max = kAnswerMax;
  ASSIGN_OR_RETURN(const HttpAnswer answer, client_->Call(call));
  if (answer.status < 200 || answer.status >= 300) return tl::unexpected<Error>(RefusalOf(answer));
  if (answer.body.empty()) return json::object();
  auto document = ParseJsonObject(answer.body);
  if (!document)
    return Fail(ErrorCode::kCorrupt, "the answer is not JSON: {}", document.error().message);
  return document;
}

}  // namespace sabia::wire
