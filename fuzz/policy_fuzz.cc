// A bucket policy, as its writer sent it. What is accepted can be evaluated for any request, and a
// Deny for everyone that is put behind it wins.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "s3/policy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sabia::s3;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto policy = ParsePolicy(text, "b");
  if (!policy) {
    CHECK(policy.error().status == 400);
    return 0;
  }
  CHECK(!policy->statements.empty());
  (void)IsPublic(*policy);
  const Caller caller{
      false, "123456789012", std::string(64, 'c'), {"arn:aws:iam::123456789012:role/trainer"}};
  const ConditionValues nothing = [](std::string_view) {
    return std::optional<std::vector<std::string>>();
  };
  // Every key has the same value, part of the input.
  const std::string value(text.substr(0, 20));
  const ConditionValues something = [&](std::string_view) {
    return std::optional(std::vector<std::string>{value});
  };
  for (const ConditionValues* values : {&nothing, &something}) {
    const PolicyQuestion question{caller, "s3:GetObject", "arn:aws:s3:::b/key", *values};
    (void)Evaluate(*policy, question);
    BucketPolicy denied = *policy;
    PolicyStatement deny;
    deny.principals = {PolicyPrincipal{}};
    deny.actions = {"*"};
    deny.resources = {"*"};
    denied.statements.push_back(deny);
    CHECK(Evaluate(denied, question) == PolicyAnswer::kDeny);
  }
  return 0;
}
