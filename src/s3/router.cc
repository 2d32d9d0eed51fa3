#include "s3/router.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "base/encoding.h"

namespace sabia::s3 {
namespace {

using wire::Location;

// Headers and parameters that some action of ours reads. "" allows every value; otherwise the
// values, separated by blanks, that describe what happens here anyway: there is one account, one
// storage class, and no archive.
const std::map<std::string, std::string, std::less<>>& Honoured() {
  static const std::map<std::string, std::string, std::less<>> kHonoured = {
      {"cache-control", ""},
      {"content-disposition", ""},
      {"content-encoding", ""},
      {"content-language", ""},
      {"content-length", ""},
      {"content-md5", ""},
      {"content-type", ""},
      {"continuation-token", ""},
      {"bucket-region", ""},
      {"delimiter", ""},
      {"encoding-type", ""},
      {"expires", ""},
      {"fetch-owner", ""},
      {"if-match", ""},
      {"if-modified-since", ""},
      {"if-none-match", ""},
      {"if-unmodified-since", ""},
      {"key-marker", ""},
      {"marker", ""},
      {"max-buckets", ""},
      {"max-keys", ""},
      {"max-parts", ""},
      {"max-uploads", ""},
      {"part-number-marker", ""},
      {"partnumber", ""},
      {"prefix", ""},
      {"range", ""},
      {"response-cache-control", ""},
      {"response-content-disposition", ""},
      {"response-content-encoding", ""},
      {"response-content-language", ""},
      {"response-content-type", ""},
      {"response-expires", ""},
      {"start-after", ""},
      {"upload-id-marker", ""},
      {"uploadid", ""},
      {"version-id-marker", ""},
      {"versionid", ""},
      {"x-amz-acl", "private bucket-owner-read bucket-owner-full-control"},
      {"x-amz-bucket-object-lock-enabled", "false"},
      {"x-amz-checksum-algorithm", ""},
      {"x-amz-checksum-crc32", ""},
      {"x-amz-checksum-crc32c", ""},
      {"x-amz-checksum-crc64nvme", ""},
      {"x-amz-checksum-mode", "ENABLED"},
      {"x-amz-checksum-sha1", ""},
      {"x-amz-checksum-sha256", ""},
      {"x-amz-checksum-type", "FULL_OBJECT COMPOSITE"},
      {"x-amz-confirm-remove-self-bucket-access", "true false"},
      {"x-amz-copy-source", ""},
      {"x-amz-copy-source-if-match", ""},
      {"x-amz-copy-source-if-modified-since", ""},
      {"x-amz-copy-source-if-none-match", ""},
      {"x-amz-copy-source-if-unmodified-since", ""},
      {"x-amz-copy-source-range", ""},
      {"x-amz-expected-bucket-owner", ""},
      {"x-amz-if-match-last-modified-time", ""},
      {"x-amz-if-match-size", ""},
      {"x-amz-max-parts", ""},
      {"x-amz-metadata-directive", "COPY REPLACE"},
      {"x-amz-mp-object-size", ""},
      {"x-amz-object-attributes", ""},
      {"x-amz-object-ownership", "BucketOwnerEnforced"},
      {"x-amz-optional-object-attributes", "RestoreStatus"},
      {"x-amz-part-number-marker", ""},
      {"x-amz-request-payer", "requester"},
      {"x-amz-sdk-checksum-algorithm", ""},
      {"x-amz-server-side-encryption", "AES256 aws:kms"},
      {"x-amz-server-side-encryption-aws-kms-key-id", ""},
      {"x-amz-server-side-encryption-bucket-key-enabled", ""},
      {"x-amz-server-side-encryption-context", ""},
      {"x-amz-source-expected-bucket-owner", ""},
      {"x-amz-storage-class", ""},
      {"x-amz-tagging", ""},
      {"x-amz-tagging-directive", "COPY REPLACE"},
      {"x-amz-transition-default-minimum-object-size",
       "all_storage_classes_128K varies_by_storage_class"},
      {"x-amz-website-redirect-location", ""},
  };
  return kHonoured;
}

bool HasWord(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t blank = std::min(words.find(' '), words.size());
    if (words.substr(0, blank) == word) return true;
    words.remove_prefix(std::min(blank + 1, words.size()));
  }
  return false;
}

// Blanks in the value never match a word, and "" never comes: an empty header means what its
// absence means.
wire::AwsResult<void> CheckOne(std::string_view name, std::string_view value) {
  if (value.empty()) return {};
  const auto found = Honoured().find(ToLower(name));
  if (found != Honoured().end() && (found->second.empty() || HasWord(found->second, value))) {
    return {};
  }
  const std::string lower = ToLower(name);
  if (lower == "x-amz-acl" || lower.starts_with("x-amz-grant-")) {
    return wire::Refuse("AccessControlListNotSupported", 400, "The bucket does not allow ACLs");
  }
  auto refusal = wire::Refuse("NotImplemented", 501,
                              "A header or parameter you provided implies functionality that is "
                              "not implemented: {}: {}",
                              name, value);
  refusal.value().details.emplace_back("Header", name);
  return refusal;
}

}  // namespace

S3Router::S3Router() {
  const wire::ServiceSchema* schema = wire::FindService("s3");
  CHECK(schema != nullptr);
  for (const wire::Operation& operation : schema->operations) {
    // For another host name, and for Lambda's answers: never meant for a bucket of ours.
    if (operation.name == "ListDirectoryBuckets" || operation.name == "WriteGetObjectResponse") {
      continue;
    }
    routes_.push_back(MakeRoute(operation));
    if (operation.input == nullptr) continue;
    Known& known = known_[&operation];
    for (const wire::Member& member : operation.input->members) {
      const std::string name(member.WireName());
      if (member.location == Location::kHeader) known.headers.push_back(ToLower(name));
      if (member.location == Location::kQuery) known.parameters.push_back(name);
    }
    std::sort(known.headers.begin(), known.headers.end());
  }
}

S3Router::Route_ S3Router::MakeRoute(const wire::Operation& operation) {
  Route_ route{&operation, Place::kService, {}, {}, {}};
  const std::string_view uri = operation.request_uri;
  const std::string_view path = uri.substr(0, uri.find('?'));
  if (path.find("{Key") != std::string_view::npos) {
    route.place = Place::kObject;
  } else if (path.find("{Bucket") != std::string_view::npos) {
    route.place = Place::kBucket;
  }
  if (path.size() < uri.size()) {
    const auto literals = wire::QueryParameters::Parse(uri.substr(path.size() + 1));
    CHECK(literals.has_value());
    for (const auto& [name, value] : literals->all()) route.literals.push_back({name, value});
  }
  if (operation.input == nullptr) return route;
  for (const wire::Member& member : operation.input->members) {
    if (!member.required) continue;
    const std::string name(member.WireName());
    if (member.location == Location::kQuery) route.required_query.push_back(name);
    if (member.location == Location::kHeader) route.required_headers.push_back(name);
  }
  return route;
}

int S3Router::Score(const Route_& route, const S3Question& question) {
  // A literal outweighs everything else; what a model requires tells apart operations that share a
  // path, but its absence does not turn a sub-resource into something else.
  constexpr int kLiteral = 100;
  int score = 0;
  for (const Literal& literal : route.literals) {
    const auto value = question.query.Find(literal.name);
    if (!value || (!literal.value.empty() && *value != literal.value)) return -1;
    score += kLiteral;
  }
  int missing = 0;
  for (const std::string& name : route.required_query) {
    question.query.Has(name) ? ++score : ++missing;
  }
  for (const std::string& name : route.required_headers) {
    question.headers.Has(name) ? ++score : ++missing;
  }
  if (missing > 0 && route.literals.empty()) return -1;
  return score - missing;
}

wire::AwsResult<const wire::Operation*> S3Router::Route(const S3Question& question) const {
  const auto& [method, target, headers, query] = question;
  const Place place = target.bucket.empty() ? Place::kService
                      : target.key.empty()  ? Place::kBucket
                                            : Place::kObject;
  const bool no_query = query.all().empty();
  const Route_* best = nullptr;
  int best_score = -1;
  std::string_view stray;  // a sub-resource that only other methods have
  for (const Route_& route : routes_) {
    if (route.place != place || (no_query && !route.literals.empty())) continue;
    if (route.operation->http_method == method) {
      const int score = Score(route, question);
      if (score >= best_score && score >= 0) {
        best = &route;
        best_score = score;
      }
    }
    for (const Literal& literal : route.literals) {
      if (literal.value.empty() && query.Has(literal.name)) stray = literal.name;
    }
  }
  if (best == nullptr || (!stray.empty() && best->literals.empty())) {
    auto refusal = wire::Refuse("MethodNotAllowed", 405,
                                "The specified method is not allowed against this resource.");
    refusal.value().details = {{"Method", std::string(method)},
                               {"ResourceType", stray.empty() ? "" : std::string(stray)}};
    return refusal;
  }
  return best->operation;
}

wire::AwsResult<void> S3Router::CheckHonoured(const wire::Operation& operation,
                                              const wire::Headers& headers,
                                              const wire::QueryParameters& query) const {
  const auto known = known_.find(&operation);
  if (known == known_.end()) return {};
  const auto& [known_headers, known_parameters] = known->second;
  for (const auto& [name, value] : headers.fields()) {
    const std::string lower = ToLower(name);
    if (!std::binary_search(known_headers.begin(), known_headers.end(), lower)) continue;
    if (const auto checked = CheckOne(lower, headers.Get(lower)); !checked) return checked;
  }
  if (query.all().empty()) return {};
  for (const std::string& name : known_parameters) {
    if (const auto checked = CheckOne(name, query.Find(name).value_or("")); !checked) {
      return checked;
    }
  }
  return {};
}

}  // namespace sabia::s3
