// An object store in a fresh directory, and short forms of what tests do with it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "env/posix/posix_random.h"
#include "env/testing/manual_clock.h"
#include "env/testing/temporary_directory.h"
#include "objects/object_store.h"

namespace sabia::objects::testing {

class StoreFixture : public ::testing::Test {
 protected:
  StoreFixture() { Reopen(); }

  // As a restart of the process does.
  void Reopen() {
    store_.reset();
    auto opened = ObjectStore::Open({.paths = paths_}, clock_, random_);
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = std::move(*opened);
  }

  std::unique_ptr<Upload> Uploaded(std::string_view data,
                                   std::vector<ChecksumAlgorithm> algorithms = {
                                       ChecksumAlgorithm::kCrc32}) {
    auto upload = store_->BeginUpload(std::move(algorithms));
    EXPECT_TRUE(upload) << upload.error().message;
    const Status written = (*upload)->Write(data);
    EXPECT_TRUE(written) << written.error().message;
    return std::move(*upload);
  }

  Result<ObjectInfo> Put(std::string_view bucket, std::string_view key, std::string_view data,
                         const PutOptions& options = {}) {
    return store_->Put(bucket, key, Uploaded(data), options);
  }

  static std::string Content(int fd) {
    std::string out;
    char buffer[65536];
    ssize_t n = 0;
    while ((n = ::pread(fd, buffer, sizeof buffer, static_cast<off_t>(out.size()))) > 0) {
      out.append(buffer, static_cast<std::size_t>(n));
    }
    return out;
  }

  // The bytes of an object, or "error: " and the message.
  std::string Read(std::string_view bucket, std::string_view key) {
    const auto opened = store_->Get(bucket, key);
    return opened ? Content(opened->fd.get()) : "error: " + opened.error().message;
  }

  // Files below blobs/, tmp included.
  std::size_t BlobFiles() const { return CountFiles(paths_.blobs()); }
  std::size_t TemporaryFiles() const { return CountFiles(paths_.blobs_tmp()); }

  env::TemporaryDirectory directory_;
  store::Paths paths_{directory_.path()};
  env::ManualClock clock_;
  env::PosixRandom random_;
  std::unique_ptr<ObjectStore> store_;

 private:
  static std::size_t CountFiles(const env::Path& root) {
    std::size_t out = 0;
    std::error_code ec;  // files vanish while we look
    for (std::filesystem::recursive_directory_iterator it(root, ec), end; !ec && it != end;
         it.increment(ec)) {
      if (it->is_regular_file(ec)) ++out;
    }
    return out;
  }
};

}  // namespace sabia::objects::testing
