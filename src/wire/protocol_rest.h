// REST-JSON and REST-XML: members travel in the URI, the query, headers and the body. Called
// through protocol.h.
#pragma once

#include "wire/protocol.h"

namespace sabia::wire {

AwsResult<json::object> DecodeRest(const Call& call, const RequestParts& request);
Response EncodeRestSuccess(const Call& call, const json::object& output);
// The code travels in x-amzn-errortype, the message in the body.
Response EncodeRestJsonError(const ServiceSchema& schema, const AwsError& error);
// S3's error document; details are its extra elements.
Response EncodeRestXmlError(const AwsError& error, std::string_view request_id);

// The headers that the output binds; for handlers that stream the payload themselves.
void EncodeBoundHeaders(const Shape& output, const json::object& value, Headers& headers);

}  // namespace sabia::wire
