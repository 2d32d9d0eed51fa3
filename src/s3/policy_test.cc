#include "s3/policy.h"

#include <gmock/gmock.h>

#include <map>

namespace sabia::s3 {
namespace {

constexpr char kAccount[] = "123456789012";
constexpr char kRole[] = "arn:aws:iam::123456789012:role/trainer";
constexpr char kSession[] = "arn:aws:sts::123456789012:assumed-role/trainer/job-1";

// A statement for bucket b with these members changed; nullptr removes one.
std::string Statement(const std::map<std::string, const char*>& changes) {
  std::map<std::string, std::string> members = {
      {"Effect", R"("Allow")"},
      {"Principal", R"("*")"},
      {"Action", R"("s3:GetObject")"},
      {"Resource", R"("arn:aws:s3:::b/*")"},
  };
  for (const auto& [name, value] : changes) {
    if (value == nullptr) {
      members.erase(name);
    } else {
      members[name] = value;
    }
  }
  std::string out;
  for (const auto& [name, value] : members) {
    out += fmt::format("{}\"{}\": {}", out.empty() ? "{" : ", ", name, value);
  }
  return out + "}";
}

std::string Policy(const std::string& statements) {
  return R"({"Version": "2012-10-17", "Statement": [)" + statements + "]}";
}

std::string Refusal(const std::string& text) {
  const auto parsed = ParsePolicy(text, "b");
  return parsed ? "" : parsed.error().code + ": " + parsed.error().message;
}

std::string StatementRefusal(const std::map<std::string, const char*>& changes) {
  return Refusal(Policy(Statement(changes)));
}

TEST(PolicyParseTest, WhatIsWellFormedIsAccepted) {
  EXPECT_EQ(StatementRefusal({}), "");
  EXPECT_EQ(Refusal(R"({"Statement": )" + Statement({}) + "}"), "");
  EXPECT_EQ(
      Refusal(R"({"Id": "x", "Version": "2008-10-17", "Statement": [)" + Statement({}) + "]}"), "");
  EXPECT_EQ(StatementRefusal(
                {{"Sid", R"("one")"},
                 {"Principal", R"({"AWS": ["123456789012", "arn:aws:iam::123456789012:root",
                                 "arn:aws:iam::123456789012:role/path/x"], "Service":
                                 "logging.s3.amazonaws.com"})"},
                 {"Action", R"(["s3:Get*", "s3:PUTobject", "*"])"},
                 {"Resource", R"(["arn:aws:s3:::b", "arn:aws:s3:::b/a/${aws:PrincipalArn}/*"])"},
                 {"Condition", R"({"StringLikeIfExists": {"s3:prefix": ["a/*", ""]},
                                 "Bool": {"aws:SecureTransport": false}, "NumericLessThan":
                                 {"s3:max-keys": 10}, "Null": {"aws:SourceVpce": "true"}})"}}),
            "");
  EXPECT_EQ(StatementRefusal({{"Action", nullptr},
                              {"NotAction", R"("s3:DeleteObject")"},
                              {"Resource", nullptr},
                              {"NotResource", R"("arn:aws:s3:::b/public/*")"}}),
            "");
}

TEST(PolicyParseTest, WhatIsNotIsRefusedInAwsWords) {
  EXPECT_EQ(Refusal(""),
            "MalformedPolicy: Policies must be valid JSON and the first byte must be '{'");
  EXPECT_EQ(Refusal("{"), "MalformedPolicy: This policy contains invalid Json");
  EXPECT_EQ(Refusal("{}"), "MalformedPolicy: Missing required field Statement");
  EXPECT_EQ(Refusal(R"({"Statement": [], "Version": "2012-10-17"})"),
            "MalformedPolicy: Invalid policy syntax.");
  EXPECT_EQ(Refusal(R"({"Version": "2020-01-01", "Statement": [)" + Statement({}) + "]}"),
            "MalformedPolicy: The policy must contain a valid version string");
  EXPECT_EQ(Refusal(R"({"Extra": 1, "Statement": [)" + Statement({}) + "]}"),
            "MalformedPolicy: Unknown field Extra");
  for (const char* field : {"Effect", "Principal", "Action", "Resource"}) {
    EXPECT_EQ(StatementRefusal({{field, nullptr}}),
              fmt::format("MalformedPolicy: Missing required field {}", field));
  }
  EXPECT_EQ(StatementRefusal({{"Effect", R"("allow")"}}), "MalformedPolicy: Invalid effect: allow");
  EXPECT_EQ(StatementRefusal({{"Action", R"("s3:FlyAway")"}}),
            "MalformedPolicy: Policy has invalid action");
  EXPECT_EQ(StatementRefusal({{"Action", R"("ec2:RunInstances")"}}),
            "MalformedPolicy: Policy has invalid action");
  for (const char* resource :
       {R"("*")", R"("arn:aws:s3:::other/*")", R"("arn:aws:s3:::bb/*")", R"("b/*")"}) {
    EXPECT_EQ(StatementRefusal({{"Resource", resource}}),
              "MalformedPolicy: Policy has invalid resource")
        << resource;
  }
  for (const char* principal :
       {R"("nobody")", R"({"AWS": "me"})", R"({"AWS": "arn:aws:iam::1:root"})", R"({"Who": "*"})",
        R"({"AWS": "arn:aws:iam::123456789012:role/*"})"}) {
    EXPECT_EQ(StatementRefusal({{"Principal", principal}}),
              "MalformedPolicy: Invalid principal in policy")
        << principal;
  }
  EXPECT_EQ(StatementRefusal({{"Resource", R"("arn:aws:s3:::b")"}}),
            "MalformedPolicy: Action does not apply to any resource(s) in statement");
  EXPECT_EQ(StatementRefusal({{"Action", R"("s3:ListBucket")"}}),
            "MalformedPolicy: Action does not apply to any resource(s) in statement");
}

TEST(PolicyParseTest, WhatCouldNotBeEvaluatedIsRefusedByName) {
  EXPECT_THAT(StatementRefusal({{"NotPrincipal", R"("*")"}}), ::testing::HasSubstr("NotPrincipal"));
  EXPECT_EQ(StatementRefusal({{"Condition", R"({"StringEqual": {"s3:prefix": "a"}})"}}),
            "MalformedPolicy: Invalid Condition type : StringEqual");
  EXPECT_EQ(StatementRefusal({{"Condition", R"({"NullIfExists": {"s3:prefix": "true"}})"}}),
            "MalformedPolicy: Invalid Condition type : NullIfExists");
  EXPECT_EQ(
      StatementRefusal({{"Condition", R"({"StringEquals": {"s3:RequestObjectTag/a": "b"}})"}}),
      "MalformedPolicy: Policy has an invalid condition key: s3:RequestObjectTag/a");
  EXPECT_EQ(StatementRefusal({{"Condition", R"({"NumericEquals": {"s3:max-keys": "ten"}})"}}),
            "MalformedPolicy: Invalid value for condition: ten");
  EXPECT_EQ(StatementRefusal({{"Condition", R"({"IpAddress": {"aws:SourceIp": "10.0.0.0/99"}})"}}),
            "MalformedPolicy: Invalid value for condition: 10.0.0.0/99");
  EXPECT_EQ(StatementRefusal({{"Resource", R"("arn:aws:s3:::b/${aws:username}/*")"}}),
            "MalformedPolicy: Invalid policy variable: ${aws:username}");
}

TEST(PolicyParseTest, TwoMembersOfOneNameAreNoPolicy) {
  EXPECT_EQ(Refusal(Policy(R"({"Effect": "Deny", "Effect": "Allow", "Principal": "*", "Action":
                               "s3:GetObject", "Resource": "arn:aws:s3:::b/*"})")),
            "MalformedPolicy: This policy contains invalid Json");
}

TEST(PolicyParseTest, TheSizeIsBounded) {
  const std::string policy = Policy(Statement({}));
  EXPECT_EQ(Refusal(policy + std::string(kPolicyBytesMax - policy.size(), ' ')), "");
  EXPECT_THAT(Refusal(policy + std::string(kPolicyBytesMax - policy.size() + 1, ' ')),
              ::testing::StartsWith("PolicyTooLarge"));
}

class PolicyEvaluationTest : public ::testing::Test {
 protected:
  PolicyEvaluationTest() { BeRole(); }
  void BeRole() { caller_ = {false, kAccount, std::string(64, 'c'), {kSession, kRole}}; }
  void BeNobody() { caller_ = {true, kAccount, "", {}}; }

  // '+' allowed, '-' denied, ' ' nothing said.
  char Answer(const std::string& statements, std::string_view action = "s3:GetObject",
              std::string_view resource = "arn:aws:s3:::b/key") {
    const auto policy = ParsePolicy(Policy(statements), "b");
    EXPECT_TRUE(policy) << policy.error().message;
    if (!policy) return '!';
    const ConditionValues values =
        [this](std::string_view key) -> std::optional<std::vector<std::string>> {
      const auto found = values_.find(std::string(key));
      if (found == values_.end()) return std::nullopt;
      return found->second;
    };
    switch (Evaluate(*policy, {caller_, action, resource, values})) {
      case PolicyAnswer::kAllow:
        return '+';
      case PolicyAnswer::kDeny:
        return '-';
      case PolicyAnswer::kSilent:
        break;
    }
    return ' ';
  }
  // With a condition.
  bool Holds(const char* condition) { return Answer(Statement({{"Condition", condition}})) == '+'; }

  Caller caller_;
  std::map<std::string, std::vector<std::string>> values_;
};

TEST_F(PolicyEvaluationTest, AnExplicitDenyWins) {
  const std::string allow = Statement({});
  const std::string deny = Statement({{"Effect", R"("Deny")"}});
  EXPECT_EQ(Answer(allow), '+');
  EXPECT_EQ(Answer(allow + "," + deny), '-');
  EXPECT_EQ(Answer(deny + "," + allow), '-');
  EXPECT_EQ(Answer(allow + "," + deny, "s3:PutObject"), ' ');
}

TEST_F(PolicyEvaluationTest, Principals) {
  struct Case {
    const char* principal;
    char role, nobody;
  };
  for (
      const Case& each : {
          Case{R"("*")", '+', '+'},
          {R"({"AWS": "*"})", '+', '+'},
          {R"({"AWS": "123456789012"})", '+', ' '},
          {R"({"AWS": "arn:aws:iam::123456789012:root"})", '+', ' '},
          {R"({"AWS": "arn:aws:iam::123456789012:role/trainer"})", '+', ' '},
          {R"({"AWS": "arn:aws:sts::123456789012:assumed-role/trainer/job-1"})", '+', ' '},
          {R"({"AWS": "arn:aws:iam::123456789012:role/other"})", ' ', ' '},
          {R"({"AWS": ["999999999999", "arn:aws:iam::123456789012:role/trainer"]})", '+', ' '},
          {R"({"AWS": "999999999999"})", ' ', ' '},
          {R"({"Service": "sagemaker.amazonaws.com"})", ' ', ' '},
          {R"({"CanonicalUser": "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"})",
           '+', ' '},
      }) {
    BeRole();
    EXPECT_EQ(Answer(Statement({{"Principal", each.principal}})), each.role) << each.principal;
    BeNobody();
    EXPECT_EQ(Answer(Statement({{"Principal", each.principal}})), each.nobody) << each.principal;
  }
}

TEST_F(PolicyEvaluationTest, ActionsAndResources) {
  const std::string both =
      Statement({{"Action", R"(["s3:get*", "s3:ListBucket"])"},
                 {"Resource", R"(["arn:aws:s3:::b", "arn:aws:s3:::b/in/*"])"}});
  EXPECT_EQ(Answer(both, "s3:GetObjectVersion", "arn:aws:s3:::b/in/x"), '+');
  EXPECT_EQ(Answer(both, "s3:GetObject", "arn:aws:s3:::b/out/x"), ' ');
  EXPECT_EQ(Answer(both, "s3:ListBucket", "arn:aws:s3:::b"), '+');
  EXPECT_EQ(Answer(both, "s3:PutObject", "arn:aws:s3:::b/in/x"), ' ');
  const std::string nots = Statement({{"Effect", R"("Deny")"},
                                      {"Action", nullptr},
                                      {"NotAction", R"("s3:GetObject")"},
                                      {"Resource", nullptr},
                                      {"NotResource", R"("arn:aws:s3:::b/public/*")"}});
  EXPECT_EQ(Answer(nots, "s3:PutObject"), '-');
  EXPECT_EQ(Answer(nots, "s3:GetObject"), ' ');
  EXPECT_EQ(Answer(nots, "s3:PutObject", "arn:aws:s3:::b/public/x"), ' ');
}

TEST_F(PolicyEvaluationTest, VariablesAreNoWildcards) {
  values_["aws:principalarn"] = {kRole};
  const std::string home =
      Statement({{"Resource", R"("arn:aws:s3:::b/${aws:PrincipalArn}/${*}/*")"}});
  EXPECT_EQ(Answer(home, "s3:GetObject", fmt::format("arn:aws:s3:::b/{}/*/x", kRole)), '+');
  EXPECT_EQ(Answer(home, "s3:GetObject", fmt::format("arn:aws:s3:::b/{}/y/x", kRole)), ' ');
  values_.clear();
  EXPECT_EQ(Answer(home, "s3:GetObject", "arn:aws:s3:::b//*/x"), ' ');
}

TEST_F(PolicyEvaluationTest, ConditionsOnValuesThatAreThere) {
  values_ = {{"s3:prefix", {"Home/x"}},         {"s3:max-keys", {"50"}},
             {"aws:securetransport", {"true"}}, {"aws:sourceip", {"10.1.2.3"}},
             {"aws:principalarn", {kRole}},     {"aws:currenttime", {"2024-06-01T00:00:00Z"}},
             {"aws:epochtime", {"1717200000"}}};
  struct Case {
    const char* condition;
    bool holds;
  };
  for (const Case& each : {
           Case{R"({"StringEquals": {"s3:prefix": ["no", "Home/x"]}})", true},
           {R"({"StringEquals": {"S3:PREFIX": "home/x"}})", false},
           {R"({"StringEqualsIgnoreCase": {"s3:prefix": "home/X"}})", true},
           {R"({"StringNotEquals": {"s3:prefix": ["a", "b"]}})", true},
           {R"({"StringNotEquals": {"s3:prefix": ["a", "Home/x"]}})", false},
           {R"({"StringNotEqualsIgnoreCase": {"s3:prefix": "hOME/x"}})", false},
           {R"({"StringLike": {"s3:prefix": "Home/*"}})", true},
           {R"({"StringNotLike": {"s3:prefix": "Home/?"}})", false},
           {R"({"NumericEquals": {"s3:max-keys": 50}})", true},
           {R"({"NumericNotEquals": {"s3:max-keys": "50"}})", false},
           {R"({"NumericLessThan": {"s3:max-keys": "50"}})", false},
           {R"({"NumericLessThanEquals": {"s3:max-keys": "50"}})", true},
           {R"({"NumericGreaterThan": {"s3:max-keys": "49.5"}})", true},
           {R"({"NumericGreaterThanEquals": {"s3:max-keys": "51"}})", false},
           {R"({"Bool": {"aws:SecureTransport": "true"}})", true},
           {R"({"Bool": {"aws:SecureTransport": "FALSE"}})", false},
           {R"({"IpAddress": {"aws:SourceIp": ["192.168.0.0/16", "10.0.0.0/8"]}})", true},
           {R"({"NotIpAddress": {"aws:SourceIp": "10.0.0.0/8"}})", false},
           {R"({"ArnLike": {"aws:PrincipalArn": "arn:aws:iam::*:role/train*"}})", true},
           {R"({"ArnEquals": {"aws:PrincipalArn": "arn:aws:iam::*:role/train?r"}})", true},
           {R"({"ArnNotLike": {"aws:PrincipalArn": "arn:aws:iam::*:role/train*"}})", false},
           {R"({"ArnNotEquals": {"aws:PrincipalArn": "arn:aws:iam::1:role/x"}})", true},
           {R"({"DateLessThan": {"aws:CurrentTime": "2024-06-02"}})", true},
           {R"({"DateGreaterThan": {"aws:CurrentTime": "2024-06-01T00:00:00Z"}})", false},
           {R"({"DateEquals": {"aws:EpochTime": "2024-06-01T00:00:00Z"}})", true},
           {R"({"Null": {"s3:prefix": "false"}})", true},
           {R"({"Null": {"s3:prefix": true}})", false},
           {R"({"Null": {"s3:delimiter": "true"}})", true},
           // All of them have to hold.
           {R"({"StringLike": {"s3:prefix": "Home/*"}, "Bool": {"aws:SecureTransport": "false"}})",
            false},
           {R"({"StringEquals": {"s3:prefix": "Home/x", "aws:PrincipalArn": "x"}})", false},
       }) {
    EXPECT_EQ(Holds(each.condition), each.holds) << each.condition;
  }
}

TEST_F(PolicyEvaluationTest, ConditionsOnValuesThatAreNot) {
  struct Case {
    const char* condition;
    bool holds;
  };
  for (const Case& each : {
           Case{R"({"StringEquals": {"s3:prefix": ""}})", false},
           {R"({"StringNotEquals": {"s3:prefix": "a"}})", true},
           {R"({"StringNotLike": {"s3:prefix": "*"}})", true},
           {R"({"NumericLessThan": {"s3:max-keys": "10"}})", false},
           {R"({"NotIpAddress": {"aws:SourceIp": "10.0.0.0/8"}})", true},
           {R"({"Bool": {"aws:SecureTransport": "false"}})", false},
           {R"({"BoolIfExists": {"aws:SecureTransport": "false"}})", true},
           {R"({"StringEqualsIfExists": {"s3:prefix": "a"}})", true},
           {R"({"ForAllValues:StringEquals": {"s3:prefix": "a"}})", true},
           {R"({"ForAnyValue:StringEquals": {"s3:prefix": "a"}})", false},
           {R"({"ForAnyValue:StringNotEquals": {"s3:prefix": "a"}})", false},
       }) {
    EXPECT_EQ(Holds(each.condition), each.holds) << each.condition;
  }
}

TEST_F(PolicyEvaluationTest, SetsOfValues) {
  values_["s3:prefix"] = {"a", "b"};
  struct Case {
    const char* condition;
    bool holds;
  };
  for (const Case& each : {
           Case{R"({"ForAllValues:StringEquals": {"s3:prefix": ["a", "b", "c"]}})", true},
           {R"({"ForAllValues:StringEquals": {"s3:prefix": ["a", "c"]}})", false},
           {R"({"ForAnyValue:StringEquals": {"s3:prefix": ["b", "c"]}})", true},
           {R"({"ForAnyValue:StringEquals": {"s3:prefix": ["c", "d"]}})", false},
           {R"({"ForAnyValue:StringNotEquals": {"s3:prefix": ["a"]}})", true},
           {R"({"ForAllValues:StringNotEquals": {"s3:prefix": ["a"]}})", false},
       }) {
    EXPECT_EQ(Holds(each.condition), each.holds) << each.condition;
  }
}

TEST(PolicyPublicTest, WhoIsTheWorld) {
  const auto is_public = [](const std::map<std::string, const char*>& changes) {
    const auto policy = ParsePolicy(Policy(Statement(changes)), "b");
    EXPECT_TRUE(policy) << policy.error().message;
    return policy && IsPublic(*policy);
  };
  EXPECT_TRUE(is_public({}));
  EXPECT_TRUE(is_public({{"Principal", R"({"AWS": ["123456789012", "*"]})"}}));
  EXPECT_FALSE(is_public({{"Principal", R"({"AWS": "123456789012"})"}}));
  EXPECT_FALSE(is_public({{"Effect", R"("Deny")"}}));
  const auto with = [&](const char* condition) { return is_public({{"Condition", condition}}); };
  EXPECT_FALSE(with(R"({"IpAddress": {"aws:SourceIp": "10.0.0.0/8"}})"));
  EXPECT_TRUE(with(R"({"IpAddress": {"aws:SourceIp": "10.0.0.0/7"}})"));
  EXPECT_TRUE(with(R"({"IpAddress": {"aws:SourceIp": ["10.0.0.0/8", "0.0.0.0/1"]}})"));
  EXPECT_TRUE(with(R"({"NotIpAddress": {"aws:SourceIp": "10.0.0.0/8"}})"));
  EXPECT_FALSE(with(R"({"StringEquals": {"aws:SourceVpce": "vpce-1"}})"));
  EXPECT_TRUE(with(R"({"StringLike": {"aws:SourceVpce": "vpce-*"}})"));
  EXPECT_TRUE(with(R"({"StringEqualsIfExists": {"aws:SourceVpce": "vpce-1"}})"));
  EXPECT_TRUE(with(R"({"Bool": {"aws:SecureTransport": "true"}})"));
  EXPECT_TRUE(with(R"({"StringEquals": {"s3:prefix": "a"}})"));
}

}  // namespace
}  // namespace sabia::s3
