// One instance of a job as files: what the daemon asks of an agent, and what the agent tells.
//
// The directory of an instance (store/paths.h) holds three JSON files, each written atomically by
// one side and read by the other, so that either may die and come back at any moment:
//   spec.json    daemon → agent, once, before the agent starts. Mode 0600: it holds credentials.
//   orders.json  daemon → agent, replaced when orders change. The agent rereads it when poked or
//   once a second. report.json  agent → daemon, replaced at every step. The daemon rereads it when
//   poked or once a second.
// The agent holds an exclusive flock on `lock` for as long as it lives: a free lock without a final
// report means that the agent died. Pokes are empty datagrams with the instance id; losing one
// costs latency only.
//
// Times are UTC. Pure values; To/From JSON are total on what the other wrote and give kCorrupt on
// anything else.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"

namespace sabia::model {

enum class ImageKind {
  kXgboost,     // the built-in algorithm
  kPython,      // script mode on the host's interpreter, as the SageMaker training toolkit does it
  kEntrypoint,  // ContainerEntrypoint given: run that in the sandbox, nothing else
};

enum class InputMode { kFile, kFastFile, kPipe };

struct ChannelSpec {
  std::string name;
  InputMode mode = InputMode::kFile;
  std::string content_type;                      // "" when not given
  std::string distribution = "FullyReplicated";  // as inputdataconfig.json prints it
  std::string record_wrapper = "None";
  std::string compression = "None";
  std::string s3_uri;  // for messages
  // AugmentedManifestFile: which attributes of a line are streamed, in order. Not empty means that
  // the listing names the manifest itself. Pipe only.
  std::vector<std::string> attributes;
  std::optional<std::int64_t> shuffle_seed;  // of ShuffleConfig
  // What of the listing is this host's: every share_hosts-th item from share_host on, of the
  // shuffled order when there is a seed. A listing of one share only has 0 of 1.
  std::int64_t share_host = 0;
  std::int64_t share_hosts = 1;
  // Name of the listing file beside spec.json: JSON lines {"path","size","bucket","key","etag"},
  // with "blob" (absolute path to hard-link) for objects of the embedded store. Paths are relative,
  // normalised and checked: no "..", no empty component, no clash of a file with a directory.
  std::string listing;
};

struct GroupSpec {
  std::string name;
  std::string instance_type;
  std::vector<std::string> hosts;
};

struct MetricDefinition {
  std::string name;
  std::string regex;
};

struct InstanceSpec {
  std::string id;
  std::string job_name;
  std::string job_arn;
  std::string region;
  std::string account;
  std::string role_arn;
  int attempt = 1;
  std::string host;                // "algo-1"
  std::vector<std::string> hosts;  // all hosts of the job, sorted as text
  std::string instance_type;
  std::string group = "homogeneousCluster";
  std::vector<GroupSpec> groups;

  ImageKind image = ImageKind::kPython;
  std::string image_uri;
  std::vector<std::string> entrypoint;  // ContainerEntrypoint; empty: the image's own
  std::vector<std::string> arguments;   // ContainerArguments; empty: "train"
  std::map<std::string, std::string> hyperparameters;
  std::map<std::string, std::string> environment;  // the request's, plus what the image kind adds
  std::vector<ChannelSpec> channels;
  std::vector<MetricDefinition> metrics;
  // Further files of /opt/ml/input/config, name → content (debughookconfig.json,
  // trainingjobconfig.json, …).
  std::map<std::string, std::string> config_files;

  std::string checkpoint_s3_uri;  // "" when the job has no CheckpointConfig
  std::string checkpoint_local_path = "/opt/ml/checkpoints";
  std::int64_t checkpoints_keep = 0;  // opt-in: S3 holds at most so many of a series; 0: all
  std::string model_s3_uri;           // …/output/model.tar.gz, or …/output/model/ uncompressed
  std::string output_s3_uri;          // …/output/output.tar.gz, or …/output/data/
  bool compress = true;
  // True on single-instance jobs: upload right after the program, without waiting for orders.
  bool upload_on_exit = true;

  double vcpus = 1;
  std::int64_t memory_bytes = 0;  // 0: no limit
  bool network_isolation = false;
  Millis run_limit{0};                // what is left of MaxRuntimeInSeconds; 0: none
  Millis stop_grace{120'000};         // between SIGTERM and SIGKILL
  bool signal_all_processes = false;  // opt-in: SIGTERM reaches every process of the program

  std::string log_group;    // "/aws/sagemaker/TrainingJobs"
  std::string log_stream;   // "<job>/algo-1-<epoch seconds>"
  std::string log_file;     // absolute
  std::string wake_socket;  // absolute; of the daemon
  std::string python;       // absolute path of the host's interpreter for script mode

  std::string client_data;    // directory for AWS_DATA_PATH: endpoints for older clients
  std::string ca_bundle;      // file for AWS_CA_BUNDLE
  std::string endpoint;       // "http://127.0.0.1:9000", when the agent was started
  std::string endpoint_file;  // where the daemon says its address now; "": always at endpoint
  std::string access_key_id;  // of the job's role session
  std::string secret_access_key;
  std::string session_token;
  // Buckets of the job that live elsewhere, by name: how to reach each (wire/external_buckets.h).
  json::object external_buckets;
  std::string cache;             // directory of objects of such buckets, shared by all instances
  std::int64_t cache_bytes = 0;  // kept there when no job uses them
  std::int64_t fastfile_bytes = std::int64_t{256} << 20;  // of memory, for all FastFile channels
  std::int64_t fastfile_disk_bytes = 0;                   // … and of disk, for their next epochs
  std::int64_t volume_bytes = 0;  // VolumeSizeInGB: what downloaded channels may take; 0: no limit

  json::object ToJson() const;
  static Result<InstanceSpec> FromJson(const json::object& document);
};

enum class StopReason {
  kNone,
  kRequested,    // StopTrainingJob
  kInterrupted,  // spot reclaim: flush checkpoints, upload no artifacts
  kMaxRuntime,   // the agent's own timer
  kMaxWait,
  kPeerLost,     // another host of the job failed or vanished
  kInputFailed,  // the agent's own: a channel's data cannot be read any further
};

struct Orders {
  StopReason stop = StopReason::kNone;  // SIGTERM, grace, SIGKILL
  std::optional<WallTime> kill_at;      // latest SIGKILL; default now + stop_grace
  bool upload = false;  // after the program ended on all hosts: upload model and output …
  std::vector<std::string> merge_from;  // … merged with these instance directories
  bool dismiss = false;                 // clean up the sandbox and exit

  json::object ToJson() const;
  static Result<Orders> FromJson(const json::object& document);
};

enum class AgentPhase {
  kPreparing,    // directories, code, restoring checkpoints
  kDownloading,  // channels
  kTraining,     // the program runs
  kStopping,     // SIGTERM was sent
  kExited,       // the program ended on this host; waiting for orders when upload_on_exit is false
  kUploading,    // artifacts, last checkpoint flush
  kDone,         // final: nothing of the instance runs any more
};

struct FinalMetric {
  std::string name;
  double value = 0;
  WallTime time;

  json::object ToJson() const;
  static Result<FinalMetric> FromJson(const json::object& document);
};

// How a channel's data reached the program. Channels of files have their numbers from the start;
// those of pipes and streams grow. Times are of the agent's side of the pipes.
struct ChannelReport {
  std::string name;
  InputMode mode = InputMode::kFile;
  // "view" (links, nothing was copied), "copy", "download", "pipe", "stream" (fetched when read)
  std::string way;
  std::int64_t hosts = 1;
  std::int64_t objects = 0;
  std::int64_t bytes = 0;
  std::int64_t epochs = 0;            // of Pipe: opened by the program
  std::int64_t epochs_delivered = 0;  // … given to the end
  std::int64_t epochs_cut = 0;        // … closed early by the program
  Millis unopened{0};                 // the program read no epoch
  Millis starved{0};  // the pipe was empty: the program, if it read, waited for data
  Millis blocked{0};  // the pipe was full: data waited for the program
  Millis served{0};   // an epoch was open
  // Of "stream", whose objects and bytes are those that were read: requests of the program's
  // kernel, those whose bytes were there already, bytes that came from the endpoint.
  std::int64_t reads = 0;
  std::int64_t hits = 0;
  std::int64_t fetched = 0;

  json::object ToJson() const;
  static Result<ChannelReport> FromJson(const json::object& document);
};

// Adds what another host or attempt did to the channel of the same name and mode, or as a new one.
void AddChannel(std::vector<ChannelReport>& sum, const ChannelReport& one);

struct Report {
  AgentPhase phase = AgentPhase::kPreparing;
  int pid = 0;  // of the agent
  // When each phase began; absent phases were skipped or are still to come.
  std::map<AgentPhase, WallTime> began;
  // How the program ended; all absent while it runs or when it never ran.
  std::optional<int> exit_code;
  std::optional<int> signal;
  bool out_of_memory = false;
  StopReason stopped_for = StopReason::kNone;  // why SIGTERM was sent
  bool ended_in_grace = false;                 // before SIGKILL
  std::string failure_file;                    // first 1024 characters of /opt/ml/output/failure
  std::vector<std::string> last_lines;         // of the log, newest last, at most 5
  // The agent's own failure: user_error makes it a ClientError, otherwise InternalServerError. ""
  // when none.
  std::string error;
  bool error_is_users = false;
  std::int64_t restored_files = 0;  // from the checkpoint prefix
  std::int64_t restored_bytes = 0;
  std::optional<WallTime> checkpoint_synced_at;
  // When the program wrote the newest file that is in S3 by now.
  std::optional<WallTime> checkpoint_written_at;
  std::int64_t checkpoint_pending_bytes = 0;
  std::int64_t checkpoint_files = 0;
  bool model_uploaded = false;
  std::vector<FinalMetric> metrics;  // last value per metric
  std::vector<ChannelReport> channels;
  std::vector<std::string> notes;  // "memory limit not enforced: …"

  json::object ToJson() const;
  static Result<Report> FromJson(const json::object& document);
};

std::string_view Name(AgentPhase phase);
std::string_view Name(StopReason reason);
std::optional<StopReason> ParseStopReason(std::string_view name);
std::string_view Name(ImageKind kind);
std::string_view Name(InputMode mode);  // "File", "FastFile", "Pipe"

}  // namespace sabia::model
