// The process beside a program: one instance of a job, from its directory to its last report.
//
// The agent prepares /opt/ml, runs the program in a sandbox, carries its log and metrics, keeps its
// checkpoints in S3, stops it when told or when its time is over, uploads what it leaves, and says
// how it ended. It talks to the daemon through the files of its directory only (model/instance.h),
// so the daemon may die and come back at any moment. When the agent itself dies, the kernel ends
// the program and forgets the mounts; the free lock tells the daemon.
//
// An agent of a job that keeps its instances alive stays after its last report, and may be called
// to the directory of another instance, of another job (waiting_room.h).
//
// Threading: RunAgent is called on the main thread of a process of its own, before any other thread
// exists; again only when the call before says that the process is fit for it.
#pragma once

#include <functional>
#include <memory>

#include "agent/hook.h"
#include "env/clock.h"
#include "store/log_store.h"

namespace sabia::agent {

struct AgentOptions {
  env::Path directory;  // of the instance
  SandboxPaths paths;
};

struct AgentParts {
  env::Clock& clock;
  ConnectS3 connect;
  std::function<Result<std::unique_ptr<store::LogWriter>>(const env::Path& stream_file)> open_log;
};

struct AgentEnd {
  // For the process: 0 when the final report is written, whatever it says; 1 when the directory
  // cannot be used (no spec, another agent lives in it).
  int status = 0;
  // The process has one thread, no child, the mounts and the user that it began with, and few open
  // descriptors.
  bool as_before = false;
};
AgentEnd RunAgent(const AgentOptions& options, const AgentParts& parts);

}  // namespace sabia::agent
