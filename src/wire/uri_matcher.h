// Which operation of a REST-JSON service a request names, by its method and path.
//
// Only paths: no such service tells its operations apart by query or headers, as S3 does
// (objects/s3_router.h). A literal segment wins over a label.
//
// Immutable after construction; thread-safe.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "wire/http.h"

namespace sabia::wire {

struct Operation;
struct ServiceSchema;

struct UriMatch {
  const Operation* operation = nullptr;
  std::map<std::string, std::string, std::less<>> labels;  // decoded: {"EndpointName", "e-1"}
};

class UriMatcher {
 public:
  // The schema must outlive the matcher.
  explicit UriMatcher(const ServiceSchema& schema);

  // operation is nullptr when nothing fits. kInvalidArgument: the path is not valid
  // percent-encoding.
  Result<UriMatch> Match(const RequestHead& head) const;

 private:
  struct Rule {
    const Operation* operation = nullptr;
    std::vector<std::string_view> path;  // "{EndpointName}" or a literal
    std::size_t Literals() const;
  };
  std::vector<Rule> rules_;  // the most specific first
};

}  // namespace sabia::wire
