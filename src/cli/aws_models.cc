#include "cli/aws_models.h"

#include <array>
#include <utility>

#include "base/json.h"

namespace sabia::cli {
namespace {

// Regions of the partition "aws", with the names that people see.
constexpr std::array<std::array<std::string_view, 2>, 34> kRegions = {{
    {"af-south-1", "Africa (Cape Town)"},
    {"ap-east-1", "Asia Pacific (Hong Kong)"},
    {"ap-east-2", "Asia Pacific (Taipei)"},
    {"ap-northeast-1", "Asia Pacific (Tokyo)"},
    {"ap-northeast-2", "Asia Pacific (Seoul)"},
    {"ap-northeast-3", "Asia Pacific (Osaka)"},
    {"ap-south-1", "Asia Pacific (Mumbai)"},
    {"ap-south-2", "Asia Pacific (Hyderabad)"},
    {"ap-southeast-1", "Asia Pacific (Singapore)"},
    {"ap-southeast-2", "Asia Pacific (Sydney)"},
    {"ap-southeast-3", "Asia Pacific (Jakarta)"},
    {"ap-southeast-4", "Asia Pacific (Melbourne)"},
    {"ap-southeast-5", "Asia Pacific (Malaysia)"},
    {"ap-southeast-6", "Asia Pacific (New Zealand)"},
    {"ap-southeast-7", "Asia Pacific (Thailand)"},
    {"ca-central-1", "Canada (Central)"},
    {"ca-west-1", "Canada West (Calgary)"},
    {"eu-central-1", "Europe (Frankfurt)"},
    {"eu-central-2", "Europe (Zurich)"},
    {"eu-north-1", "Europe (Stockholm)"},
    {"eu-south-1", "Europe (Milan)"},
    {"eu-south-2", "Europe (Spain)"},
    {"eu-west-1", "Europe (Ireland)"},
    {"eu-west-2", "Europe (London)"},
    {"eu-west-3", "Europe (Paris)"},
    {"il-central-1", "Israel (Tel Aviv)"},
    {"me-central-1", "Middle East (UAE)"},
    {"me-south-1", "Middle East (Bahrain)"},
    {"mx-central-1", "Mexico (Central)"},
    {"sa-east-1", "South America (Sao Paulo)"},
    {"us-east-1", "US East (N. Virginia)"},
    {"us-east-2", "US East (Ohio)"},
    {"us-west-1", "US West (N. California)"},
    {"us-west-2", "US West (Oregon)"},
}};

// Services that clients list regions of (Session.get_available_regions).
constexpr std::array<std::string_view, 12> kRegionalServices = {"api.sagemaker",
                                                                "application-autoscaling",
                                                                "ce",
                                                                "ecr",
                                                                "events",
                                                                "lambda",
                                                                "logs",
                                                                "metrics.sagemaker",
                                                                "monitoring",
                                                                "runtime.sagemaker",
                                                                "s3",
                                                                "sns"};

json::object AllRegions(const json::object& endpoint) {
  json::object out;
  for (const auto& region : kRegions) out[region[0]] = endpoint;
  return out;
}

// Older clients ask some services at an endpoint that has no region.
json::object Global(json::object endpoint) {
  endpoint["credentialScope"] = json::object{{"region", "us-east-1"}};
  return endpoint;
}

}  // namespace

std::string StsRules(std::string_view http_url) {
  const json::object region{{"builtIn", "AWS::Region"}, {"required", false}, {"type", "String"}};
  const json::object endpoint{
      {"builtIn", "SDK::Endpoint"}, {"required", false}, {"type", "String"}};
  json::object answer{
      {"url", http_url}, {"properties", json::object()}, {"headers", json::object()}};
  json::object always{
      {"conditions", json::array()}, {"endpoint", std::move(answer)}, {"type", "endpoint"}};
  return json::serialize(
      json::object{{"version", "1.0"},
                   {"parameters", json::object{{"Region", region}, {"Endpoint", endpoint}}},
                   {"rules", json::array{std::move(always)}}});
}

std::string EndpointsDocument(const EndpointHosts& hosts) {
  json::object regions;
  for (const auto& region : kRegions) regions[region[0]] = json::object{{"description", region[1]}};
  json::object services;
  for (const std::string_view service : kRegionalServices) {
    services[service] = json::object{{"endpoints", AllRegions({})}};
  }
  services["s3"].as_object()["endpoints"].as_object()["aws-global"] = Global({});
  services["iam"] = json::object{{"endpoints", json::object{{"aws-global", Global({})}}},
                                 {"isRegionalized", false},
                                 {"partitionEndpoint", "aws-global"}};
  const json::object secure{{"hostname", hosts.https}, {"protocols", {"https"}}};
  json::object sts = AllRegions(secure);
  sts["aws-global"] = Global(secure);
  services["sts"] =
      json::object{{"endpoints", std::move(sts)}, {"partitionEndpoint", "aws-global"}};
  json::object partition{{"partition", "aws"},
                         {"partitionName", "AWS Standard"},
                         {"dnsSuffix", "amazonaws.com"},
                         {"regionRegex", "^(us|eu|ap|sa|ca|me|af|il|mx)\\-\\w+\\-\\d+$"},
                         {"defaults", json::object{{"hostname", hosts.http},
                                                   {"protocols", {"http"}},
                                                   {"signatureVersions", {"v4"}},
                                                   {"variants", json::array()}}},
                         {"regions", std::move(regions)},
                         {"services", std::move(services)}};
  return json::serialize(
      json::object{{"version", 3}, {"partitions", json::array{std::move(partition)}}});
}

}  // namespace sabia::cli
