// The aspects of an instance as an ordered list: each prepares something before the program starts
// and cleans it up.
//
// Prepare runs in the order of the list; when one fails, the program does not start. Cleanup runs
// in reverse over all hooks, also over those that were never prepared: it copes with what it does
// not find, and with repetition.
//
// Threading: Prepare on a worker thread, one hook after the other, while the main thread does not
// touch the Instance, or, of a quick hook, on the main thread; Cleanup on the main thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/fast_set.h"
#include "agent/layout.h"
#include "agent/pipe_set.h"
#include "agent/sandbox.h"
#include "channels/checkpoint_sync.h"
#include "env/clock.h"
#include "model/instance.h"
#include "wire/s3_client.h"

namespace sabia::agent {

// A new client per caller: clients are not shared between threads. patience: how long one call may
// retry.
using ConnectS3 = std::function<Result<std::unique_ptr<wire::S3Client>>(
    const model::InstanceSpec& spec, Millis patience)>;

struct Instance {
  const model::InstanceSpec& spec;
  Layout layout;
  env::Clock& clock;
  ConnectS3 connect;
  SandboxPaths paths;

  std::atomic<bool> cancelled{false};  // stop early: the instance is to end

  // Why mounts cannot be made; "" when they can.
  std::string no_mounts;
  // What hooks found out, for the sandbox and for the report.
  std::vector<ReadOnlyView> views;
  std::vector<std::string> command;
  std::vector<std::string> user_command;  // script mode: without pip, for messages
  std::vector<std::string> notes;
  std::unique_ptr<channels::CheckpointSync> checkpoints;  // of jobs with a CheckpointConfig
  std::unique_ptr<PipeSet> pipes;                         // of jobs with Pipe channels
  std::unique_ptr<FastFileSet> fast;           // of jobs with FastFile channels from outside
  std::vector<model::ChannelReport> channels;  // the others
  std::int64_t restored_files = 0;
  std::int64_t restored_bytes = 0;

  // Those of pipes and fast that are there.
  std::vector<StreamSet*> Streams() const {
    std::vector<StreamSet*> out;
    if (pipes) out.push_back(pipes.get());
    if (fast) out.push_back(fast.get());
    return out;
  }
};

class Hook {
 public:
  virtual ~Hook() = default;
  virtual std::string_view name() const = 0;
  virtual model::AgentPhase phase() const { return model::AgentPhase::kPreparing; }
  // Prepare takes no longer than a few small files on the local disk: no network, no user's data.
  virtual bool quick(const model::InstanceSpec&) const { return false; }
  virtual Status Prepare(Instance& instance) = 0;
  virtual void Cleanup(Instance& instance) = 0;
  // Whether a failure with this code is the job's fault (ClientError) and not the engine's.
  virtual bool IsUsersFault(ErrorCode code) const { return code == ErrorCode::kInvalidArgument; }
};

// Of a channel's data.
inline bool IsUsersDataFault(ErrorCode code) {
  return code == ErrorCode::kInvalidArgument || code == ErrorCode::kNotFound ||
         code == ErrorCode::kDenied || code == ErrorCode::kConflict ||
         code == ErrorCode::kUnimplemented;
}

// In the order of preparation.
std::vector<std::unique_ptr<Hook>> AllHooks(const model::InstanceSpec& spec);

// The parts of AllHooks.
std::unique_ptr<Hook> MakeTreeHook();        // /opt/ml and its contract files
std::unique_ptr<Hook> MakeSandboxHook();     // scratch files, bin/python
std::unique_ptr<Hook> MakeCheckpointHook();  // restores the checkpoint prefix
std::unique_ptr<Hook> MakeChannelHook();     // input data
std::unique_ptr<Hook> MakeCodeHook();        // script mode's source; decides the command

}  // namespace sabia::agent
