// A FIFO below a directory that a program may write to, made by us and opened by its inode:
// whatever the program puts in its place later is not what we open.
//
// Threading: AwaitReader on one thread, Release on another; thread-compatible otherwise. Errors: as
// errno says; kConflict when something is in the way that cannot be replaced.
#pragma once

#include <string>

#include "base/result.h"
#include "env/posix/posix_files.h"

namespace sabia::channels {

class Fifo {
 public:
  // name: a plain name. What is in its place is removed, unless it is a directory.
  static Result<Fifo> Make(int directory, std::string name);

  // The end for writing: blocks until somebody opens the other one, or until Release.
  Result<env::UniqueFd> AwaitReader();
  // Lets AwaitReader return, now or when it is called.
  void Release();
  // Takes the name away, if it still is this FIFO's.
  void Remove(int directory);

 private:
  Fifo(std::string name, env::UniqueFd inode) : name_(std::move(name)), inode_(std::move(inode)) {}

  std::string name_;
  env::UniqueFd inode_;   // O_PATH
  env::UniqueFd reader_;  // ours, of Release
};

}  // namespace sabia::channels
