// Which service and action a request means, from its target field, its signature's scope, its path
// or its form.
//
// Loads no schema but the one that is asked for. Pure; thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "wire/http.h"
#include "wire/schema.h"
#include "wire/sigv4.h"

namespace sabia::wire {

enum class Destination { kInternal, kService, kS3 };

struct ServiceRoute {
  Destination destination = Destination::kS3;
  const ServiceSchema* schema = nullptr;  // kService: nullptr when no embedded service fits
  Protocol protocol = Protocol::kJson11;
  std::string service;  // the schema's name, or what the client called it
  std::string action;   // "" until known: REST services, and query actions in the body
};

// claim: nullptr when the request is not signed. query: decoded.
ServiceRoute RouteRequest(const RequestHead& head, const QueryParameters& query,
                          const SignatureClaim* claim);

}  // namespace sabia::wire
