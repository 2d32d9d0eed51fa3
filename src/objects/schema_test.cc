// Goal: a home of every earlier version is read by this one.
#include "objects/schema.h"

#include <gtest/gtest.h>

#include "objects/testing/store_fixture.h"
#include "store/database.h"

namespace sabia::objects {
namespace {

class SchemaTest : public testing::StoreFixture {
 protected:
  // A file of the version as it was then; sql fills it.
  void MakeOld(std::size_t version, const std::string& sql) {
    store_.reset();
    for (const char* suffix : {"", "-wal", "-shm"}) {
      std::filesystem::remove(paths_.objects_db().native() + suffix);
    }
    std::vector<std::string> migrations = index::Migrations();
    ASSERT_LT(version, migrations.size());
    migrations.resize(version);
    auto old = store::Database::Open({.path = paths_.objects_db(), .migrations = migrations});
    ASSERT_TRUE(old) << old.error().message;
    ASSERT_TRUE((*old)->Write([&](store::Connection& connection) {
      return connection.Run(sql.substr(0, sql.find(';')));
    }));
    ASSERT_TRUE((*old)->Write([&](store::Connection& connection) {
      return connection.Run(sql.substr(sql.find(';') + 1));
    }));
  }
};

TEST_F(SchemaTest, Version1) {
  MakeOld(1,
          "INSERT INTO buckets (name, region, created) VALUES ('b', 'us-west-2', 1);"
          "INSERT INTO objects (bucket, key, size, etag, modified, blob, checksums, metadata, "
          "parts, origin) VALUES (1, CAST('k' AS BLOB), 0, 'e', 2, "
          "'00000000000000000000000000000000', 'crc32 AAAAAA==', '{\"content-type\":\"a/b\"}', "
          "'5x2', '')");
  Reopen();
  const auto bucket = store_->GetBucket("b");
  ASSERT_TRUE(bucket);
  EXPECT_EQ((*bucket)->versioning, Versioning::kOff);
  const auto object = store_->Head("b", "k");
  ASSERT_TRUE(object) << object.error().message;
  EXPECT_EQ(object->etag, "e");
  EXPECT_EQ(object->metadata, (Metadata{{"content-type", "a/b"}}));
  EXPECT_EQ(object->parts, (std::vector<std::uint64_t>{5, 5}));
  EXPECT_EQ(object->version_id, "");
  EXPECT_TRUE(object->tags.empty());
  // What was there becomes the null version.
  ASSERT_TRUE(store_->SetVersioning("b", Versioning::kEnabled));
  ASSERT_TRUE(Put("b", "k", "new"));
  EXPECT_EQ(store_->Head("b", "k", "")->etag, "e");
}

}  // namespace
}  // namespace sabia::objects
