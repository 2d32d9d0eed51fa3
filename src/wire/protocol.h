// The AWS protocols but S3's: requests into the schema's JSON form, answers and errors out of it.
// S3 reads and writes its own documents (objects/s3_xml.h, s3_error.h).
//
// Everything is driven by the tables of the schema; no service has code of its own here. The
// schema's JSON form is what JSON 1.1 carries: members by name, timestamps as epoch seconds, blobs
// as base64, maps as objects. Decoders only translate; Validate (schema.h) judges afterwards.
//
// Pure; thread-safe. Errors: what cannot be decoded at all is SerializationException (JSON) or
// MalformedInput (query).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/json.h"
#include "wire/aws_error.h"
#include "wire/http.h"
#include "wire/schema.h"

namespace sabia::wire {

// One call: which operation, spoken how.
struct Call {
  const ServiceSchema& schema;
  const Operation& operation;
  Protocol protocol;
};

// What a decoder needs of the HTTP request.
struct RequestParts {
  const Headers& headers;
  const QueryParameters& query;  // of the URL
  std::string_view body;         // whole; empty where the handler streams it
  std::map<std::string, std::string, std::less<>> labels;  // of the URI (uri_matcher.h)
};

AwsResult<json::object> DecodeRequest(const Call& call, const RequestParts& request);

// Status, Content-Type, bound headers and body. A streaming payload is not in the body: the handler
// sends it.
Response EncodeSuccess(const Call& call, const json::object& output, std::string_view request_id);

// Also for requests whose operation was never found. The code is given the name that the protocol
// uses for it: ValidationException is ValidationError in the query protocol.
Response EncodeError(const ServiceSchema& schema, Protocol protocol, const AwsError& error,
                     std::string_view request_id);

// "application/x-amz-json-1.1"
std::string_view ContentType(Protocol protocol);

}  // namespace sabia::wire
