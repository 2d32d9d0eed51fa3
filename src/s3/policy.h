// Bucket policies: what they say, and whether a request may do what it asks for.
//
// A policy is read once and strictly: what we could not evaluate is refused when it is put, by
// name. Evaluation is IAM's: an explicit Deny wins, then an Allow, else the policy is silent. What
// silence means is decided elsewhere (access.h).
//
// Pure; any thread. Errors of reading: MalformedPolicy with AWS's sentence, PolicyTooLarge.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "s3/policy_conditions.h"
#include "wire/aws_error.h"

namespace sabia::s3 {

inline constexpr std::size_t kPolicyBytesMax = 20 * 1024;

struct PolicyPrincipal {
  enum class Kind { kEveryone, kAws, kCanonicalUser, kService };
  Kind kind = Kind::kEveryone;
  std::string value;  // ARN or account, canonical id, name of a service
};

struct PolicyStatement {
  bool allow = false;
  std::vector<PolicyPrincipal> principals;
  std::vector<std::string> actions;  // lower case
  bool actions_negated = false;      // NotAction
  std::vector<std::string> resources;
  bool resources_negated = false;  // NotResource
  std::vector<PolicyCondition> conditions;
};

struct BucketPolicy {
  bool variables = false;  // Version 2012-10-17: ${…} is replaced
  std::vector<PolicyStatement> statements;
};

wire::AwsResult<BucketPolicy> ParsePolicy(std::string_view text, std::string_view bucket);

// Who asks, as a policy may name it.
struct Caller {
  bool anonymous = false;
  std::string account;
  std::string canonical_id;
  // arn:aws:iam::<account>:root, or that of the session; then the role's.
  std::vector<std::string> arns;
};

struct PolicyQuestion {
  const Caller& caller;
  std::string_view action;    // "s3:GetObject"
  std::string_view resource;  // "arn:aws:s3:::bucket/key"
  const ConditionValues& values;
};

enum class PolicyAnswer { kSilent, kAllow, kDeny };
PolicyAnswer Evaluate(const BucketPolicy& policy, const PolicyQuestion& question);

// Whether it opens the bucket to the world, as S3's public access block means it: an Allow for
// everyone that no condition narrows to fixed accounts, principals, networks or addresses.
bool IsPublic(const BucketPolicy& policy);

}  // namespace sabia::s3
