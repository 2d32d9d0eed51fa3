// Which operation of a REST service a request names, by its method, path, query keys and headers.
//
// The model's requestUri carries the literal part of the query ("/{Bucket}?uploads"). S3 also tells
// operations apart by required members: UploadPart is a PUT with partNumber and uploadId,
// CopyObject a PUT with x-amz-copy-source. Of all operations that fit, the most specific one is
// chosen; deprecated twins lose to their successors.
//
// Immutable after construction; thread-safe.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "wire/http.h"

namespace sabia::wire {

struct Operation;
struct ServiceSchema;

struct UriMatch {
  const Operation* operation = nullptr;
  std::map<std::string, std::string, std::less<>>
      labels;  // decoded: {"Bucket", "b"}, {"Key", "a/b"}
};

class UriMatcher {
 public:
  // The schema must outlive the matcher.
  explicit UriMatcher(const ServiceSchema& schema);

  // operation is nullptr when nothing fits. kInvalidArgument: the path is not valid
  // percent-encoding.
  Result<UriMatch> Match(const RequestHead& head, const QueryParameters& query) const;

 private:
  struct Rule {
    const Operation* operation = nullptr;
    std::vector<std::string_view> path;  // "{Bucket}", "{Key+}" or a literal
    std::vector<std::pair<std::string_view, std::string_view>> literals;  // "list-type" → "2"
    std::vector<std::string_view> required_query;
    std::vector<std::string_view> required_headers;
    std::size_t Weight() const;
    bool Fits(const RequestHead& head, const QueryParameters& query) const;
  };
  static Rule MakeRule(const Operation& operation);
  bool NamesOtherSubResource(const Rule& rule, const QueryParameters& query) const;
  std::vector<Rule> rules_;                                // the most specific first
  std::set<std::string_view, std::less<>> sub_resources_;  // "acl", "uploads": literals of any rule
};

}  // namespace sabia::wire
