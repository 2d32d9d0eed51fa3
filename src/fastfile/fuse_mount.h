// The tree of a job as a read-only file system of this machine, through FUSE.
//
// Promise: the mount lives in the mount namespace of the process and is served by it. When the
// process dies, however it dies, the kernel ends the connection: whoever waits for a read gets an
// error, nothing hangs, and the mount goes with the namespace. Everything that would write is
// refused with EROFS by the kernel itself.
//
// Nothing of the tree changes, so names, attributes and pages may stay in the kernel for as long as
// it likes: a file that was read once comes from the page cache while memory lasts.
//
// Threading: Mount and Stop on one thread; serves on threads of its own. Errors: kUnimplemented
// when the machine has no FUSE or does not let us use it, with the reason.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "env/posix/posix_files.h"
#include "fastfile/prefetch_engine.h"

struct fuse_session;

namespace sabia::fastfile {

class FuseMount {
 public:
  // target: an empty directory. Tree and engine outlive the mount.
  static Result<std::unique_ptr<FuseMount>> Mount(const FileTree& tree, PrefetchEngine& engine,
                                                  const env::Path& target);
  ~FuseMount();

  // Detaches, and ends the connection. The engine has been stopped, or nobody reads any more.
  void Stop();

  const FileTree& tree() const { return tree_; }
  PrefetchEngine& engine() const { return engine_; }

 private:
  FuseMount(const FileTree& tree, PrefetchEngine& engine, env::Path target)
      : tree_(tree), engine_(engine), target_(std::move(target)) {}
  Status Open();
  void Serve();

  const FileTree& tree_;
  PrefetchEngine& engine_;
  const env::Path target_;
  bool mounted_ = false;
  fuse_session* session_ = nullptr;
  env::UniqueFd stop_;  // eventfd
  std::vector<std::thread> threads_;
};

}  // namespace sabia::fastfile
