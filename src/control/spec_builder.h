// The specification of an instance, from the job's record: what the agent must know to run its
// share.
//
// A function of its arguments: the same record gives the same specification, so that one lost in a
// crash is made again. Pure; any thread. Errors: kInvalidArgument for an image that nobody knows (a
// record from before the image was dropped).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "control/channel_inputs.h"
#include "control/ports.h"
#include "model/instance_record.h"
#include "plan/training_snapshot.h"
#include "store/paths.h"

namespace sabia::control {

// What every specification of this daemon says alike.
struct SpecSettings {
  std::string endpoint;  // "http://127.0.0.1:9000"
  std::string python = "/usr/bin/python3";
  Millis stop_grace{120'000};
  std::int64_t cache_bytes = std::int64_t{20} << 30;      // of objects outside, kept between jobs
  std::int64_t fastfile_bytes = std::int64_t{256} << 20;  // of memory, per instance
  std::int64_t fastfile_disk_bytes = 0;                   // of disk, per instance
  std::string imds;  // URL of the machine's instance metadata, for spot instances; "": not asked
};

struct SpecInput {
  const model::TrainingJob& job;
  const std::vector<model::InstanceRecord>& hosts;  // of the attempt, by number
  const model::InstanceRecord& self;
  HostChannels channels;
  RoleSession session;
};

// The buckets that the agent will ask for by name: outputs, checkpoints, source code, and objects
// of channels that are no files of this machine.
std::set<std::string> BucketsOf(const model::InstanceSpec& spec, const HostChannels& channels);

Result<fleet::Preparation> BuildSpec(const SpecInput& input, const SpecSettings& settings,
                                     const store::Paths& paths);

// Set to "1" or "true" in a job's Environment: SIGTERM reaches every process of the program, so
// that a first process that does not pass signals on cannot keep it from the script.
inline constexpr std::string_view kSignalAllVariable = "SABIA_SIGNAL_ALL_PROCESSES";
// Set to a number from 1 on: so many checkpoints of a series stay in S3
// (channels/checkpoint_sync.h).
inline constexpr std::string_view kKeepVariable = "SABIA_CHECKPOINTS_KEEP";

}  // namespace sabia::control
