#include "api/iam.h"

#include <algorithm>
#include <charconv>

#include "api/stable_id.h"
#include "base/encoding.h"

namespace sabia::api {
namespace {

using wire::AwsResult;
using wire::CallContext;

constexpr std::int64_t kSimulatePageDefault = 100;  // model: MaxItems
constexpr std::string_view kTrustPolicy =
    R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"sagemaker.amazonaws.com"},"Action":"sts:AssumeRole"}]})";

AwsResult<json::object> GetRole(const CallContext& context, const json::object& request) {
  const std::string name = GetString(request, "RoleName");
  return json::object{
      {"Role", json::object{
                   {"Path", "/"},
                   {"RoleName", name},
                   {"RoleId", StableRoleId(name)},
                   {"Arn", fmt::format("arn:aws:iam::{}:role/{}", context.principal.account, name)},
                   {"CreateDate", 0},
                   {"AssumeRolePolicyDocument", UriEncode(kTrustPolicy)},
                   {"Description", "Exists by being named: this engine has no role store"},
                   {"MaxSessionDuration", 43'200}}}};
}

json::object Allowed(std::string_view action, std::string_view resource) {
  return {{"EvalActionName", action},
          {"EvalResourceName", resource},
          {"EvalDecision", "allowed"},
          {"MatchedStatements", json::array()},
          {"MissingContextValues", json::array()}};
}

AwsResult<json::object> SimulatePrincipalPolicy(const CallContext&, const json::object& request) {
  std::vector<std::string> resources;
  if (const json::array* list = FindArray(request, "ResourceArns"); list != nullptr) {
    for (const json::value& arn : *list) resources.emplace_back(View(arn.get_string()));
  }
  if (resources.empty()) resources.emplace_back("*");
  const json::array& actions = *FindArray(request, "ActionNames");

  std::size_t begin = 0;
  if (const auto marker = FindString(request, "Marker")) {
    const auto [end, ec] = std::from_chars(marker->data(), marker->data() + marker->size(), begin);
    if (ec != std::errc() || end != marker->data() + marker->size()) {
      return wire::Refuse("InvalidInput", 400, "The Marker is invalid");
    }
  }
  const std::size_t total = actions.size() * resources.size();
  const auto limit = static_cast<std::size_t>(GetInt(request, "MaxItems", kSimulatePageDefault));
  const std::size_t page_end = begin + std::min(limit, total - std::min(begin, total));
  json::array results;
  for (std::size_t i = begin; i < page_end; ++i) {
    results.push_back(
        Allowed(View(actions[i / resources.size()].get_string()), resources[i % resources.size()]));
  }
  json::object out{{"EvaluationResults", std::move(results)}, {"IsTruncated", page_end < total}};
  if (page_end < total) out["Marker"] = std::to_string(page_end);
  return out;
}

}  // namespace

void RegisterIam(wire::ActionTable& table) {
  table.Add("iam", "GetRole", GetRole);
  table.Add("iam", "SimulatePrincipalPolicy", SimulatePrincipalPolicy);
}

}  // namespace sabia::api
