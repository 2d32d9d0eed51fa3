#include "wire/service_router.h"

#include <array>

#include "base/encoding.h"

namespace sabia::wire {
namespace {

struct ServiceName {
  std::string_view service;  // the schema's name
  std::string_view target;   // the prefix of X-Amz-Target; "" for query services
  std::string_view signing;  // the service of the credential scope
};

constexpr std::array kServices{
    ServiceName{"sagemaker", "SageMaker", "sagemaker"},
    ServiceName{"logs", "Logs_20140328", "logs"},
    ServiceName{"cloudwatch", "GraniteServiceVersion20100801", "monitoring"},
    ServiceName{"application-autoscaling", "AnyScaleFrontendService", "application-autoscaling"},
    ServiceName{"ecr", "AmazonEC2ContainerRegistry_V20150921", "ecr"},
    ServiceName{"events", "AWSEvents", "events"},
    ServiceName{"ce", "AWSInsightsIndexService", "ce"},
    ServiceName{"sts", "", "sts"},
    ServiceName{"iam", "", "iam"},
};

bool IsForm(const RequestHead& head) {
  return head.headers.Get("Content-Type").starts_with("application/x-www-form-urlencoded");
}

ServiceRoute ByTarget(std::string_view target, const RequestHead& head) {
  ServiceRoute route;
  route.destination = Destination::kService;
  const std::size_t dot = target.rfind('.');
  const std::string_view prefix = target.substr(0, dot);
  route.service = prefix;
  route.action = dot == std::string_view::npos ? "" : target.substr(dot + 1);
  const bool old_json = head.headers.Get("Content-Type").starts_with("application/x-amz-json-1.0");
  route.protocol = old_json ? Protocol::kJson10 : Protocol::kJson11;
  for (const ServiceName& known : kServices) {
    if (known.target.empty() || known.target != prefix) continue;
    route.service = known.service;
    route.schema = FindService(known.service);
  }
  return route;
}

ServiceRoute ByForm(std::string_view service) {
  ServiceRoute route;
  route.destination = Destination::kService;
  route.protocol = Protocol::kQuery;
  route.service = service;
  route.schema = FindService(service);
  return route;
}

constexpr std::array kRestServices{"sagemaker-runtime", "sagemaker-metrics",
                                   "sagemaker-featurestore-runtime"};

}  // namespace

ServiceRouter::ServiceRouter() {
  for (const char* name : kRestServices) {
    if (const ServiceSchema* schema = FindService(name)) {
      rest_services_.push_back({schema, UriMatcher(*schema)});
    }
  }
}

ServiceRoute ServiceRouter::ByRestPath(const RequestHead& head, std::string_view signing) const {
  ServiceRoute route;
  route.destination = Destination::kService;
  route.protocol = Protocol::kRestJson;
  route.service = signing;
  for (const RestService& service : rest_services_) {
    if (service.schema->signing_name != signing) continue;
    auto match = service.uris.Match(head);
    if (!match || match->operation == nullptr) continue;
    route.schema = service.schema;
    route.service = service.schema->name;
    route.action = match->operation->name;
    route.labels = std::move(match->labels);
    break;
  }
  return route;
}

ServiceRoute ServiceRouter::Route(const RequestHead& head, const QueryParameters& query,
                                  const SignatureClaim* claim) const {
  ServiceRoute route;
  if (head.raw_path.starts_with("/-/")) {
    route.destination = Destination::kInternal;
    return route;
  }
  if (const auto target = head.headers.Find("X-Amz-Target")) return ByTarget(*target, head);
  if (claim == nullptr) {
    // Unsigned: a form posted to the root is a query service's, all else is S3's to judge.
    if (head.method == "POST" && head.raw_path == "/" && IsForm(head)) return ByForm("sts");
    return route;
  }
  if (claim->scope.service == "s3") return route;
  for (const ServiceName& known : kServices) {
    if (known.signing != claim->scope.service) continue;
    if (known.target.empty() || IsForm(head) || query.Has("Action")) return ByForm(known.service);
  }
  return ByRestPath(head, claim->scope.service);
}

}  // namespace sabia::wire
