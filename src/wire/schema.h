// The AWS service schemas at run time: what actions exist, what shapes they take, and what is wrong with a request.
//
// Schemas are distilled from botocore's service models by tools/import_schemas.py into schemas/<service>.json (facts
// only) and embedded in the binary. Loading one is lazy and cached. Immutable after loading; thread-safe.
// Source of the wording: contract of the service as quoted in docs/semantics/validation.md.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "wire/aws_error.h"

namespace sabia::wire {

enum class ShapeKind {
  kStructure, kList, kMap, kString, kInteger, kLong, kFloat, kDouble, kBoolean, kTimestamp, kBlob
};

struct Shape;

struct Member {
  std::string name;
  const Shape* shape = nullptr;
  bool required = false;
  bool idempotency_token = false;
  // Where the member travels in REST protocols and XML: "header", "headers", "uri", "querystring", "statusCode", or
  // "" for the body; location_name is the name there (also the XML element or query name when it differs).
  std::string location;
  std::string location_name;
  bool flattened = false;       // XML and query lists without a wrapper
  bool xml_attribute = false;
  std::string timestamp_format;  // "iso8601", "rfc822", "unixTimestamp" or "" for the protocol's default
};

struct Shape {
  std::string name;
  ShapeKind kind = ShapeKind::kStructure;
  std::vector<Member> members;       // structures; in the model's order
  const Member* FindMember(std::string_view name) const;
  std::optional<Member> element;     // lists
  std::optional<Member> map_key;     // maps
  std::optional<Member> map_value;
  std::optional<double> min;         // length of strings, lists, maps, blobs; value of numbers
  std::optional<double> max;
  std::string pattern;               // as the model prints it; matching is anchored at both ends
  std::vector<std::string> enum_values;
  bool is_union = false;             // exactly one member set
  bool sensitive = false;            // never logged
  bool flattened = false;
  bool streaming = false;
  std::string payload;               // structures: the member that is the whole REST body
  std::string location_name;         // XML root
  std::string xml_namespace;
  std::string timestamp_format;
  // Exceptions: the code on the wire and the HTTP status.
  bool is_exception = false;
  std::string error_code;
  unsigned error_status = 400;
};

struct Operation {
  std::string name;
  std::string http_method;   // "POST"
  std::string request_uri;   // "/", or "/{Bucket}/{Key+}"
  const Shape* input = nullptr;   // nullptr: takes nothing
  const Shape* output = nullptr;
  std::vector<std::string> errors;
};

enum class Protocol { kJson10, kJson11, kQuery, kRestJson, kRestXml };

struct ServiceSchema {
  std::string name;            // "sagemaker"
  std::string api_version;     // "2017-07-24"
  std::string signing_name;    // "sagemaker"; "monitoring" for cloudwatch
  std::string target_prefix;   // "SageMaker"; empty for protocols without targets
  std::string xml_namespace;
  std::vector<Protocol> protocols;
  std::map<std::string, Operation, std::less<>> operations;
  const Operation* FindOperation(std::string_view name) const;
  const Shape* FindShape(std::string_view name) const;

  std::map<std::string, std::unique_ptr<Shape>, std::less<>> shapes;
};

// nullptr when there is no such service.
const ServiceSchema* FindService(std::string_view name);
// All embedded services, by name.
std::vector<std::string> ServiceNames();
// Parses one distilled document; for FindService and tests.
Result<std::unique_ptr<ServiceSchema>> LoadServiceSchema(std::string_view text);

// Checks input against the shape at any depth. Type errors give SerializationException; constraint violations are
// collected into one ValidationException: "2 validation errors detected: Value '…' at '…' failed to satisfy
// constraint: …; …". A member that the schema does not know is refused by name. Numbers in strings are not accepted.
AwsResult<void> Validate(const Shape& shape, const json::object& input);

}  // namespace sabia::wire
