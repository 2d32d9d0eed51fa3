// Every effect that a controller has on the world outside its memory, as small interfaces.
//
// Production wires the adapters of adapters.h; tests and the simulator wire fakes that count
// effects and fail, or die, at any of them. Every effect may be repeated: doing it twice is the
// same as once.
//
// Threading: implementations are thread-safe; calls may block.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/clock.h"
#include "fleet/instance_files.h"
#include "fleet/launcher.h"
#include "model/training_job.h"
#include "store/resources.h"
#include "store/series.h"

namespace sabia::control {

// The part of store::Resources that controllers use; same promises and errors.
class Records {
 public:
  virtual ~Records() = default;
  virtual Result<store::Resource> Get(store::Kind kind, std::string_view name) = 0;
  virtual Result<std::vector<store::Resource>> Live(store::Kind kind) = 0;
  virtual Result<std::vector<store::Resource>> Children(store::Kind kind,
                                                        std::string_view parent) = 0;
  virtual Status Commit(const std::vector<store::Change>& changes) = 0;
};

// One file of a channel.
struct ChannelFile {
  std::string path;  // below the channel's directory; safe
  std::uint64_t size = 0;
  std::string blob;    // absolute path of the object's file
  std::string bucket;  // where it comes from, and which version it is
  std::string key;
  std::string etag;
  WallTime modified;
};

// Reads which objects a channel consists of. kNotFound, kInvalidArgument and kDenied are the user's
// fault and name the channel.
class ChannelSource {
 public:
  virtual ~ChannelSource() = default;
  struct Query {
    std::string s3_uri;
    std::string data_type;      // S3DataType
    bool as_files = true;       // the objects become files, not streams
    std::string role_arn = {};  // who reads them
    // ShardedByS3Key: the share of one of several hosts.
    std::size_t host = 0;
    std::size_t hosts = 1;
  };
  virtual Result<std::vector<ChannelFile>> List(const Query& query) = 0;
  // How agents reach a bucket that lives at an endpoint outside; nothing for embedded ones. Secret.
  virtual Result<std::optional<json::object>> External(const std::string& bucket) {
    (void)bucket;
    return std::optional<json::object>();
  }
};

// Where metric points go, each exactly once; same promises and errors as store::Series.
class MetricSink {
 public:
  virtual ~MetricSink() = default;
  virtual Result<std::uint64_t> Offset(const std::string& source) = 0;
  struct Batch {
    std::string source;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::vector<store::Series::Sample> samples;
  };
  virtual Status Ingest(const Batch& batch) = 0;
};

struct RoleSession {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;
};

// Temporary credentials of a job's role. No effect outside, so it needs no repeating.
class SessionMinter {
 public:
  virtual ~SessionMinter() = default;
  virtual RoleSession Mint(const std::string& role_arn, const std::string& session_name,
                           WallTime expires) = 0;
};

struct Ports {
  Records& records;
  fleet::InstanceFiles& files;
  fleet::Launcher& launcher;
  ChannelSource& channels;
  MetricSink& metrics;
  SessionMinter& sessions;
  env::Clock& clock;
};

}  // namespace sabia::control
