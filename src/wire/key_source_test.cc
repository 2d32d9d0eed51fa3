#include "wire/key_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "env/posix/posix_files.h"
#include "env/testing/manual_clock.h"
#include "env/testing/temporary_directory.h"
#include "wire/external_buckets.h"

namespace sabia::wire {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Kind = KeySource::Kind;

class KeySourceTest : public ::testing::Test {
 protected:
  KeySourceTest() {
    environment_.credentials_file = Path("credentials");
    environment_.config_file = Path("config");
  }
  std::string Path(const std::string& name) { return (directory_.path() / name).native(); }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(directory_.path() / name) << text;
  }
  Result<KeySource> Choose(const std::string& profile = "") {
    return ChooseKeySource(environment_, profile, files_);
  }
  Result<ExternalBuckets> Parse(const std::string& text) {
    return ExternalBuckets::Parse(text, environment_, files_, clock_);
  }

  env::TemporaryDirectory directory_;
  env::PosixFiles files_;
  env::ManualClock clock_;
  KeyEnvironment environment_;
};

TEST_F(KeySourceTest, TheChainEndsAtTheFirstThatHasKeys) {
  EXPECT_EQ(Choose()->kind, Kind::kInstance);
  EXPECT_EQ(Choose()->url, "http://169.254.169.254");
  environment_.metadata_disabled = true;
  const auto none = Choose();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(none.error().message, HasSubstr("no AWS credentials"));
  environment_.container_relative_uri = "/v2/credentials/id";
  EXPECT_EQ(Choose()->kind, Kind::kContainer);
  EXPECT_EQ(Choose()->url, "http://169.254.170.2/v2/credentials/id");
  Write("config", "[default]\naws_access_key_id=AKIACONFIG\naws_secret_access_key=s\n");
  EXPECT_EQ(Choose()->kind, Kind::kProfile);
  EXPECT_EQ(ReadProfile(*Choose(), files_)->access_key_id, "AKIACONFIG");
  Write("credentials", "[default]\naws_access_key_id=AKIAFILE\naws_secret_access_key=s\n");
  EXPECT_EQ(ReadProfile(*Choose(), files_)->access_key_id, "AKIAFILE");
  environment_.access_key_id = "AKIAENV";
  environment_.secret_access_key = "secret";
  EXPECT_EQ(Choose()->kind, Kind::kStatic);
  EXPECT_EQ(Choose("default")->kind, Kind::kProfile);
}

TEST_F(KeySourceTest, ANamedProfileMustHaveKeysOfItsOwn) {
  Write("config",
        "[profile role]\nrole_arn = arn:aws:iam::1:role/x\nsource_profile = default\n"
        "[profile work]\nregion = eu-north-1\naws_access_key_id=AK\naws_secret_access_key=s\n"
        "aws_session_token=t\n");
  EXPECT_THAT(Choose("none").error().message, HasSubstr("profile 'none' has no keys"));
  EXPECT_THAT(Choose("role").error().message, HasSubstr("'role_arn', which is not supported"));
  environment_.profile = "gone";
  EXPECT_THAT(Choose().error().message, HasSubstr("'gone'"));
  environment_.profile = "work";
  EXPECT_EQ(ReadProfile(*Choose(), files_)->session_token, "t");
  EXPECT_EQ(ProfileRegion(environment_, "", files_), "eu-north-1");
}

TEST_F(KeySourceTest, ContainerEndpointsAreNearOrEncrypted) {
  for (const char* url : {"http://127.0.0.1:80/x", "http://localhost/x", "https://far/x",
                          "http://169.254.170.23/v1", "http://[::1]:9/x"}) {
    environment_.container_full_uri = url;
    EXPECT_EQ(Choose()->kind, Kind::kContainer) << url;
  }
  for (const char* url :
       {"http://far/x", "http://localhost.evil.org/x", "http://169.254.170.2.evil.org/"}) {
    environment_.container_full_uri = url;
    EXPECT_THAT(Choose().error().message, HasSubstr("AWS_CONTAINER_CREDENTIALS_FULL_URI")) << url;
  }
}

TEST_F(KeySourceTest, TravelsAsJson) {
  KeySource source;
  source.kind = Kind::kContainer;
  source.keys = {"id", "secret", "token", {}};
  source.url = "u";
  source.token_file = "f";
  const auto back = KeySource::FromJson(source.ToJson());
  ASSERT_TRUE(back);
  EXPECT_EQ(json::serialize(back->ToJson()), json::serialize(source.ToJson()));
  EXPECT_EQ(KeySource::FromJson({{"kind", "magic"}}).error().code, ErrorCode::kCorrupt);
}

TEST_F(KeySourceTest, ConfigurationNamesBucketsAndADefault) {
  environment_.access_key_id = "AKIAENV";
  environment_.secret_access_key = "secret";
  Write("credentials", "[minio]\naws_access_key_id=AKIAMINIO\naws_secret_access_key=s\n");
  const auto buckets = Parse(
      "[default]\nregion = eu-central-1\n"
      "[bucket data]\nendpoint = http://10.0.0.1:9000/\ncredentials = profile minio\n"
      "[bucket open-data]\ncredentials = anonymous\naddressing = path\n");
  ASSERT_TRUE(buckets) << buckets.error().message;
  const ExternalEndpoint& base = buckets->fallback()->endpoint;
  EXPECT_EQ(base.url, "https://s3.eu-central-1.amazonaws.com");
  EXPECT_TRUE(base.bucket_in_host);
  EXPECT_EQ(base.source.kind, Kind::kStatic);
  const ExternalEndpoint& data = buckets->Named("data")->endpoint;
  EXPECT_EQ(data.url, "http://10.0.0.1:9000/");
  EXPECT_FALSE(data.bucket_in_host);
  EXPECT_EQ(data.region, "eu-central-1");
  EXPECT_EQ(data.source.profile, "minio");
  const ExternalEndpoint& open = buckets->Named("open-data")->endpoint;
  EXPECT_EQ(open.source.kind, Kind::kAnonymous);
  EXPECT_FALSE(open.bucket_in_host);
  EXPECT_EQ(buckets->Named("other"), nullptr);
  const auto back = ExternalEndpoint::FromJson(data.ToJson());
  ASSERT_TRUE(back);
  EXPECT_EQ(json::serialize(back->ToJson()), json::serialize(data.ToJson()));
  EXPECT_EQ(Parse("")->fallback(), nullptr);
}

TEST_F(KeySourceTest, ConfigurationProblemsAreNamed) {
  const auto problem = [&](const std::string& text) { return Parse(text).error().message; };
  environment_.access_key_id = "AKIAENV";
  environment_.secret_access_key = "TOPSECRET";
  EXPECT_THAT(problem("[bucket B_B]\n"), HasSubstr("neither '[default]' nor '[bucket NAME]'"));
  EXPECT_THAT(problem("[buckets]\n"), HasSubstr("[buckets]"));
  EXPECT_THAT(problem("[default]\nendpont = x\n"), HasSubstr("no setting 'endpont'"));
  EXPECT_THAT(problem("[default]\nendpoint = x\n"), HasSubstr("'x' is not an http"));
  EXPECT_THAT(problem("[default]\naddressing = odd\n"), HasSubstr("'auto', 'path' and 'virtual'"));
  EXPECT_THAT(problem("[default]\nregion = No\n"), HasSubstr("region 'No'"));
  EXPECT_THAT(problem("[default]\nca_bundle = /none\n"), HasSubstr("'/none' does not exist"));
  EXPECT_THAT(
      problem("[default]\ncredentials = AKIA:TOPSECRET\n"),
      AllOf(HasSubstr("'chain', 'anonymous' or 'profile NAME'"), Not(HasSubstr("TOPSECRET"))));
}

}  // namespace
}  // namespace sabia::wire
