// Bodies of JSON services: decode and validate.
//
// The first byte chooses the action. What passes validation must be the same after a round through
// text, and valid again; what does not must be refused in words that can be sent.
#include <array>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "wire/protocol.h"

namespace sabia::wire {
namespace {

struct Target {
  std::string_view service;
  std::string_view action;
};

constexpr std::array<Target, 5> kTargets{{
    {"sagemaker", "CreateTrainingJob"},
    {"sagemaker", "ListTrainingJobs"},
    {"sagemaker", "Search"},  // the recursive shapes
    {"logs", "PutLogEvents"},
    {"cloudwatch", "PutMetricData"},
}};

void Check(const Target& target, std::string_view body) {
  const ServiceSchema& schema = *FindService(target.service);
  const Operation& operation = *schema.FindOperation(target.action);
  const Headers headers;
  const QueryParameters query;
  const auto input =
      DecodeRequest({schema, operation, schema.protocols.front()}, {headers, query, body, {}});
  const auto checked = input ? Validate(*operation.input, *input) : AwsResult<void>();
  if (!input || !checked) {
    const AwsError& error = input ? checked.error() : input.error();
    CHECK(!error.code.empty() && !error.message.empty() && error.status == 400);
    EncodeError(schema, schema.protocols.front(), error, "id");
    return;
  }
  const auto again = ParseJsonObject(json::serialize(*input));
  CHECK_MSG(again.has_value(), again.error().message);
  CHECK(*again == *input);
  CHECK(Validate(*operation.input, *again).has_value());
}

}  // namespace
}  // namespace sabia::wire

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sabia::wire;
  if (size == 0) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  Check(kTargets[data[0] % kTargets.size()], body);
  return 0;
}
