#include "wire/protocol.h"

#include "wire/protocol_json.h"

namespace sabia::wire {

AwsResult<json::object> DecodeRequest(const Call& call, const RequestParts& request) {
  switch (call.protocol) {
    case Protocol::kJson10:
    case Protocol::kJson11:
      return DecodeJson(request.body);
    case Protocol::kQuery:
    case Protocol::kRestJson:
    case Protocol::kRestXml:
      break;
  }
  return Refuse("UnknownOperationException", 400, "{} is not implemented in this protocol",
                call.operation.name);
}

Response EncodeSuccess(const Call& call, const json::object& output, std::string_view) {
  return EncodeJsonSuccess(call, output);
}

Response EncodeError(const ServiceSchema& schema, Protocol protocol, const AwsError& error,
                     std::string_view) {
  return EncodeJsonError(schema, protocol, error);
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
