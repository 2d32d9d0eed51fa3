#include "s3/policy_conditions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "base/encoding.h"
#include "base/time.h"
#include "s3/policy_match.h"

namespace sabia::s3 {
namespace {

using enum ConditionOperator;

struct OperatorName {
  std::string_view name;
  ConditionOperator op;
};
constexpr std::array kOperators = std::to_array<OperatorName>({
    {"StringEquals", kStringEquals},
    {"StringNotEquals", kStringNotEquals},
    {"StringEqualsIgnoreCase", kStringEqualsIgnoreCase},
    {"StringNotEqualsIgnoreCase", kStringNotEqualsIgnoreCase},
    {"StringLike", kStringLike},
    {"StringNotLike", kStringNotLike},
    {"NumericEquals", kNumericEquals},
    {"NumericNotEquals", kNumericNotEquals},
    {"NumericLessThan", kNumericLessThan},
    {"NumericLessThanEquals", kNumericLessThanEquals},
    {"NumericGreaterThan", kNumericGreaterThan},
    {"NumericGreaterThanEquals", kNumericGreaterThanEquals},
    {"DateEquals", kDateEquals},
    {"DateNotEquals", kDateNotEquals},
    {"DateLessThan", kDateLessThan},
    {"DateLessThanEquals", kDateLessThanEquals},
    {"DateGreaterThan", kDateGreaterThan},
    {"DateGreaterThanEquals", kDateGreaterThanEquals},
    {"Bool", kBool},
    {"IpAddress", kIpAddress},
    {"NotIpAddress", kNotIpAddress},
    {"ArnEquals", kArnEquals},
    {"ArnNotEquals", kArnNotEquals},
    {"ArnLike", kArnLike},
    {"ArnNotLike", kArnNotLike},
    {"Null", kNull},
});

// access.cc gives these their values.
constexpr std::array kKeys = std::to_array<std::string_view>({
    "aws:currenttime",
    "aws:epochtime",
    "aws:principalaccount",
    "aws:principalarn",
    "aws:principalisawsservice",
    "aws:principaltype",
    "aws:referer",
    "aws:requestedregion",
    "aws:resourceaccount",
    "aws:securetransport",
    "aws:sourceip",
    "aws:useragent",
    "s3:authtype",
    "s3:delimiter",
    "s3:max-keys",
    "s3:prefix",
    "s3:resourceaccount",
    "s3:signatureversion",
    "s3:versionid",
    "s3:x-amz-acl",
    "s3:x-amz-content-sha256",
    "s3:x-amz-copy-source",
    "s3:x-amz-metadata-directive",
    "s3:x-amz-server-side-encryption",
    "s3:x-amz-server-side-encryption-aws-kms-key-id",
    "s3:x-amz-server-side-encryption-customer-algorithm",
    "s3:x-amz-storage-class",
    "s3:x-amz-website-redirect-location",
});

// Of services and networks that do not exist here: no request ever has them.
constexpr std::array kAbsentKeys = std::to_array<std::string_view>({
    "aws:principalorgid",
    "aws:principalorgpaths",
    "aws:principalservicename",
    "aws:principalservicenameslist",
    "aws:sourceaccount",
    "aws:sourcearn",
    "aws:sourceorgid",
    "aws:sourceorgpaths",
    "aws:sourcevpc",
    "aws:sourcevpce",
    "aws:viaawsservice",
    "aws:vpcsourceip",
    "s3:accesspointnetworkorigin",
    "s3:dataaccesspointaccount",
    "s3:dataaccesspointarn",
});

constexpr std::array kKeyPrefixes = std::to_array<std::string_view>({"s3:existingobjecttag/"});

// Keys that ${…} may name: what a request says of itself is not among them but for its address.
constexpr std::array kVariables = std::to_array<std::string_view>(
    {"aws:principalarn", "aws:principalaccount", "aws:principaltype", "aws:sourceip"});

tl::unexpected<wire::AwsError> Malformed(std::string message) {
  return tl::unexpected<wire::AwsError>(
      wire::AwsError{"MalformedPolicy", 400, std::move(message), {}});
}

template <typename Array>
bool Has(const Array& array, std::string_view value) {
  return std::find(array.begin(), array.end(), value) != array.end();
}

bool IsNumeric(ConditionOperator op) {
  return op >= kNumericEquals && op <= kNumericGreaterThanEquals;
}
bool IsDate(ConditionOperator op) { return op >= kDateEquals && op <= kDateGreaterThanEquals; }

std::optional<double> ParseNumber(std::string_view text) {
  double out = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, out);
  if (error != std::errc() || at != end) return std::nullopt;
  return out;
}

// Seconds since 1970, from a W3C date or a number.
std::optional<double> ParseDate(std::string_view text) {
  if (const auto number = ParseNumber(text)) return number;
  constexpr std::size_t kDay = 10;  // "2024-01-02"
  const auto time =
      ParseIso8601(text.size() == kDay ? std::string(text) + "T00:00:00Z" : std::string(text));
  if (!time) return std::nullopt;
  return ToUnixSeconds(*time);
}

bool IsTruth(std::string_view text) {
  return EqualsIgnoreCase(text, "true") || EqualsIgnoreCase(text, "false");
}

bool CompareOrdered(ConditionOperator op, double request, double policy) {
  switch (op) {
    case kNumericEquals:
    case kNumericNotEquals:
    case kDateEquals:
    case kDateNotEquals:
      return request == policy;
    case kNumericLessThan:
    case kDateLessThan:
      return request < policy;
    case kNumericLessThanEquals:
    case kDateLessThanEquals:
      return request <= policy;
    case kNumericGreaterThan:
    case kDateGreaterThan:
      return request > policy;
    default:
      return request >= policy;
  }
}

// As the operator without its "Not".
bool CompareOne(ConditionOperator op, std::string_view request, std::string_view policy) {
  if (IsNumeric(op) || IsDate(op)) {
    const auto a = IsDate(op) ? ParseDate(request) : ParseNumber(request);
    const auto b = IsDate(op) ? ParseDate(policy) : ParseNumber(policy);
    return a && b && CompareOrdered(op, *a, *b);
  }
  switch (op) {
    case kStringEquals:
    case kStringNotEquals:
      return request == policy;
    case kStringLike:
    case kStringNotLike:
      return Matches(policy, request);
    case kIpAddress:
    case kNotIpAddress:
      return AddressIsIn(request, policy);
    case kArnEquals:
    case kArnNotEquals:
    case kArnLike:
    case kArnNotLike:
      return ArnMatches(policy, request);
    default:
      return EqualsIgnoreCase(request, policy);
  }
}

bool TakesPatterns(ConditionOperator op) {
  return op == kStringLike || op == kStringNotLike || op >= kArnEquals;
}

wire::AwsResult<void> CheckValue(ConditionOperator op, std::string_view value) {
  RETURN_IF_ERROR(CheckVariables(value));
  if (value.find("${") != std::string_view::npos) return {};
  const bool good = IsNumeric(op)                             ? ParseNumber(value).has_value()
                    : IsDate(op)                              ? ParseDate(value).has_value()
                    : op == kBool || op == kNull              ? IsTruth(value)
                    : op == kIpAddress || op == kNotIpAddress ? IsAddressRange(value)
                                                              : true;
  if (good) return {};
  return Malformed(fmt::format("Invalid value for condition: {}", value));
}

wire::AwsResult<std::string> ScalarText(const json::value& value) {
  if (value.is_string()) return std::string(View(value.get_string()));
  if (value.is_bool()) return std::string(value.get_bool() ? "true" : "false");
  if (value.is_number()) return json::serialize(value);
  return Malformed("Invalid policy syntax.");
}

// "ForAnyValue:StringLikeIfExists"
wire::AwsResult<PolicyCondition> ParseOperator(std::string_view name) {
  PolicyCondition out;
  std::string_view rest = name;
  for (const auto& [prefix, set] :
       {std::pair{std::string_view("ForAnyValue:"), ConditionSet::kForAnyValue},
        std::pair{std::string_view("ForAllValues:"), ConditionSet::kForAllValues}}) {
    if (!rest.starts_with(prefix)) continue;
    rest.remove_prefix(prefix.size());
    out.set = set;
    break;
  }
  constexpr std::string_view kIfExists = "IfExists";
  if (rest.ends_with(kIfExists)) {
    rest.remove_suffix(kIfExists.size());
    out.if_exists = true;
  }
  const auto found = std::find_if(kOperators.begin(), kOperators.end(),
                                  [&](const OperatorName& each) { return each.name == rest; });
  if (found == kOperators.end() || (found->op == kNull && name != "Null")) {
    return Malformed(fmt::format("Invalid Condition type : {}", name));
  }
  out.op = found->op;
  return out;
}

wire::AwsResult<std::vector<std::string>> ParseValues(ConditionOperator op,
                                                      const json::value& element) {
  std::vector<std::string> out;
  if (!element.is_array()) {
    ASSIGN_OR_RETURN(out.emplace_back(), ScalarText(element));
  } else {
    for (const json::value& value : element.get_array()) {
      ASSIGN_OR_RETURN(out.emplace_back(), ScalarText(value));
    }
  }
  if (out.empty()) return Malformed("Invalid policy syntax.");
  for (const std::string& value : out) RETURN_IF_ERROR(CheckValue(op, value));
  return out;
}

// Whether the request's value satisfies the operator against all of the condition's values.
bool Satisfies(const PolicyCondition& condition, std::string_view request,
               const std::vector<std::string>& policy) {
  const bool any = std::any_of(policy.begin(), policy.end(), [&](const std::string& value) {
    return CompareOne(condition.op, request, value);
  });
  return IsNegated(condition.op) ? !any : any;
}

}  // namespace

bool IsNegated(ConditionOperator op) {
  switch (op) {
    case kStringNotEquals:
    case kStringNotEqualsIgnoreCase:
    case kStringNotLike:
    case kNumericNotEquals:
    case kDateNotEquals:
    case kNotIpAddress:
    case kArnNotEquals:
    case kArnNotLike:
      return true;
    default:
      return false;
  }
}

bool IsKnownConditionKey(std::string_view lower_key) {
  return Has(kKeys, lower_key) || Has(kAbsentKeys, lower_key) ||
         std::any_of(kKeyPrefixes.begin(), kKeyPrefixes.end(), [&](std::string_view prefix) {
           return lower_key.starts_with(prefix) && lower_key.size() > prefix.size();
         });
}

wire::AwsResult<std::vector<PolicyCondition>> ParseConditions(const json::value& element) {
  if (!element.is_object()) return Malformed("Invalid policy syntax.");
  std::vector<PolicyCondition> out;
  for (const auto& entry : element.get_object()) {
    ASSIGN_OR_RETURN(const PolicyCondition blank, ParseOperator(entry.key()));
    if (!entry.value().is_object()) return Malformed("Invalid policy syntax.");
    for (const auto& test : entry.value().get_object()) {
      PolicyCondition condition = blank;
      // Names of tags keep their case; everything else has none.
      condition.key = ToLower(test.key());
      if (!IsKnownConditionKey(condition.key)) {
        return Malformed(
            fmt::format("Policy has an invalid condition key: {}", std::string_view(test.key())));
      }
      if (const std::size_t slash = condition.key.find('/'); slash != std::string::npos) {
        condition.key.replace(slash, std::string::npos, std::string_view(test.key()).substr(slash));
      }
      ASSIGN_OR_RETURN(condition.values, ParseValues(condition.op, test.value()));
      out.push_back(std::move(condition));
    }
  }
  return out;
}

bool Holds(const PolicyCondition& condition, const ConditionValues& values, bool variables) {
  const auto request = values(condition.key);
  if (condition.op == kNull) {
    return std::any_of(condition.values.begin(), condition.values.end(),
                       [&](const std::string& wanted) {
                         return EqualsIgnoreCase(wanted, "true") != request.has_value();
                       });
  }
  if (!request || request->empty()) {
    if (condition.if_exists || condition.set == ConditionSet::kForAllValues) return true;
    return condition.set == ConditionSet::kSingle && IsNegated(condition.op);
  }
  std::vector<std::string> policy;
  for (const std::string& value : condition.values) {
    if (!variables) {
      policy.push_back(value);
      continue;
    }
    const auto where = TakesPatterns(condition.op) ? ReplaceIn::kPattern : ReplaceIn::kText;
    if (auto replaced = ReplaceVariables(value, where, values))
      policy.push_back(std::move(*replaced));
  }
  const auto satisfies = [&](const std::string& value) {
    return Satisfies(condition, value, policy);
  };
  if (condition.set == ConditionSet::kForAllValues) {
    return std::all_of(request->begin(), request->end(), satisfies);
  }
  return std::any_of(request->begin(), request->end(), satisfies);
}

std::optional<std::string> ReplaceVariables(std::string_view text, ReplaceIn where,
                                            const ConditionValues& values) {
  std::string out;
  const auto insert = [&](std::string_view value) {
    for (const char c : value) {
      if (where == ReplaceIn::kPattern && (c == '*' || c == '?')) out += kLiteralNext;
      out += c;
    }
  };
  while (true) {
    const std::size_t start = text.find("${");
    const std::size_t end = start == std::string_view::npos ? start : text.find('}', start);
    out += text.substr(0, end == std::string_view::npos ? end : start);
    if (end == std::string_view::npos) return out;
    const std::string name = ToLower(text.substr(start + 2, end - start - 2));
    text.remove_prefix(end + 1);
    if (name == "*" || name == "?" || name == "$") {
      insert(name);
      continue;
    }
    const auto value = values(name);
    if (!value || value->size() != 1) return std::nullopt;
    insert(value->front());
  }
}

wire::AwsResult<void> CheckVariables(std::string_view text) {
  while (true) {
    const std::size_t start = text.find("${");
    if (start == std::string_view::npos) return {};
    const std::size_t end = text.find('}', start);
    if (end == std::string_view::npos) return Malformed("Invalid policy syntax.");
    const std::string_view name = text.substr(start + 2, end - start - 2);
    const bool escape = name == "*" || name == "?" || name == "$";
    if (!escape && !Has(kVariables, ToLower(name))) {
      return Malformed(fmt::format("Invalid policy variable: ${{{}}}", name));
    }
    text.remove_prefix(end + 1);
  }
}

}  // namespace sabia::s3
