// The sandbox of a program in the language of bubblewrap: namespaces, mounts, environment.
//
// The program sees /usr and the few files of /etc that a C library, Python and TLS need, read-only;
// /opt/ml, /tmp and /root of its own; its own process list; no home directories, no file of the
// engine. The options hold secrets: they never become arguments of a process (program.h).
//
// Pure but for looking at which host files exist. Errors: kInvalidArgument for a checkpoint path
// that would cover a part of the system.
#pragma once

#include <string>
#include <vector>

#include "agent/environment.h"
#include "agent/layout.h"
#include "agent/system_files.h"

namespace sabia::agent {

struct SandboxPaths {
  Path bwrap = "/usr/bin/bwrap";
  Path self_exe;                         // bound as /opt/sabia/bin/sabia for built-in algorithms
  const SharedSystem* shared = nullptr;  // instead of a system of the job's own
};

struct ReadOnlyView {
  Path source;
  std::string target;  // in the sandbox
};

// Options in the order in which they are applied.
Result<std::vector<std::string>> SandboxOptions(const model::InstanceSpec& spec,
                                                const Layout& layout, const SandboxPaths& paths,
                                                const std::vector<ReadOnlyView>& views);

// What the options refer to beside the instance's tree: the pool's caches, unless they came with
// the agent; below scratch/: hosts, system/etc and system/bin, unless they are shared.
Status PrepareSandboxFiles(const model::InstanceSpec& spec, const Layout& layout,
                           const SandboxPaths& paths, bool may_mount);

// Where an agent's own small files lie in a shared system.
Path SharedConfig(const SharedSystem& shared);  // /opt/ml/input/config
Path SharedHosts(const SharedSystem& shared);   // /etc/hosts

Status WriteHosts(const model::InstanceSpec& spec, const Path& file);

// /etc/hosts: every host of the job gets a loopback address of its own, the same on all of them.
// Distinct jobs get distinct addresses with high probability, so that programs which bind to their
// host name do not meet.
std::string HostsFile(const model::InstanceSpec& spec);

// Refuses what would hide or expose a part of the system; used for CheckpointConfig.LocalPath.
Status CheckSandboxPath(const std::string& path);

}  // namespace sabia::agent
