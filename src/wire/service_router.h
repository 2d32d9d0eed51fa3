// Which service and action a request means, from its target field, its signature's scope, its path
// or its form.
//
// Loads no large schema but the one that is asked for. Immutable; thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/http.h"
#include "wire/schema.h"
#include "wire/sigv4.h"
#include "wire/uri_matcher.h"

namespace sabia::wire {

enum class Destination { kInternal, kService, kS3 };

struct ServiceRoute {
  Destination destination = Destination::kS3;
  const ServiceSchema* schema = nullptr;  // kService: nullptr when no embedded service fits
  Protocol protocol = Protocol::kJson11;
  std::string service;  // the schema's name, or what the client called it
  std::map<std::string, std::string, std::less<>> labels;  // of the URI: REST services
  std::string action;  // "" until known: REST services, and query actions in the body
};

class ServiceRouter {
 public:
  ServiceRouter();
  // claim: nullptr when the request is not signed. query: decoded.
  ServiceRoute Route(const RequestHead& head, const QueryParameters& query,
                     const SignatureClaim* claim) const;

 private:
  ServiceRoute ByRestPath(const RequestHead& head, std::string_view signing) const;

  // REST services that share a signing name and differ by path.
  struct RestService {
    const ServiceSchema* schema;
    UriMatcher uris;
  };
  std::vector<RestService> rest_services_;
};

}  // namespace sabia::wire
