#include "wire/uri_matcher.h"

#include <algorithm>
#include <array>

#include "base/encoding.h"
#include "wire/schema.h"

namespace sabia::wire {
namespace {

// The model lists them beside a newer operation with the same method and URI.
constexpr std::array<std::string_view, 5> kDeprecatedTwins{
    "GetBucketLifecycle", "GetBucketNotification", "ListDirectoryBuckets", "PutBucketLifecycle",
    "PutBucketNotification"};

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool IsLabel(std::string_view segment) {
  return segment.starts_with('{') && segment.ends_with('}');
}
bool IsGreedy(std::string_view segment) { return segment.ends_with("+}"); }

std::string_view LabelName(std::string_view segment) {
  return segment.substr(1, segment.size() - (IsGreedy(segment) ? 3 : 2));
}

// The request's path after its first slash, cut like the rule's: a greedy label takes the rest.
// Returns false when the path does not have the rule's form.
bool CutPath(std::string_view path, const std::vector<std::string_view>& rule,
             std::vector<std::string_view>& out) {
  out.clear();
  for (std::size_t i = 0; i < rule.size(); ++i) {
    const auto end = IsGreedy(rule[i]) ? std::string_view::npos : path.find('/');
    out.push_back(path.substr(0, end));
    const bool last = i + 1 == rule.size();
    if (end == std::string_view::npos) return last;
    path.remove_prefix(end + 1);
    if (last) return path.empty() && !out.back().empty();  // "/bucket/" is "/bucket"
  }
  return false;
}

}  // namespace

std::size_t UriMatcher::Rule::Weight() const {
  std::size_t fixed = 0;
  for (const auto segment : path) fixed += IsLabel(segment) ? 0 : 1;
  return fixed * 1000 + literals.size() * 100 + required_headers.size() * 10 +
         required_query.size();
}

bool UriMatcher::Rule::Fits(const RequestHead& head, const QueryParameters& query) const {
  if (head.method != operation->http_method) return false;
  const auto has_literal = [&](const auto& literal) {
    const auto value = query.Find(literal.first);
    return value && (literal.second.empty() || *value == literal.second);
  };
  return std::ranges::all_of(literals, has_literal) &&
         std::ranges::all_of(required_query, [&](auto name) { return query.Has(name); }) &&
         std::ranges::all_of(required_headers, [&](auto name) { return head.headers.Has(name); });
}

UriMatcher::Rule UriMatcher::MakeRule(const Operation& operation) {
  Rule rule;
  rule.operation = &operation;
  const auto parts = Split(operation.request_uri, '?');
  rule.path = Split(parts[0].substr(1), '/');
  if (parts.size() > 1) {
    for (const auto item : Split(parts[1], '&')) {
      const auto pair = Split(item, '=');
      rule.literals.emplace_back(pair[0], pair.size() > 1 ? pair[1] : std::string_view());
    }
  }
  if (operation.input == nullptr) return rule;
  for (const Member& member : operation.input->members) {
    if (!member.required) continue;
    if (member.location == Location::kQuery) rule.required_query.push_back(member.WireName());
    if (member.location == Location::kHeader) rule.required_headers.push_back(member.WireName());
  }
  return rule;
}

// A required header or query key selects an operation only where another one would take the request
// without it; elsewhere its absence is for validation to report. A URI without a literal query is
// where everything unknown would end, so there required query keys always count.
UriMatcher::UriMatcher(const ServiceSchema& schema) {
  if (!schema.Speaks(Protocol::kRestJson) && !schema.Speaks(Protocol::kRestXml)) return;
  for (const Operation& operation : schema.operations) rules_.push_back(MakeRule(operation));
  const auto same_uri = [](const Rule& a, const Rule& b) {
    return a.operation->http_method == b.operation->http_method &&
           a.operation->request_uri == b.operation->request_uri;
  };
  for (Rule& rule : rules_) {
    for (const auto& [name, value] : rule.literals) {
      if (value.empty()) sub_resources_.insert(name);
    }
    const auto is_twin = [&](const Rule& other) { return same_uri(rule, other); };
    if (std::ranges::count_if(rules_, is_twin) > 1) continue;
    rule.required_headers.clear();
    if (!rule.literals.empty()) rule.required_query.clear();
  }
  std::erase_if(rules_, [](const Rule& rule) {
    return std::ranges::find(kDeprecatedTwins, rule.operation->name) != kDeprecatedTwins.end();
  });
  std::ranges::stable_sort(rules_, std::ranges::greater(), &Rule::Weight);
}

// "DELETE /bucket/key?acl" must not delete the object: who names a sub-resource means no other
// operation.
bool UriMatcher::NamesOtherSubResource(const Rule& rule, const QueryParameters& query) const {
  return std::ranges::any_of(query.all(), [&](const auto& parameter) {
    const auto is_own = [&](const auto& literal) { return literal.first == parameter.first; };
    return sub_resources_.contains(parameter.first) && std::ranges::none_of(rule.literals, is_own);
  });
}

Result<UriMatch> UriMatcher::Match(const RequestHead& head, const QueryParameters& query) const {
  UriMatch match;
  std::vector<std::string_view> segments;
  for (const Rule& rule : rules_) {
    if (!rule.Fits(head, query) || NamesOtherSubResource(rule, query)) continue;
    const std::string_view path = std::string_view(head.raw_path).substr(1);
    if (!CutPath(path, rule.path, segments)) continue;
    bool fits = true;
    for (std::size_t i = 0; i < segments.size() && fits; ++i) {
      fits = IsLabel(rule.path[i]) ? !segments[i].empty() : segments[i] == rule.path[i];
    }
    if (!fits) continue;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      if (!IsLabel(rule.path[i])) continue;
      ASSIGN_OR_RETURN(std::string value, UriDecode(segments[i]));
      match.labels.emplace(LabelName(rule.path[i]), std::move(value));
    }
    match.operation = rule.operation;
    return match;
  }
  return match;
}

}  // namespace sabia::wire
