// Directories of instances that are over, kept for the next ones: a trivial job leaves its two
// dozen directories as it found them, and making and removing them costs more than anything else
// that the file system does for it.
//
// Kept is only what nobody can tell from new: the directories of model/instance_tree.h with their
// modes and owner, empty, without extended attributes or flags; the files of daemon and agent
// beside them are emptied or removed. A directory that was found so is as new for as long as it has
// not changed since, which its ctime tells. Spares are forgotten with the daemon, and removed by
// the next: after power loss nobody knows what is in them.
//
// Threading: thread-safe.
#pragma once

#include <sys/types.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "env/files.h"

namespace sabia::fleet {

class SpareDirectories {
 public:
  // place: a directory of our own, on the file system of the instances; made when it is needed.
  SpareDirectories(env::Files& files, env::Path place) : files_(files), place_(std::move(place)) {}

  // Takes the directory away, if it is as good as new. REQUIRES: nothing of the instance runs, but
  // for an agent about to end, whose lock is seen.
  bool Keep(const env::Path& directory);
  // Puts a spare there. False: there is none, or the directory exists.
  bool Give(const env::Path& directory);

 private:
  // When each directory of a tree changed last, and which it is.
  using Stamps = std::vector<std::pair<ino_t, std::int64_t>>;
  bool MakePlace();
  bool AsNew(int directory);
  static Stamps StampsOf(int directory);

  env::Files& files_;
  const env::Path place_;
  std::mutex mutex_;
  bool made_ = false;               // guarded by mutex_
  std::vector<std::string> names_;  // guarded by mutex_
  std::map<ino_t, Stamps> as_new_;  // by directory; guarded by mutex_
};

}  // namespace sabia::fleet
