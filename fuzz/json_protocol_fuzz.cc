// Bodies of JSON services: decode, validate, and read into a typed struct.
//
// The first byte chooses the action. Whatever passes validation must survive Decode and Encode
// unchanged in meaning: the encoded form is valid again, and reading it once more changes nothing.
#include <array>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "wire/gen/cloudwatch.h"
#include "wire/gen/logs.h"
#include "wire/gen/sagemaker.h"
#include "wire/protocol.h"

namespace sabia::wire {
namespace {

template <typename T>
json::object Reread(const json::object& input) {
  return T::Decode(input).Encode();
}

struct Target {
  std::string_view service;
  std::string_view action;
  json::object (*reread)(const json::object&);
};

constexpr std::array<Target, 5> kTargets{{
    {"sagemaker", "CreateTrainingJob", Reread<sagemaker::CreateTrainingJobRequest>},
    {"sagemaker", "ListTrainingJobs", Reread<sagemaker::ListTrainingJobsRequest>},
    {"sagemaker", "Search", nullptr},  // the recursive shapes
    {"logs", "PutLogEvents", Reread<logs::PutLogEventsRequest>},
    {"cloudwatch", "PutMetricData", Reread<cloudwatch::PutMetricDataInput>},
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
  if (target.reread == nullptr) return;
  const json::object once = target.reread(*input);
  const auto again = Validate(*operation.input, once);
  CHECK_MSG(again.has_value(), again.error().message);
  CHECK(target.reread(once) == once);
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
