// JSON 1.0 and 1.1: the operation is named by X-Amz-Target, the body is the input. Called through
// protocol.h.
#pragma once

#include "wire/protocol.h"

namespace sabia::wire {

AwsResult<json::object> DecodeJson(std::string_view body);
// Errors of query-compatible services also carry x-amzn-query-error: "Code;Sender".
Response EncodeJsonSuccess(const Call& call, const json::object& output);
Response EncodeJsonError(const ServiceSchema& schema, Protocol protocol, const AwsError& error);

}  // namespace sabia::wire
