// An S3 endpoint as a directory: <root>/<bucket>/<key, percent-encoded>. Shared by every client of
// the same root, also across processes, so that a test can look at what an agent in a child process
// did.
//
// Faults are files beside the buckets: while <root>/away exists, every call fails with
// kUnavailable.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "env/posix/posix_files.h"
#include "wire/s3_client.h"

namespace sabia::wire {

class FakeS3Client final : public S3Client {
 public:
  explicit FakeS3Client(env::Path root) : root_(std::move(root)) {}

  Status MakeBucket(const std::string& bucket) { return files_.MakeDirectories(root_ / bucket); }
  void SetAway(bool away) {
    if (away) {
      (void)files_.WriteAtomically(root_ / "away", "", {.durability = env::Durability::kVolatile});
    } else {
      (void)files_.RemoveTree(root_ / "away");
    }
  }

  Result<std::vector<S3Object>> List(const std::string& bucket,
                                     const std::string& prefix) override {
    RETURN_IF_ERROR(Check(bucket));
    ASSIGN_OR_RETURN(const std::vector<std::string> names, files_.List(root_ / bucket));
    std::vector<S3Object> out;
    for (const std::string& name : names) {
      if (name.find(".tmp") != name.npos) continue;
      ASSIGN_OR_RETURN(std::string key, UriDecode(name));
      if (!key.starts_with(prefix)) continue;
      struct stat info {};
      if (::stat((root_ / bucket / name).c_str(), &info) != 0) continue;
      out.push_back({std::move(key), static_cast<std::uint64_t>(info.st_size), "\"fake\"",
                     FromUnixMillis(info.st_mtim.tv_sec * 1000)});
    }
    std::sort(out.begin(), out.end(),
              [](const S3Object& a, const S3Object& b) { return a.key < b.key; });
    return out;
  }

  Result<S3Page> ListPage(const S3PageQuery& query) override {
    ASSIGN_OR_RETURN(S3Page page, List(query.bucket, query.prefix).map([](auto objects) {
      return S3Page{std::move(objects), ""};
    }));
    std::erase_if(page.objects,
                  [&](const S3Object& each) { return each.key <= query.start_after; });
    return page;
  }

  Result<S3Object> Head(const S3Location& what) override {
    ASSIGN_OR_RETURN(const std::string content, Get(what, std::size_t{1} << 30));
    return S3Object{what.key, content.size(), "\"fake\"", {}};
  }

  Status Read(const S3Range& range, const S3Sink& sink) override {
    ASSIGN_OR_RETURN(const std::string content, Get(range.from, std::size_t{1} << 30));
    if (range.offset + range.length > content.size())
      return Fail(ErrorCode::kConflict, "the object is shorter");
    return sink(std::string_view(content).substr(range.offset, range.length));
  }

  Result<std::string> Get(const S3Location& from, std::size_t limit) override {
    RETURN_IF_ERROR(Check(from.bucket));
    return files_.Read(File(from), limit);
  }

  Status Download(const S3Location& from, const env::Path& target) override {
    ASSIGN_OR_RETURN(const std::string content, Get(from, std::size_t{1} << 30));
    return files_.WriteAtomically(target, content, {.durability = env::Durability::kVolatile});
  }

  Status Put(const S3Location& to, std::string_view content) override {
    RETURN_IF_ERROR(Check(to.bucket));
    return files_.WriteAtomically(File(to), content, {.durability = env::Durability::kVolatile});
  }

  Status Upload(const env::Path& source, const S3Target& to) override {
    ASSIGN_OR_RETURN(const std::string content, files_.Read(source, std::size_t{1} << 30));
    return Put(to, content);
  }

  Status Delete(const S3Location& what) override {
    RETURN_IF_ERROR(Check(what.bucket));
    return files_.RemoveTree(File(what));
  }

 private:
  env::Path File(const S3Location& at) const { return root_ / at.bucket / UriEncode(at.key); }

  Status Check(const std::string& bucket) {
    if (files_.Exists(root_ / "away").value_or(false))
      return Fail(ErrorCode::kUnavailable, "the endpoint is away");
    if (!files_.Exists(root_ / bucket).value_or(false)) {
      return Fail(ErrorCode::kNotFound, "NoSuchBucket: no bucket '{}'", bucket);
    }
    return {};
  }

  const env::Path root_;
  env::PosixFiles files_;
};

}  // namespace sabia::wire
