// Policies and public access blocks, through the API.
#include "s3/access.h"

#include <gmock/gmock.h>

#include "s3/testing/s3_fixture.h"

namespace sabia::s3 {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kRole[] = "arn:aws:iam::123456789012:role/trainer";

class AccessTest : public testing::S3Fixture {
 protected:
  AccessTest() {
    BeRoot();
    EXPECT_TRUE(Put("bkt", "key", "content"));
    EXPECT_TRUE(Put("bkt", "secret/key", "secret"));
  }

  void BeRoot() {
    context_.principal = {"123456789012", "AKIA", "arn:aws:iam::123456789012:root", false, {}};
  }
  void BeRole() {
    context_.principal = {"123456789012", "ASIA",
                          "arn:aws:sts::123456789012:assumed-role/trainer/job", false, kRole};
  }
  void BeNobody() { context_.principal = {"123456789012", "", "", true, {}}; }

  // As the root key.
  std::string PutPolicy(const std::string& statements) {
    const auto before = context_.principal;
    BeRoot();
    const std::string out = Outcome(
        {"PUT", "/bkt?policy", {}, R"({"Version":"2012-10-17","Statement":[)" + statements + "]}"});
    context_.principal = before;
    return out;
  }
  static std::string Deny(const std::string& action, const std::string& rest = "") {
    return R"({"Effect":"Deny","Principal":"*","Action":")" + action +
           R"(","Resource":["arn:aws:s3:::bkt","arn:aws:s3:::bkt/*"])" + rest + "}";
  }
  static std::string Allow(const std::string& action, const std::string& resource,
                           const std::string& rest = "") {
    return R"({"Effect":"Allow","Principal":"*","Action":")" + action + R"(","Resource":")" +
           resource + "\"" + rest + "}";
  }
};

TEST_F(AccessTest, APolicyIsKeptAsItCame) {
  EXPECT_EQ(Outcome({"GET", "/bkt?policy"}), "404 NoSuchBucketPolicy");
  EXPECT_EQ(Outcome({"GET", "/bkt?policyStatus"}), "404 NoSuchBucketPolicy");
  const std::string policy =
      "{ \"Version\": \"2012-10-17\",\n \"Statement\": [" + Deny("s3:PutObject") + "] }";
  EXPECT_EQ(Outcome({"PUT", "/bkt?policy", {}, policy}), "204 ");
  const auto got = Do({"GET", "/bkt?policy"});
  EXPECT_EQ(got.body, policy);
  EXPECT_EQ(got.headers.Get("content-type"), "application/json");
  EXPECT_THAT(Do({"GET", "/bkt?policyStatus"}).body, HasSubstr("<IsPublic>false</IsPublic>"));
  EXPECT_EQ(Outcome({"DELETE", "/bkt?policy"}), "204 ");
  EXPECT_EQ(Outcome({"DELETE", "/bkt?policy"}), "204 ");
  EXPECT_EQ(Outcome({"GET", "/bkt?policy"}), "404 NoSuchBucketPolicy");
  EXPECT_EQ(Outcome({"PUT", "/bkt?policy", {}, "{}"}), "400 MalformedPolicy");
  EXPECT_EQ(Outcome({"PUT", "/none?policy", {}, policy}), "404 NoSuchBucket");
}

TEST_F(AccessTest, ADenyCountsForRoleAndRoot) {
  ASSERT_EQ(PutPolicy(Deny("s3:PutObject")), "204 ");
  for (const bool root : {true, false}) {
    root ? BeRoot() : BeRole();
    EXPECT_EQ(Outcome({"PUT", "/bkt/new", {}, "x"}), "403 AccessDenied");
    EXPECT_EQ(Outcome({"POST", "/bkt/new?uploads"}), "403 AccessDenied");
    EXPECT_EQ(Outcome({"PUT", "/bkt/new", {{"x-amz-copy-source", "/bkt/key"}}}),
              "403 AccessDenied");
    EXPECT_EQ(Outcome({"GET", "/bkt/key"}), "200 ");
    EXPECT_EQ(Outcome({"GET", "/bkt?list-type=2"}), "200 ");
  }
  EXPECT_THAT(Do({"PUT", "/bkt/new", {}, "x"}).body,
              HasSubstr("User: arn:aws:sts::123456789012:assumed-role/trainer/job is not "
                        "authorized to perform: s3:PutObject on resource: "
                        "\"arn:aws:s3:::bkt/new\" with an explicit deny in a "
                        "resource-based policy"));
}

TEST_F(AccessTest, TheRootKeyCanAlwaysTakeThePolicyBack) {
  ASSERT_EQ(PutPolicy(Deny("s3:*")), "204 ");
  EXPECT_EQ(Outcome({"GET", "/bkt/key"}), "403 AccessDenied");
  EXPECT_EQ(Outcome({"DELETE", "/bkt"}), "403 AccessDenied");
  EXPECT_EQ(Outcome({"GET", "/bkt?policy"}), "200 ");
  BeRole();
  EXPECT_EQ(Outcome({"DELETE", "/bkt?policy"}), "403 AccessDenied");
  BeRoot();
  EXPECT_EQ(Outcome({"DELETE", "/bkt?policy"}), "204 ");
  EXPECT_EQ(Outcome({"GET", "/bkt/key"}), "200 ");
}

TEST_F(AccessTest, ARoleThatWouldLockItselfOutMustSaySo) {
  BeRole();
  const std::string policy = R"({"Statement":[)" + Deny("s3:PutBucketPolicy") + "]}";
  EXPECT_EQ(Outcome({"PUT", "/bkt?policy", {}, policy}), "403 AccessDenied");
  EXPECT_EQ(
      Outcome(
          {"PUT", "/bkt?policy", {{"x-amz-confirm-remove-self-bucket-access", "true"}}, policy}),
      "204 ");
  EXPECT_EQ(Outcome({"PUT", "/bkt?policy", {}, policy}), "403 AccessDenied");
}

TEST_F(AccessTest, OneRoleCanBeShutOut) {
  ASSERT_EQ(PutPolicy(R"({"Effect":"Deny","Principal":{"AWS":")" + std::string(kRole) +
                      R"("},"Action":"s3:GetObject","Resource":"arn:aws:s3:::bkt/secret/*"})"),
            "204 ");
  EXPECT_EQ(Outcome({"GET", "/bkt/secret/key"}), "200 ");
  BeRole();
  EXPECT_EQ(Outcome({"GET", "/bkt/secret/key"}), "403 AccessDenied");
  EXPECT_EQ(Outcome({"HEAD", "/bkt/secret/key"}), "403 ");
  EXPECT_EQ(Outcome({"GET", "/bkt/key"}), "200 ");
  // A copy reads its source.
  EXPECT_EQ(Outcome({"PUT", "/bkt/copy", {{"x-amz-copy-source", "/bkt/secret/key"}}}),
            "403 AccessDenied");
  ASSERT_TRUE(store_->CreateBucket("other"));
  EXPECT_EQ(Outcome({"PUT", "/other/copy", {{"x-amz-copy-source", "/bkt/secret/key"}}}),
            "403 AccessDenied");
  EXPECT_EQ(Outcome({"PUT", "/other/copy", {{"x-amz-copy-source", "/bkt/key"}}}), "200 ");
}

TEST_F(AccessTest, ConditionsSeeTheRequest) {
  ASSERT_EQ(
      PutPolicy(Deny("s3:ListBucket", R"(,"Condition":{"StringNotLike":{"s3:prefix":"home/*"}})") +
                "," +
                Deny("s3:PutObject",
                     R"(,"Condition":{"Null":{"s3:x-amz-server-side-encryption":"true"}})") +
                "," +
                Deny("s3:GetObject",
                     R"(,"Condition":{"StringEquals":{"s3:ExistingObjectTag/kind":"hidden"}})")),
      "204 ");
  EXPECT_EQ(Outcome({"GET", "/bkt?list-type=2"}), "403 AccessDenied");
  EXPECT_EQ(Outcome({"GET", "/bkt?list-type=2&prefix=home/"}), "200 ");
  EXPECT_EQ(Outcome({"PUT", "/bkt/new", {}, "x"}), "403 AccessDenied");
  EXPECT_EQ(Outcome({"PUT", "/bkt/new", {{"x-amz-server-side-encryption", "AES256"}}, "x"}),
            "200 ");
  EXPECT_EQ(Outcome({"GET", "/bkt/key"}), "200 ");
  ASSERT_TRUE(store_->SetTags({"bkt", "key"}, {{"kind", "hidden"}}));
  EXPECT_EQ(Outcome({"GET", "/bkt/key"}), "403 AccessDenied");
}

TEST_F(AccessTest, TransportAndSourceAreOnesOfTheConnection) {
  ASSERT_EQ(
      PutPolicy(Deny("s3:GetObject", R"(,"Condition":{"Bool":{"aws:SecureTransport":"false"}})")),
      "204 ");
  EXPECT_EQ(Outcome({"GET", "/bkt/key"}), "403 AccessDenied");
  tls_ = true;
  EXPECT_EQ(Outcome({"GET", "/bkt/key"}), "200 ");
  ASSERT_EQ(PutPolicy(Deny("s3:GetObject",
                           R"(,"Condition":{"NotIpAddress":{"aws:SourceIp":"10.0.0.0/8"}})")),
            "204 ");
  peer_ = "10.2.3.4:5678";
  EXPECT_EQ(Outcome({"GET", "/bkt/key"}), "200 ");
  peer_ = "[::1]:5678";
  EXPECT_EQ(Outcome({"GET", "/bkt/key"}), "403 AccessDenied");
}

TEST_F(AccessTest, EntriesOfADeleteAreJudgedOneByOne) {
  ASSERT_EQ(PutPolicy(R"({"Effect":"Deny","Principal":"*","Action":"s3:DeleteObject","Resource":)"
                      R"("arn:aws:s3:::bkt/secret/*"})"),
            "204 ");
  const auto answer = Do(
      {"POST",
       "/bkt?delete",
       {},
       "<Delete><Object><Key>key</Key></Object><Object><Key>secret/key</Key></Object></Delete>"});
  EXPECT_EQ(answer.status, 200U);
  EXPECT_THAT(answer.body, HasSubstr("<Deleted><Key>key</Key></Deleted>"));
  EXPECT_THAT(answer.body, HasSubstr("<Key>secret/key</Key><Code>AccessDenied</Code>"));
  EXPECT_EQ(Outcome({"GET", "/bkt/secret/key"}), "200 ");
}

TEST_F(AccessTest, VersionsHaveActionsOfTheirOwn) {
  ASSERT_TRUE(store_->SetVersioning("bkt", Versioning::kEnabled));
  ASSERT_EQ(PutPolicy(Deny("s3:GetObjectVersion") + "," + Deny("s3:DeleteObjectVersion")), "204 ");
  EXPECT_EQ(Outcome({"GET", "/bkt/key"}), "200 ");
  EXPECT_EQ(Outcome({"GET", "/bkt/key?versionId=null"}), "403 AccessDenied");
  EXPECT_EQ(Outcome({"DELETE", "/bkt/key"}), "204 ");
  EXPECT_EQ(Outcome({"DELETE", "/bkt/key?versionId=null"}), "403 AccessDenied");
}

TEST_F(AccessTest, NobodyGetsInUnlessPolicyAndBlockAgree) {
  BeNobody();
  EXPECT_EQ(Outcome({"GET", "/bkt/key"}), "403 AccessDenied");
  EXPECT_EQ(Outcome({"GET", "/"}), "403 AccessDenied");
  const std::string reading = Allow("s3:GetObject", "arn:aws:s3:::bkt/*");
  // New buckets block public policies, as on AWS.
  EXPECT_EQ(PutPolicy(reading), "403 AccessDenied");
  BeRoot();
  EXPECT_THAT(Do({"GET", "/bkt?publicAccessBlock"}).body,
              HasSubstr("<BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>true"
                        "</IgnorePublicAcls><BlockPublicPolicy>true</BlockPublicPolicy>"
                        "<RestrictPublicBuckets>true</RestrictPublicBuckets>"));
  EXPECT_EQ(Outcome({"DELETE", "/bkt?publicAccessBlock"}), "204 ");
  EXPECT_EQ(Outcome({"GET", "/bkt?publicAccessBlock"}), "404 NoSuchPublicAccessBlockConfiguration");
  EXPECT_EQ(PutPolicy(reading), "204 ");
  EXPECT_THAT(Do({"GET", "/bkt?policyStatus"}).body, HasSubstr("<IsPublic>true</IsPublic>"));
  BeNobody();
  EXPECT_EQ(Do({"GET", "/bkt/key"}).body, "content");
  EXPECT_EQ(Outcome({"PUT", "/bkt/key", {}, "x"}), "403 AccessDenied");
  EXPECT_EQ(Outcome({"GET", "/bkt?list-type=2"}), "403 AccessDenied");
  EXPECT_EQ(Outcome({"GET", "/bkt?policy"}), "403 AccessDenied");
  // Who may not list is not told what is missing.
  EXPECT_EQ(Outcome({"GET", "/bkt/none"}), "403 AccessDenied");
  BeRoot();
  EXPECT_EQ(Outcome({"GET", "/bkt/none"}), "404 NoSuchKey");
  EXPECT_EQ(Outcome({"PUT",
                     "/bkt?publicAccessBlock",
                     {},
                     "<PublicAccessBlockConfiguration><RestrictPublicBuckets>true"
                     "</RestrictPublicBuckets></PublicAccessBlockConfiguration>"}),
            "200 ");
  BeNobody();
  EXPECT_EQ(Outcome({"GET", "/bkt/key"}), "403 AccessDenied");
}

TEST_F(AccessTest, APolicyForSomeAddressesIsNotPublic) {
  ASSERT_EQ(PutPolicy(Allow("s3:GetObject", "arn:aws:s3:::bkt/*",
                            R"(,"Condition":{"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}})")),
            "204 ");
  BeNobody();
  EXPECT_EQ(Outcome({"GET", "/bkt/key"}), "403 AccessDenied");
  peer_ = "10.0.0.1:1";
  EXPECT_EQ(Outcome({"GET", "/bkt/key"}), "200 ");
}

TEST_F(AccessTest, TheOwnerOwnsEverything) {
  EXPECT_THAT(Do({"GET", "/bkt?ownershipControls"}).body,
              HasSubstr("<ObjectOwnership>BucketOwnerEnforced</ObjectOwnership>"));
  const auto controls = [](const std::string& value) {
    return "<OwnershipControls><Rule><ObjectOwnership>" + value +
           "</ObjectOwnership></Rule></OwnershipControls>";
  };
  EXPECT_EQ(Outcome({"PUT", "/bkt?ownershipControls", {}, controls("BucketOwnerEnforced")}),
            "200 ");
  EXPECT_EQ(Outcome({"PUT", "/bkt?ownershipControls", {}, controls("ObjectWriter")}),
            "501 NotImplemented");
  EXPECT_EQ(Outcome({"PUT", "/bkt?ownershipControls", {}, controls("Me")}), "400 MalformedXML");
  EXPECT_THAT(Do({"GET", "/bkt?acl"}).body, HasSubstr("<Permission>FULL_CONTROL</Permission>"));
  EXPECT_EQ(Outcome({"PUT", "/bkt?acl", {{"x-amz-acl", "private"}}}), "200 ");
  for (const std::string target : {"/bkt?acl", "/bkt/key?acl"}) {
    EXPECT_EQ(Outcome({"PUT", target, {{"x-amz-acl", "public-read"}}}),
              "400 AccessControlListNotSupported");
    EXPECT_EQ(Outcome({"PUT", target, {{"x-amz-grant-read", "id=1"}}}),
              "400 AccessControlListNotSupported");
    EXPECT_EQ(Outcome({"PUT", target, {}, "<AccessControlPolicy/>"}),
              "400 AccessControlListNotSupported");
  }
  EXPECT_EQ(Outcome({"PUT", "/bkt/none?acl", {{"x-amz-acl", "private"}}}), "404 NoSuchKey");
  EXPECT_EQ(Outcome({"PUT", "/bkt/k", {{"x-amz-acl", "public-read"}}, "x"}),
            "400 AccessControlListNotSupported");
}

TEST_F(AccessTest, AStoredPolicyThatCannotBeReadDeniesEverything) {
  ASSERT_TRUE(store_->PutSetting("bkt", "policy", "{\"Statement\": 1}"));
  EXPECT_EQ(Outcome({"GET", "/bkt/key"}), "403 AccessDenied");
  EXPECT_EQ(Outcome({"DELETE", "/bkt?policy"}), "204 ");
  EXPECT_EQ(Outcome({"GET", "/bkt/key"}), "200 ");
}

TEST_F(AccessTest, JobsReadWhatTheirRoleMay) {
  ASSERT_EQ(PutPolicy(R"({"Effect":"Deny","Principal":{"AWS":")" + std::string(kRole) +
                      R"("},"Action":"s3:GetObject","Resource":"arn:aws:s3:::bkt/secret/*"})"),
            "204 ");
  using Kind = objects::ReadWish::Kind;
  const auto mine = ReadCheckOf({*store_, clock_, "123456789012", "us-west-2"}, kRole);
  EXPECT_TRUE(mine({Kind::kList, "bkt", "secret/"}));
  EXPECT_TRUE(mine({Kind::kRead, "bkt", "key"}));
  EXPECT_TRUE(mine({Kind::kRead, "elsewhere", "key"}));
  const Status refused = mine({Kind::kRead, "bkt", "secret/key"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kDenied);
  EXPECT_THAT(refused.error().message, HasSubstr(kRole));
  EXPECT_THAT(refused.error().message, HasSubstr("arn:aws:s3:::bkt/secret/key"));
  const auto other = ReadCheckOf({*store_, clock_, "123456789012", "us-west-2"},
                                 "arn:aws:iam::123456789012:role/other");
  EXPECT_TRUE(other({Kind::kRead, "bkt", "secret/key"}));
  ASSERT_EQ(PutPolicy(Deny("s3:ListBucket", R"(,"Condition":{"StringEquals":{"s3:prefix":"x"}})")),
            "204 ");
  EXPECT_FALSE(other({Kind::kList, "bkt", "x"}));
  EXPECT_TRUE(other({Kind::kList, "bkt", "y"}));
}

}  // namespace
}  // namespace sabia::s3
