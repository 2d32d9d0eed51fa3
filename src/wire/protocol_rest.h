// REST-JSON: members travel in the URI, the query, headers and the body. Called through protocol.h.
#pragma once

#include "wire/protocol.h"

namespace sabia::wire {

AwsResult<json::object> DecodeRest(const Call& call, const RequestParts& request);
Response EncodeRestSuccess(const Call& call, const json::object& output);
// The code travels in x-amzn-errortype, the message in the body.
Response EncodeRestError(const ServiceSchema& schema, const AwsError& error);

}  // namespace sabia::wire
