// Which S3 operation a request is, by the HTTP bindings of the service's schema.
//
// A sub-resource ("?acl") names its operation even where we do not implement it, and never falls
// through to the plain one: DELETE /bucket?policy must not delete the bucket. Likewise every header
// or parameter that the operation's model knows and we do not honour is refused by name, never
// ignored.
//
// Threading: immutable after construction.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "s3/names.h"
#include "wire/http.h"
#include "wire/schema.h"

namespace sabia::s3 {

struct S3Question {
  std::string_view method;
  const S3Target& target;
  const wire::Headers& headers;
  const wire::QueryParameters& query;
};

class S3Router {
 public:
  S3Router();

  // MethodNotAllowed when no operation has this method at this place.
  wire::AwsResult<const wire::Operation*> Route(const S3Question& question) const;

  // NotImplemented for what the operation knows and we do not honour.
  wire::AwsResult<void> CheckHonoured(const wire::Operation& operation,
                                      const wire::Headers& headers,
                                      const wire::QueryParameters& query) const;

 private:
  enum class Place { kService, kBucket, kObject };
  struct Literal {
    std::string name;
    std::string value;  // "" for a bare "?acl"
  };
  struct Route_ {
    const wire::Operation* operation;
    Place place;
    std::vector<Literal> literals;
    std::vector<std::string> required_query;
    std::vector<std::string> required_headers;
  };
  static Route_ MakeRoute(const wire::Operation& operation);
  // Negative: not this one.
  static int Score(const Route_& route, const S3Question& question);

  // What the operation's model knows.
  struct Known {
    std::vector<std::string> headers;  // lower case, sorted
    std::vector<std::string> parameters;
  };

  std::vector<Route_> routes_;
  std::unordered_map<const wire::Operation*, Known> known_;
};

}  // namespace sabia::s3
