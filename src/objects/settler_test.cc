// Goal: the bytes of a small object are safe in its row until its file is on the disk, whatever
// happens in between. Method: a child process commits and dies; its files are damaged as a loss of
// power would; the store is opened again.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "objects/fresh_index.h"
#include "objects/schema.h"
#include "objects/testing/store_fixture.h"
#include "store/database.h"

namespace sabia::objects {
namespace {

class SettlerTest : public testing::StoreFixture {
 protected:
  SettlerTest() { EXPECT_TRUE(store_->CreateBucket("b")); }

  // Does the work in a process that ends without any destructor, before the settler's first
  // interval is over.
  void InDyingProcess(const std::function<void(ObjectStore&)>& work) {
    store_.reset();
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto store = ObjectStore::Open({.paths = paths_}, clock_, random_);
      if (!store) ::_exit(1);
      // The settler's first round is over at once; the next is a second away, or the test cannot
      // tell.
      work(**store);
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }

  std::vector<index::FreshRow> FreshRows() {
    auto database =
        store::Database::Open({.path = paths_.objects_db(), .migrations = index::Migrations()});
    EXPECT_TRUE(database);
    std::vector<index::FreshRow> out;
    EXPECT_TRUE((*database)->Read([&](store::Connection& connection) -> Status {
      ASSIGN_OR_RETURN(out, index::ReadFresh(connection, 0, 1000));
      return {};
    }));
    return out;
  }

  // What the settler has not done: puts the row back, as if the process had died before.
  void MakeFresh(const std::string& blob_id, const std::string& data) {
    auto database =
        store::Database::Open({.path = paths_.objects_db(), .migrations = index::Migrations()});
    ASSERT_TRUE(database);
    ASSERT_TRUE((*database)->Write([&](store::Connection& connection) {
      return index::InsertFresh(connection, blob_id, data);
    }));
  }

  static void PutIn(ObjectStore& store, std::string_view key, std::string_view data) {
    auto upload = store.BeginUpload();
    if (!upload || !(*upload)->Write(data) || !store.Put("b", key, std::move(*upload), {})) {
      ::_exit(1);
    }
  }
};

TEST_F(SettlerTest, CommitsHoldTheBytesUntilTheFilesAreSynced) {
  ASSERT_TRUE(Put("b", "k", "small"));
  ASSERT_TRUE(Put("b", "large", std::string(100'000, 'l')));
  ASSERT_TRUE(Put("b", "empty", ""));
  store_.reset();  // settles
  EXPECT_TRUE(FreshRows().empty());
  Reopen();
  EXPECT_EQ(Read("b", "k"), "small");
  EXPECT_EQ(Read("b", "empty"), "");
}

TEST_F(SettlerTest, LostFilesAreWrittenAgain) {
  InDyingProcess([](ObjectStore& store) {
    for (int i = 0; i < 8; ++i) PutIn(store, fmt::format("k{}", i), fmt::format("bytes {}", i));
  });
  const auto rows = FreshRows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const env::Path place = paths_.blob(rows[i].blob_id);
    if (i % 4 == 0) std::filesystem::remove(place);
    if (i % 4 == 1) std::filesystem::resize_file(place, 0);
    if (i % 4 == 2) std::filesystem::rename(place, paths_.blobs_tmp() / rows[i].blob_id);
  }
  Reopen();
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(Read("b", fmt::format("k{}", i)), fmt::format("bytes {}", i));
  EXPECT_EQ(TemporaryFiles(), 0U);
  EXPECT_EQ(BlobFiles(), 8U);
  store_.reset();
  EXPECT_TRUE(FreshRows().empty());
}

// The row of an object is gone, and its file removed, but the bytes were not forgotten yet.
TEST_F(SettlerTest, WhatNobodyWantsDoesNotComeBack) {
  ASSERT_TRUE(Put("b", "k", "old"));
  const std::string gone = store_->Head("b", "k")->blob_id;
  ASSERT_TRUE(Put("b", "k", "new"));
  while (BlobFiles() != 1) std::this_thread::yield();
  store_.reset();
  MakeFresh(gone, "old");
  Reopen();
  EXPECT_EQ(BlobFiles(), 1U);
  EXPECT_EQ(Read("b", "k"), "new");
  store_.reset();
  EXPECT_TRUE(FreshRows().empty());
}

// A replay that was cut off leaves a file in tmp, or one in its place; both are written anew, and
// other names of the old bytes keep them.
TEST_F(SettlerTest, ReplayCanBeRepeated) {
  ASSERT_TRUE(Put("b", "k", "bytes"));
  ASSERT_TRUE(store_->Copy({"b", "k"}, {"b", "copy"}));
  const ObjectInfo info = *store_->Head("b", "k");
  store_.reset();
  MakeFresh(info.blob_id, "bytes");
  std::filesystem::copy_file(paths_.blob(info.blob_id), paths_.blobs_tmp() / info.blob_id);
  std::filesystem::resize_file(paths_.blobs_tmp() / info.blob_id, 2);
  Reopen();
  EXPECT_EQ(TemporaryFiles(), 0U);
  EXPECT_EQ(Read("b", "k"), "bytes");
  EXPECT_EQ(Read("b", "copy"), "bytes");
}

TEST_F(SettlerTest, LaterAnswersSayTheSame) {
  std::vector<std::string> said(3);
  std::atomic<int> answered{0};
  const auto put = [&](std::size_t i, std::string_view bucket, std::string_view key,
                       std::string_view data) {
    store_->PutLater(bucket, key, Uploaded(data), {}, [&, i](const Result<ObjectInfo>& info) {
      said[i] = info ? info->etag : info.error().message;
      ++answered;
    });
  };
  put(0, "b", "small", "bytes");
  put(1, "b", "large", std::string(100'000, 'l'));
  put(2, "none", "k", "bytes");
  while (answered.load() < 3) std::this_thread::yield();
  EXPECT_EQ(said[0], store_->Head("b", "small")->etag);
  EXPECT_EQ(said[1], store_->Head("b", "large")->etag);
  EXPECT_EQ(said[2].substr(0, 6), "bucket");
  EXPECT_EQ(Read("b", "small"), "bytes");
  store_.reset();
  Reopen();
  EXPECT_EQ(BlobFiles(), 2U);
}

}  // namespace
}  // namespace sabia::objects
