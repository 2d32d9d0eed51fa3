// The Condition element of policies: operators, keys, values.
//
// Pure; any thread. Errors: MalformedPolicy, which names an operator or key that is not supported.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "wire/aws_error.h"

namespace sabia::s3 {

enum class ConditionOperator {
  kStringEquals,
  kStringNotEquals,
  kStringEqualsIgnoreCase,
  kStringNotEqualsIgnoreCase,
  kStringLike,
  kStringNotLike,
  kNumericEquals,
  kNumericNotEquals,
  kNumericLessThan,
  kNumericLessThanEquals,
  kNumericGreaterThan,
  kNumericGreaterThanEquals,
  kDateEquals,
  kDateNotEquals,
  kDateLessThan,
  kDateLessThanEquals,
  kDateGreaterThan,
  kDateGreaterThanEquals,
  kBool,
  kIpAddress,
  kNotIpAddress,
  kArnEquals,
  kArnNotEquals,
  kArnLike,
  kArnNotLike,
  kNull,
};

enum class ConditionSet { kSingle, kForAnyValue, kForAllValues };

struct PolicyCondition {
  ConditionOperator op = ConditionOperator::kStringEquals;
  ConditionSet set = ConditionSet::kSingle;
  bool if_exists = false;
  std::string key;  // lower case
  std::vector<std::string> values;
};

// What a request says about a key (lower case): nothing when it does not have it.
using ConditionValues =
    std::function<std::optional<std::vector<std::string>>(std::string_view key)>;

wire::AwsResult<std::vector<PolicyCondition>> ParseConditions(const json::value& element);

// variables: those in the condition's values are replaced. Conditions of a statement all have to
// hold.
bool Holds(const PolicyCondition& condition, const ConditionValues& values, bool variables);

// Whether the operator is the opposite of another: StringNotEquals.
bool IsNegated(ConditionOperator op);

// A key that some request may have, or that none here ever has (a VPC endpoint's, say).
bool IsKnownConditionKey(std::string_view lower_key);

// "${aws:PrincipalArn}" and the like by the request's value; nullopt when one has none, for then
// nothing can match. "${*}", "${?}" and "${$}" stand for themselves; what is inserted into a
// pattern is no wildcard.
enum class ReplaceIn { kText, kPattern };
std::optional<std::string> ReplaceVariables(std::string_view text, ReplaceIn where,
                                            const ConditionValues& values);
// MalformedPolicy when a variable is not known.
wire::AwsResult<void> CheckVariables(std::string_view text);

}  // namespace sabia::s3
