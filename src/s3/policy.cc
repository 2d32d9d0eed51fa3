#include "s3/policy.h"

#include <algorithm>
#include <array>

#include "base/encoding.h"
#include "s3/policy_match.h"

namespace sabia::s3 {
namespace {

// An Allow that fixes one of these is for somebody in particular.
constexpr std::array kNarrowingKeys = std::to_array<std::string_view>(
    {"aws:principalaccount", "aws:principalarn", "aws:principalorgid", "aws:sourceaccount",
     "aws:sourcearn", "aws:sourceip", "aws:sourcevpc", "aws:sourcevpce",
     "s3:dataaccesspointaccount", "s3:dataaccesspointarn",
     "s3:x-amz-server-side-encryption-aws-kms-key-id"});
// A range that fixes fewer bits is as good as the world.
constexpr int kV4BitsMin = 8;
constexpr int kV6BitsMin = 32;

bool NamesCaller(const PolicyPrincipal& principal, const Caller& caller) {
  switch (principal.kind) {
    case PolicyPrincipal::Kind::kEveryone:
      return true;
    case PolicyPrincipal::Kind::kService:
      return false;  // no service calls here
    case PolicyPrincipal::Kind::kCanonicalUser:
      return !caller.anonymous && principal.value == caller.canonical_id;
    case PolicyPrincipal::Kind::kAws:
      break;
  }
  if (caller.anonymous) return false;
  // The account stands for everybody in it.
  return principal.value == caller.account ||
         principal.value == fmt::format("arn:aws:iam::{}:root", caller.account) ||
         std::find(caller.arns.begin(), caller.arns.end(), principal.value) != caller.arns.end();
}

bool NamesResource(const std::string& pattern, const PolicyQuestion& question, bool variables) {
  if (!variables) return Matches(pattern, question.resource);
  const auto replaced = ReplaceVariables(pattern, ReplaceIn::kPattern, question.values);
  return replaced && Matches(*replaced, question.resource);
}

bool Applies(const BucketPolicy& policy, const PolicyStatement& statement,
             const PolicyQuestion& question) {
  const bool principal =
      std::any_of(statement.principals.begin(), statement.principals.end(),
                  [&](const PolicyPrincipal& each) { return NamesCaller(each, question.caller); });
  if (!principal) return false;
  const std::string action = ToLower(question.action);
  const bool acts = std::any_of(statement.actions.begin(), statement.actions.end(),
                                [&](const std::string& each) { return Matches(each, action); });
  if (acts == statement.actions_negated) return false;
  const bool resource = std::any_of(
      statement.resources.begin(), statement.resources.end(),
      [&](const std::string& each) { return NamesResource(each, question, policy.variables); });
  if (resource == statement.resources_negated) return false;
  return std::all_of(
      statement.conditions.begin(), statement.conditions.end(),
      [&](const PolicyCondition& each) { return Holds(each, question.values, policy.variables); });
}

bool IsFixed(const PolicyCondition& condition, const std::string& value) {
  if (condition.op == ConditionOperator::kIpAddress) {
    const auto width = WidthOf(value);
    return width && width->bits >= (width->v6 ? kV6BitsMin : kV4BitsMin);
  }
  return !HasWildcard(value) && value.find("${") == std::string::npos;
}

bool Narrows(const PolicyCondition& condition) {
  using enum ConditionOperator;
  const bool positive = condition.op == kStringEquals || condition.op == kStringEqualsIgnoreCase ||
                        condition.op == kStringLike || condition.op == kArnEquals ||
                        condition.op == kArnLike || condition.op == kIpAddress;
  if (!positive || condition.if_exists || condition.set == ConditionSet::kForAllValues) {
    return false;
  }
  if (std::find(kNarrowingKeys.begin(), kNarrowingKeys.end(), condition.key) ==
      kNarrowingKeys.end()) {
    return false;
  }
  return std::all_of(condition.values.begin(), condition.values.end(),
                     [&](const std::string& value) { return IsFixed(condition, value); });
}

}  // namespace

PolicyAnswer Evaluate(const BucketPolicy& policy, const PolicyQuestion& question) {
  bool allowed = false;
  for (const PolicyStatement& statement : policy.statements) {
    // Once something allows, only a Deny can change the answer.
    if (statement.allow && allowed) continue;
    if (!Applies(policy, statement, question)) continue;
    if (!statement.allow) return PolicyAnswer::kDeny;
    allowed = true;
  }
  return allowed ? PolicyAnswer::kAllow : PolicyAnswer::kSilent;
}

bool IsPublic(const BucketPolicy& policy) {
  return std::any_of(
      policy.statements.begin(), policy.statements.end(), [](const PolicyStatement& statement) {
        if (!statement.allow) return false;
        const bool everyone = std::any_of(statement.principals.begin(), statement.principals.end(),
                                          [](const PolicyPrincipal& each) {
                                            return each.kind == PolicyPrincipal::Kind::kEveryone;
                                          });
        return everyone &&
               std::none_of(statement.conditions.begin(), statement.conditions.end(), Narrows);
      });
}

}  // namespace sabia::s3
