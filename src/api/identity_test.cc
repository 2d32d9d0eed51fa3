#include <gtest/gtest.h>

#include "api/iam.h"
#include "api/stable_id.h"
#include "api/sts.h"
#include "base/encoding.h"
#include "wire/schema.h"

namespace sabia::api {
namespace {

class IdentityTest : public ::testing::Test {
 protected:
  IdentityTest() {
    RegisterSts(table_, authority_, random_);
    RegisterIam(table_);
    context_.principal = authority_.RootPrincipal();
    context_.now = FromUnixMillis(1'700'000'000'000);
  }

  wire::AwsResult<json::object> Call(const std::string& service, const std::string& action,
                                     std::string_view text) {
    const json::object input = *ParseJsonObject(text);
    const wire::Operation* operation = wire::FindService(service)->FindOperation(action);
    if (operation->input != nullptr) RETURN_IF_ERROR(wire::Validate(*operation->input, input));
    return (*table_.Find(service, action))(context_, input);
  }

  env::SeededRandom random_{3};
  wire::CredentialAuthority authority_{{"AKIAROOT00000000ROOT", std::string(40, 's')},
                                       "123456789012"};
  wire::CallContext context_;
  wire::ActionTable table_;
};

TEST_F(IdentityTest, RootIsTheAccount) {
  const auto me = Call("sts", "GetCallerIdentity", "{}");
  ASSERT_TRUE(me.has_value());
  EXPECT_EQ(
      json::serialize(*me),
      R"({"UserId":"123456789012","Account":"123456789012","Arn":"arn:aws:iam::123456789012:root"})");
}

TEST_F(IdentityTest, AssumedRoleSignsAndKnowsItself) {
  const auto session =
      Call("sts", "AssumeRole", R"({"RoleArn":"arn:aws:iam::123456789012:role/path/Train",
      "RoleSessionName":"night","DurationSeconds":900})");
  ASSERT_TRUE(session.has_value()) << session.error().message;
  const json::object& keys = *FindObject(*session, "Credentials");
  EXPECT_EQ(GetDouble(keys, "Expiration"), 1'700'000'900);
  const auto known = authority_.Find(GetString(keys, "AccessKeyId"),
                                     GetString(keys, "SessionToken"), context_.now);
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(known->secret, GetString(keys, "SecretAccessKey"));
  EXPECT_FALSE(authority_
                   .Find(GetString(keys, "AccessKeyId"), GetString(keys, "SessionToken"),
                         context_.now + Seconds(901))
                   .has_value());
  context_.principal = known->principal;
  const auto me = Call("sts", "GetCallerIdentity", "{}");
  EXPECT_EQ(GetString(*me, "Arn"), "arn:aws:sts::123456789012:assumed-role/Train/night");
  EXPECT_EQ(GetString(*me, "UserId"),
            GetString(*FindObject(*session, "AssumedRoleUser"), "AssumedRoleId"));
}

// The ARN and the session name become lines of a token: nothing but the letters of an ARN may pass.
TEST_F(IdentityTest, HostileRolesAndSessionsAreRefused) {
  for (const char* role :
       {"arn:aws:iam::123456789012:user/Train", "arn:aws:iam::1234:role/Train-the-long-one",
        R"(arn:aws:iam::123456789012:role/a\narn:aws:iam::1:root)",
        "arn:aws:iam::123456789012:role/", "arn:aws:iam::12345678901x:role/Train",
        "arn:aws:iam::123456789012:role/a b"}) {
    const auto refused = Call("sts", "AssumeRole",
                              fmt::format(R"({{"RoleArn":"{}","RoleSessionName":"s1"}})", role));
    ASSERT_FALSE(refused.has_value()) << role;
    EXPECT_EQ(refused.error().code, "ValidationException");
  }
  EXPECT_FALSE(Call("sts", "AssumeRole", R"({"RoleArn":"arn:aws:iam::123456789012:role/R",
      "RoleSessionName":"a\nb"})")
                   .has_value());
}

TEST_F(IdentityTest, PoliciesAndMfaAreRefusedByName) {
  const auto refused = Call("sts", "AssumeRole", R"({"RoleArn":"arn:aws:iam::123456789012:role/R",
      "RoleSessionName":"s1","Tags":[{"Key":"a","Value":"b"}]})");
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().message.starts_with("Tags is not supported"));
  EXPECT_FALSE(
      Call("sts", "GetSessionToken", R"({"SerialNumber":"arn:aws:iam::1:mfa/x"})").has_value());
  EXPECT_TRUE(Call("sts", "GetSessionToken", "{}").has_value());
}

TEST_F(IdentityTest, RolesTrustSageMaker) {
  const auto answer = Call("iam", "GetRole", R"({"RoleName":"Train"})");
  ASSERT_TRUE(answer.has_value());
  const json::object& role = *FindObject(*answer, "Role");
  EXPECT_EQ(GetString(role, "Arn"), "arn:aws:iam::123456789012:role/Train");
  EXPECT_EQ(GetString(role, "RoleId"), StableRoleId("Train"));
  const auto policy = ParseJsonObject(*UriDecode(GetString(role, "AssumeRolePolicyDocument")));
  ASSERT_TRUE(policy.has_value());
  const json::object& statement = FindArray(*policy, "Statement")->at(0).get_object();
  EXPECT_EQ(GetString(*FindObject(statement, "Principal"), "Service"), "sagemaker.amazonaws.com");
}

TEST_F(IdentityTest, SimulationAllowsEveryPairOverPages) {
  std::string marker;
  std::vector<std::string> pairs;
  for (int page = 0; page < 5; ++page) {
    const auto answer = Call(
        "iam", "SimulatePrincipalPolicy",
        fmt::format(
            R"({{"PolicySourceArn":"arn:aws:iam::123456789012:role/R","ActionNames":["s3:Get","s3:Put"],
             "ResourceArns":["a","b"],"MaxItems":3{}}})",
            marker.empty() ? "" : fmt::format(R"(,"Marker":"{}")", marker)));
    ASSERT_TRUE(answer.has_value());
    for (const json::value& result : *FindArray(*answer, "EvaluationResults")) {
      EXPECT_EQ(GetString(result.get_object(), "EvalDecision"), "allowed");
      pairs.push_back(GetString(result.get_object(), "EvalActionName") + " " +
                      GetString(result.get_object(), "EvalResourceName"));
    }
    marker = GetString(*answer, "Marker");
    EXPECT_EQ(GetBool(*answer, "IsTruncated"), !marker.empty());
    if (marker.empty()) break;
  }
  EXPECT_EQ(pairs, (std::vector<std::string>{"s3:Get a", "s3:Get b", "s3:Put a", "s3:Put b"}));
  EXPECT_FALSE(Call("iam", "SimulatePrincipalPolicy",
                    R"({"PolicySourceArn":"arn:aws:iam::123456789012:role/R",
      "ActionNames":["s3:Get"],"Marker":"x"})")
                   .has_value());
  EXPECT_TRUE(Call("iam", "SimulatePrincipalPolicy",
                   R"({"PolicySourceArn":"arn:aws:iam::123456789012:role/R",
      "ActionNames":["s3:Get"],"Marker":"99"})")
                  .has_value());
}

TEST(StableId, IsTheSameAtEveryCallAndLooksLikeIams) {
  EXPECT_EQ(StableRoleId("a"), StableRoleId("a"));
  EXPECT_NE(StableRoleId("a"), StableRoleId("b"));
  EXPECT_EQ(StableRoleId("a").size(), 21u);
  EXPECT_TRUE(StableRoleId("a").starts_with("AROA"));
}

}  // namespace
}  // namespace sabia::api
