#include "objects/key_ring.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/json.h"
#include "env/posix/posix_files.h"
#include "env/posix/posix_random.h"
#include "env/testing/manual_clock.h"
#include "env/testing/temporary_directory.h"

namespace sabia::objects {
namespace {

constexpr char kAccount[] = "123456789012";

class KeyRingTest : public ::testing::Test {
 protected:
  KeyRing Ring() {
    return KeyRing({home_.path() / "keys", kAccount, "us-west-2"}, files_, clock_, random_);
  }

  env::TemporaryDirectory home_;
  env::PosixFiles files_;
  env::ManualClock clock_;
  env::PosixRandom random_;
};

TEST_F(KeyRingTest, KeysAreMadeWhenTheyAreNeededAndKeptPrivate) {
  KeyRing ring = Ring();
  EXPECT_TRUE(ring.List()->empty());
  ASSERT_TRUE(ring.NewDataKey({"AES256", "", ""}));
  ASSERT_TRUE(ring.NewDataKey({"aws:kms", "", ""}));
  ASSERT_TRUE(ring.NewDataKey({"AES256", "", ""}));
  const auto keys = ring.List();
  ASSERT_EQ(keys->size(), 2U);
  struct stat about {};
  ASSERT_EQ(::stat((home_.path() / "keys").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0700U);
  for (const MasterKey& key : *keys) {
    ASSERT_EQ(::stat((home_.path() / "keys" / (key.id + ".json")).c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0600U);
  }
}

TEST_F(KeyRingTest, DataKeysComeBackAfterARestart) {
  SealedKey s3, kms;
  {
    KeyRing ring = Ring();
    s3 = *ring.NewDataKey({"AES256", "", ""});
    kms = *ring.NewDataKey({"aws:kms", "", R"({"a":"b"})"});
  }
  EXPECT_NE(s3.key, kms.key);
  EXPECT_EQ(s3.key_arn, "");
  EXPECT_TRUE(kms.key_arn.starts_with("arn:aws:kms:us-west-2:123456789012:key/"));
  KeyRing ring = Ring();
  EXPECT_EQ(ring.Open(s3.envelope).value(), s3.key);
  EXPECT_EQ(ring.Open(kms.envelope).value(), kms.key);
  const auto how = ReadEnvelope(kms.envelope);
  EXPECT_EQ(how->algorithm, "aws:kms");
  EXPECT_EQ(ring.ArnOf(how->key_id), kms.key_arn);
  EXPECT_EQ(how->context, R"({"a":"b"})");
}

TEST_F(KeyRingTest, TheNewestKeySealsAndTheOlderOnesStillOpen) {
  KeyRing ring = Ring();
  const SealedKey before = *ring.NewDataKey({"AES256", "", ""});
  clock_.Advance(Seconds(1));
  // Another process turns the key.
  KeyRing other = Ring();
  const MasterKey newer = *other.Create(kS3Keys);
  const SealedKey after = *ring.NewDataKey({"AES256", "", ""});
  EXPECT_NE(after.envelope.find(newer.id), std::string::npos);
  EXPECT_EQ(before.envelope.find(newer.id), std::string::npos);
  EXPECT_EQ(ring.Open(before.envelope).value(), before.key);
  EXPECT_EQ(ring.Open(after.envelope).value(), after.key);
}

TEST_F(KeyRingTest, KmsKeysHaveThreeNames) {
  KeyRing ring = Ring();
  const MasterKey key = *ring.Create(kKmsKeys, "alias/mine");
  for (const std::string& name :
       {key.id, ring.ArnOf(key.id), std::string("alias/mine"), ring.AliasArnOf("alias/mine")}) {
    const auto found = ring.Find(name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->id, key.id);
    EXPECT_EQ(ring.NewDataKey({"aws:kms", name, ""})->key_arn, ring.ArnOf(key.id));
  }
  EXPECT_EQ(ring.Create(kKmsKeys, "alias/mine").error().code, ErrorCode::kAlreadyExists);
  const MasterKey s3 = *ring.Create(kS3Keys);
  for (const std::string& name :
       {std::string("00000000-0000-0000-0000-000000000000"), std::string("alias/other"), s3.id,
        "arn:aws:kms:us-east-1:123456789012:key/" + key.id,
        "arn:aws:kms:us-west-2:000000000000:key/" + key.id, std::string("alias")}) {
    EXPECT_EQ(ring.Find(name).error().code, ErrorCode::kNotFound) << name;
    EXPECT_EQ(ring.NewDataKey({"aws:kms", name, ""}).error().code, ErrorCode::kNotFound) << name;
  }
}

TEST_F(KeyRingTest, AlteredEnvelopesOpenNothing) {
  KeyRing ring = Ring();
  const SealedKey sealed = *ring.NewDataKey({"aws:kms", "", R"({"a":"b"})"});
  json::object document = *ParseJsonObject(sealed.envelope);
  for (const char* member : {"algorithm", "context", "wrapped"}) {
    json::object altered = document;
    altered[member] = "AES256";
    EXPECT_FALSE(ring.Open(json::serialize(altered))) << member;
  }
  EXPECT_EQ(ring.Open("{}").error().code, ErrorCode::kCorrupt);
  document["key"] = "gone";
  EXPECT_EQ(ring.Open(json::serialize(document)).error().code, ErrorCode::kNotFound);
}

TEST_F(KeyRingTest, AFileThatIsNoKeyIsNamed) {
  KeyRing ring = Ring();
  ASSERT_TRUE(ring.Create(kS3Keys));
  std::ofstream(home_.path() / "keys/x.json") << "{}";
  const auto listed = Ring().List();
  ASSERT_FALSE(listed);
  EXPECT_NE(listed.error().message.find("x.json"), std::string::npos);
}

TEST_F(KeyRingTest, PartsKeepTheirNumbers) {
  KeyRing ring = Ring();
  const SealedKey sealed = *ring.NewDataKey({"AES256", "", ""});
  ObjectInfo info;
  info.size = 30;
  info.envelope = sealed.envelope;
  EXPECT_EQ(SegmentsOf(info)->at(0).number, 0);
  info.parts = {10, 20};
  EXPECT_EQ(NumberParts(sealed.envelope, {1, 2}).value(), sealed.envelope);
  EXPECT_EQ(SegmentsOf(info)->at(1).number, 2);
  info.envelope = NumberParts(sealed.envelope, {3, 7}).value();
  EXPECT_EQ(SegmentsOf(info)->at(0).number, 3);
  EXPECT_EQ(SegmentsOf(info)->at(1).number, 7);
  EXPECT_EQ(ring.Open(info.envelope).value(), sealed.key);
  info.parts = {30};
  EXPECT_EQ(SegmentsOf(info).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace sabia::objects
