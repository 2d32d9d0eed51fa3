// Forms of the query protocol. The first byte chooses the action; what decodes is judged by the
// schema as any request.
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "wire/protocol_query.h"

namespace sabia::wire {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kTargets{{
    {"sts", "AssumeRole"},
    {"sts", "GetCallerIdentity"},
    {"iam", "SimulatePrincipalPolicy"},
    {"cloudwatch", "PutMetricData"},
    {"cloudwatch", "GetMetricData"},
}};

void Check(const ServiceSchema& schema, const Operation& operation, std::string_view body) {
  const Headers headers;
  const QueryParameters query;
  QueryAction(body, query);
  const Call call{schema, operation, Protocol::kQuery};
  const auto input = DecodeRequest(call, {headers, query, body, {}});
  if (!input) {
    CHECK(input.error().code == "MalformedInput" && input.error().status == 400);
    return;
  }
  // A decoder that follows the schema can break constraints, never types.
  const auto checked = Validate(*operation.input, *input);
  if (!checked) EncodeError(schema, Protocol::kQuery, checked.error(), "id");
}

}  // namespace
}  // namespace sabia::wire

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sabia::wire;
  if (size == 0) return 0;
  const auto& [service, action] = kTargets[data[0] % kTargets.size()];
  const ServiceSchema& schema = *FindService(service);
  Check(schema, *schema.FindOperation(action),
        std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
  return 0;
}
