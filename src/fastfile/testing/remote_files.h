// Files at a small S3 in memory with faults, as a tree and an engine see them. For tests.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/check.h"
#include "env/posix/posix_clock.h"
#include "fastfile/prefetch_engine.h"
#include "wire/testing/bytes.h"
#include "wire/testing/memory_s3_server.h"

namespace sabia::fastfile {

using Files = std::map<std::string, std::string>;

class RemoteFiles {
 public:
  // path → content; all of one channel, "train".
  explicit RemoteFiles(Files files) : files_(std::move(files)) {
    std::vector<channels::ListedObject> objects;
    for (const auto& [path, content] : files_) {
      server.s3.objects["/bucket/in/" + path] = content;
      names_.push_back(path);
      objects.push_back({.path = path,
                         .size = content.size(),
                         .bucket = "bucket",
                         .key = "in/" + path,
                         .etag = "e1",
                         .modified = FromUnixMillis(1'600'000'000'000)});
    }
    FileTree::Builder builder;
    builder.AddChannel("train", std::move(objects));
    auto built = std::move(builder).Build();
    CHECK(built);
    tree = std::move(*built);
  }

  PrefetchEngine& Start(EngineOptions options) {
    engine_ = std::make_unique<PrefetchEngine>(
        tree, [this] { return server.Connect(); }, clock_, options);
    return *engine_;
  }
  void Stop() { engine_.reset(); }

  // By number of the file: the order of the paths.
  const std::string& content(std::uint32_t file) const { return files_.at(names_[file]); }
  const std::string& name(std::uint32_t file) const { return names_[file]; }

  wire::MemoryS3Server server;
  FileTree tree;

 private:
  const Files files_;
  std::vector<std::string> names_;
  env::PosixClock clock_;
  std::unique_ptr<PrefetchEngine> engine_;
};

// A read of the engine as a call that blocks.
struct Bytes {
  int error = -1;
  std::string data;
};

class BlockingRead {
 public:
  BlockingRead(PrefetchEngine& engine, PrefetchEngine::Handle* handle, Range range) {
    engine.Read(handle, range, this, [this](int error, std::span<const iovec> data) {
      const std::lock_guard lock(mutex_);
      out_.error = error;
      for (const iovec& piece : data)
        out_.data.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
      done_ = true;
      changed_.notify_all();
    });
  }
  Bytes Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
    return out_;
  }
  bool done() {
    const std::lock_guard lock(mutex_);
    return done_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  Bytes out_;
};

inline Bytes Read(PrefetchEngine& engine, PrefetchEngine::Handle* handle, Range range) {
  return BlockingRead(engine, handle, range).Wait();
}

}  // namespace sabia::fastfile
