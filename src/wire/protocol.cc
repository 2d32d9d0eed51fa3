#include "wire/protocol.h"

#include <array>

#include "base/check.h"
#include "wire/protocol_json.h"
#include "wire/protocol_query.h"
#include "wire/protocol_rest.h"

namespace sabia::wire {
namespace {

struct Spelling {
  std::string_view ours;  // as JSON services call it
  std::string_view query;
};

constexpr std::array<Spelling, 5> kSpellings{{
    {"ValidationException", "ValidationError"},
    {"SerializationException", "MalformedInput"},
    {"UnknownOperationException", "InvalidAction"},
    {"AccessDeniedException", "AccessDenied"},
    {"ThrottlingException", "Throttling"},
}};

// A modelled exception goes by its wire code; the names that every service has, by the protocol's
// spelling.
std::string WireCode(const ServiceSchema& schema, Protocol protocol, const std::string& code) {
  const bool json = protocol == Protocol::kJson10 || protocol == Protocol::kJson11;
  if (const Shape* modelled = schema.FindException(code)) {
    return std::string(json ? modelled->name : modelled->error_code);
  }
  if (json) return code;
  for (const Spelling& spelling : kSpellings) {
    if (spelling.ours != code) continue;
    // SageMaker Runtime is a REST-JSON service that models the query protocol's name.
    const bool as_query =
        protocol == Protocol::kQuery || schema.FindException(spelling.query) != nullptr;
    return std::string(as_query ? spelling.query : spelling.ours);
  }
  return code;
}

}  // namespace

AwsResult<json::object> DecodeRequest(const Call& call, const RequestParts& request) {
  switch (call.protocol) {
    case Protocol::kJson10:
    case Protocol::kJson11:
      return DecodeJson(request.body);
    case Protocol::kQuery:
      return DecodeQuery(call.operation, request);
    case Protocol::kRestJson:
      return DecodeRest(call, request);
    case Protocol::kRestXml:
      break;
  }
  CHECK_MSG(false, "S3 decodes its own requests");
  return json::object();
}

Response EncodeSuccess(const Call& call, const json::object& output, std::string_view request_id) {
  switch (call.protocol) {
    case Protocol::kJson10:
    case Protocol::kJson11:
      return EncodeJsonSuccess(call, output);
    case Protocol::kQuery:
      return EncodeQuerySuccess(call, output, request_id);
    case Protocol::kRestJson:
      return EncodeRestSuccess(call, output);
    case Protocol::kRestXml:
      break;
  }
  CHECK_MSG(false, "S3 encodes its own answers");
  return {};
}

Response EncodeError(const ServiceSchema& schema, Protocol protocol, const AwsError& error,
                     std::string_view request_id) {
  AwsError named = error;
  named.code = WireCode(schema, protocol, error.code);
  switch (protocol) {
    case Protocol::kJson10:
    case Protocol::kJson11:
      return EncodeJsonError(schema, protocol, named);
    case Protocol::kQuery:
      return EncodeQueryError(schema, named, request_id);
    case Protocol::kRestJson:
      return EncodeRestError(schema, named);
    case Protocol::kRestXml:
      break;
  }
  CHECK_MSG(false, "S3 encodes its own errors");
  return {};
}

std::string_view ContentType(Protocol protocol) {
  switch (protocol) {
    case Protocol::kJson10:
      return "application/x-amz-json-1.0";
    case Protocol::kJson11:
      return "application/x-amz-json-1.1";
    case Protocol::kQuery:
      return "text/xml";
    case Protocol::kRestJson:
      return "application/json";
    case Protocol::kRestXml:
      return "application/xml";
  }
  return "application/octet-stream";
}

}  // namespace sabia::wire
