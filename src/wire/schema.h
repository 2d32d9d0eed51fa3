// The AWS service schemas at run time: what actions exist, what shapes they take, and what is wrong
// with a request.
//
// Schemas are distilled from botocore's service models by tools/import_schemas.py into
// schemas/<service>.json (facts only) and embedded in the binary. Loading one is lazy and cached;
// all strings are views into the schema's own pool, so that the largest service costs about two
// megabytes. Immutable after loading; thread-safe. docs/semantics/validation.md quotes the wording
// of violations.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "wire/aws_error.h"
#include "wire/pattern.h"

namespace sabia::wire {

enum class ShapeKind : std::uint8_t {
  kStructure,
  kList,
  kMap,
  kString,
  kInteger,
  kLong,
  kFloat,
  kDouble,
  kBoolean,
  kTimestamp,
  kBlob
};
enum class Location : std::uint8_t { kBody, kHeader, kHeaders, kUri, kQuery, kStatusCode };
enum class TimestampFormat : std::uint8_t { kDefault, kIso8601, kRfc822, kUnix };

struct Shape;

struct Member {
  std::string_view name;           // empty for list elements, map keys and map values
  std::string_view location_name;  // in headers, URIs, queries and XML answers; empty: the name
  const Shape* shape = nullptr;
  Location location = Location::kBody;
  TimestampFormat timestamp_format = TimestampFormat::kDefault;
  bool required = false;
  bool idempotency_token = false;
  bool flattened = false;  // XML and query lists without a wrapper
  bool streaming = false;
  bool json_value = false;  // a header that carries base64 of JSON
  std::string_view WireName() const { return location_name.empty() ? name : location_name; }
};

struct Shape {
  std::string_view name;
  ShapeKind kind = ShapeKind::kStructure;
  bool is_union = false;   // exactly one member set
  bool sensitive = false;  // never logged, never quoted
  bool flattened = false;
  bool streaming = false;
  bool event_stream = false;
  bool is_exception = false;
  TimestampFormat timestamp_format = TimestampFormat::kDefault;
  unsigned error_status = 400;      // exceptions: HTTP status
  std::span<const Member> members;  // structures; in the model's order
  const Member* element = nullptr;  // lists
  const Member* map_key = nullptr;  // maps
  const Member* map_value = nullptr;
  std::optional<double> min;  // length of strings, lists, maps, blobs; value of numbers
  std::optional<double> max;
  const Pattern* pattern = nullptr;
  std::span<const std::string_view> enum_values;
  std::string_view payload;     // structures: the member that is the whole REST body
  std::string_view error_code;  // exceptions: the code on the wire

  const Member* FindMember(std::string_view member_name) const;
  bool IsScalar() const {
    return kind != ShapeKind::kStructure && kind != ShapeKind::kList && kind != ShapeKind::kMap;
  }
};

struct Operation {
  std::string_view name;
  std::string_view http_method;  // "POST"
  std::string_view request_uri;  // "/", or "/{Bucket}/{Key+}?uploads"
  unsigned success_status = 200;
  const Shape* input = nullptr;  // nullptr: takes nothing
  const Shape* output = nullptr;
  std::string_view result_wrapper;  // query protocol: "GetRoleResult"
  std::vector<const Shape*> errors;
};

enum class Protocol : std::uint8_t { kJson10, kJson11, kQuery, kRestJson, kRestXml };

// What one distilled document says. Pointers into it live as long as it does.
struct ServiceSchema {
  ServiceSchema() = default;
  ServiceSchema(const ServiceSchema&) = delete;
  ServiceSchema& operator=(const ServiceSchema&) = delete;

  std::string_view name;           // "sagemaker"
  std::string_view api_version;    // "2017-07-24"
  std::string_view signing_name;   // "sagemaker"; "monitoring" for cloudwatch
  std::string_view target_prefix;  // "SageMaker"; empty for protocols without targets
  std::string_view xml_namespace;
  bool query_compatible = false;  // JSON errors carry x-amzn-query-error
  std::vector<Protocol> protocols;
  std::vector<Operation> operations;  // by name
  std::vector<Shape> shapes;          // by name

  bool Speaks(Protocol protocol) const;
  const Operation* FindOperation(std::string_view name) const;
  const Shape* FindShape(std::string_view name) const;
  // The modelled exception with this shape name or wire code; nullptr when it is not modelled.
  const Shape* FindException(std::string_view code) const;

  // Storage behind the views; filled once by the loader.
  std::string text;
  std::vector<Member> members;
  std::vector<std::string_view> strings;
  std::deque<Pattern> patterns;
};

// nullptr when there is no such service.
const ServiceSchema* FindService(std::string_view name);
// All embedded services, by name.
std::vector<std::string> ServiceNames();
// Parses one distilled document; for FindService and tests.
Result<std::unique_ptr<ServiceSchema>> LoadServiceSchema(std::string_view document);

// Checks input against the shape at any depth. Type errors give SerializationException; constraint
// violations are collected into one ValidationException: "2 validation errors detected: Value '…'
// at '…' failed to satisfy constraint: …; …". A member that the schema does not know is refused by
// name. Numbers in strings are not accepted.
AwsResult<void> Validate(const Shape& shape, const json::object& input);

}  // namespace sabia::wire
