// The files of /etc and /opt/sabia/bin in a sandbox.
//
// Made for one job below its scratch/, or once for all that are forked from one process
// (SharedSystem): two dozen files and a mount that a trivial job need not wait for. A shared system
// lies in memory, in a mount namespace that only its maker and what it forks can see, and goes with
// the last of them.
//
// Its size is limited, and programs can write to what is bound from it: who finds it full makes do
// without.
//
// Threading: thread-compatible.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "agent/layout.h"
#include "model/instance.h"

namespace sabia::agent {

// All but /etc/hosts, which is an empty file. The directory exists.
Status WriteEtc(const Path& etc);
// `python` and `pip` by name; nothing without a python. The directory exists.
Status WriteBin(const std::string& python, const Path& bin);
// Views of the machine's own trees, as paths below /etc: mount points in what WriteEtc made.
std::vector<std::string> EtcViews();

class SharedSystem {
 public:
  // Enters a mount namespace, so there is one thread. place: an existing directory, which is hidden
  // in that namespace. python: of the jobs that may use it.
  static Result<SharedSystem> Make(const Path& place, const std::string& python);

  // Whether the job may use it: its interpreter is the same, and no file was changed since.
  bool Fits(const model::InstanceSpec& spec) const;
  Path etc() const { return root_ / "etc"; }  // with the views in place
  Path bin() const { return root_ / "bin"; }

  // A place for the small files of the calling process, which has made it its own.
  Path own() const { return OwnOf(::getpid()); }
  Status MakeOwn() const;
  // What a process that ended has left there.
  void Forget(int pid) const;

 private:
  struct Stamp {
    std::int64_t modified_ns = -1;  // -1: there is none
    off_t size = 0;
    ino_t inode = 0;
    bool operator==(const Stamp&) const = default;
  };
  SharedSystem(Path root, std::string python)
      : root_(std::move(root)), python_(std::move(python)) {}
  static std::vector<Stamp> Stamps();
  Path OwnOf(int pid) const { return root_ / "own" / std::to_string(pid); }

  Path root_;
  std::string python_;
  std::vector<Stamp> stamps_;
};

}  // namespace sabia::agent
