#include "wire/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "env/posix/posix_files.h"
#include "env/testing/temporary_directory.h"

namespace sabia::wire {
namespace {

constexpr char kRole[] = "arn:aws:iam::123456789012:role/service-role/trainer";
const WallTime kNow = FromUnixMillis(1'700'000'000'000);

TEST(RootKey, ReadingMakesNone) {
  const env::TemporaryDirectory home;
  env::PosixFiles files;
  const auto key = ReadRootKey(files, home.path() / "credentials.json");
  ASSERT_FALSE(key);
  EXPECT_EQ(key.error().code, ErrorCode::kNotFound);
}

TEST(RootKey, IsMadeOncePrivatelyAndReadAgain) {
  const env::TemporaryDirectory home;
  env::PosixFiles files;
  env::SeededRandom random(7);
  const env::Path file = home.path() / "credentials.json";
  const auto made = LoadOrCreateRootKey(files, random, file);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(made->id, ::testing::MatchesRegex("AKIA[A-Z2-7]+"));
  EXPECT_EQ(made->id.size(), 20u);
  EXPECT_EQ(made->secret.size(), 40u);
  EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms(0600));
  const auto read = LoadOrCreateRootKey(files, random, file);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->id, made->id);
  EXPECT_EQ(read->secret, made->secret);
}

TEST(RootKey, DamageIsNamedAndNotReplaced) {
  const env::TemporaryDirectory home;
  env::PosixFiles files;
  env::SeededRandom random(7);
  const env::Path file = home.path() / "credentials.json";
  for (const char* text : {"", "{", "{}", R"({"AccessKeyId":"AKIA"})", "[1]"}) {
    ASSERT_TRUE(files.WriteAtomically(file, text, {}));
    const auto key = LoadOrCreateRootKey(files, random, file);
    ASSERT_FALSE(key);
    EXPECT_EQ(key.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(key.error().message, ::testing::HasSubstr("credentials.json"));
  }
}

class TemporaryCredentialsTest : public ::testing::Test {
 protected:
  AuthProblem ProblemOf(std::string_view id, std::string_view token, WallTime now = kNow) {
    const auto found = authority_.Find(id, token, now);
    EXPECT_FALSE(found);
    return found ? AuthProblem::kMissing : found.error().problem;
  }

  env::SeededRandom random_{3};
  CredentialAuthority authority_{{"AKIAROOTROOTROOTROOT", std::string(40, 's')}, "123456789012"};
  TemporaryCredentials minted_ = authority_.Mint({kRole, "job-1", kNow + Seconds(900)}, random_);
};

TEST_F(TemporaryCredentialsTest, AreFoundByAnotherAuthorityOfTheSameRoot) {
  const CredentialAuthority after_restart(authority_.root(), "123456789012");
  const auto found = after_restart.Find(minted_.key.id, minted_.session_token, kNow);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->secret, minted_.key.secret);
  EXPECT_EQ(found->principal.account, "123456789012");
  EXPECT_EQ(found->principal.arn, "arn:aws:sts::123456789012:assumed-role/trainer/job-1");
  EXPECT_EQ(minted_.assumed_role_arn, found->principal.arn);
  EXPECT_EQ(minted_.key.id.size(), 20u);
  EXPECT_EQ(minted_.key.secret.size(), 40u);
}

TEST_F(TemporaryCredentialsTest, DifferFromEachOther) {
  const TemporaryCredentials other =
      authority_.Mint({kRole, "job-1", kNow + Seconds(900)}, random_);
  EXPECT_NE(other.key.id, minted_.key.id);
  EXPECT_NE(other.key.secret, minted_.key.secret);
  EXPECT_EQ(ProblemOf(other.key.id, minted_.session_token), AuthProblem::kInvalidToken);
}

TEST_F(TemporaryCredentialsTest, Expire) {
  EXPECT_EQ(ProblemOf(minted_.key.id, minted_.session_token, kNow + Seconds(900)),
            AuthProblem::kExpiredToken);
}

TEST_F(TemporaryCredentialsTest, NeedTheirToken) {
  EXPECT_EQ(ProblemOf(minted_.key.id, ""), AuthProblem::kInvalidToken);
  EXPECT_EQ(ProblemOf(minted_.key.id, "AAAA"), AuthProblem::kInvalidToken);
  EXPECT_EQ(ProblemOf(minted_.key.id, std::string(5000, 'A')), AuthProblem::kInvalidToken);
  for (std::size_t i = 0; i + 2 < minted_.session_token.size(); i += 5) {
    std::string forged = minted_.session_token;
    forged[i] = forged[i] == 'A' ? 'B' : 'A';
    EXPECT_EQ(ProblemOf(minted_.key.id, forged), AuthProblem::kInvalidToken) << i;
  }
}

TEST_F(TemporaryCredentialsTest, AreWorthlessUnderAnotherRoot) {
  const CredentialAuthority other({"AKIAROOTROOTROOTROOT", std::string(40, 't')}, "123456789012");
  EXPECT_FALSE(other.Find(minted_.key.id, minted_.session_token, kNow));
}

TEST_F(TemporaryCredentialsTest, RootAndStrangers) {
  EXPECT_TRUE(authority_.Find("AKIAROOTROOTROOTROOT", "", kNow));
  EXPECT_EQ(ProblemOf("AKIAROOTROOTROOTROOT", "token"), AuthProblem::kInvalidToken);
  EXPECT_EQ(ProblemOf("AKIANOBODYNOBODYNOBO", ""), AuthProblem::kUnknownKey);
  EXPECT_EQ(ProblemOf("", ""), AuthProblem::kUnknownKey);
}

}  // namespace
}  // namespace sabia::wire
