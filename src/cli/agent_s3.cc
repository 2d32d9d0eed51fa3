#include "cli/agent_s3.h"

#include <functional>
#include <map>
#include <mutex>

#include "cli/endpoint.h"
#include "env/posix/posix_files.h"
#include "wire/external_buckets.h"
#include "wire/routed_s3_client.h"

namespace sabia::cli {
namespace {

constexpr std::size_t kUploadsAtOnce = 8;

// The daemon may come back on another port.
std::function<Result<std::string>()> LocateDaemon(const std::string& endpoint_file) {
  if (endpoint_file.empty()) return {};
  const store::Paths paths(env::Path(endpoint_file).parent_path());
  return [paths]() -> Result<std::string> {
    env::PosixFiles files;
    ASSIGN_OR_RETURN(EndpointFile endpoint, ReadEndpoint(files, paths));
    return std::move(endpoint.http);
  };
}

// Thread-safe: clients are made by many threads.
class Endpoints {
 public:
  explicit Endpoints(env::Clock& clock) : clock_(clock) {}

  static std::string Name(const model::InstanceSpec& spec, const std::string& bucket) {
    const json::object* outside = FindObject(spec.external_buckets, bucket);
    return outside == nullptr ? std::string() : json::serialize(*outside);
  }

  Result<wire::S3Endpoint> Of(const model::InstanceSpec& spec, const std::string& bucket) {
    const json::object* outside = FindObject(spec.external_buckets, bucket);
    if (outside == nullptr) return Daemon(spec);
    const std::lock_guard lock(mutex_);
    const std::string name = json::serialize(*outside);
    const auto known = open_.find(name);
    if (known != open_.end()) return known->second;
    ASSIGN_OR_RETURN(const auto endpoint, wire::ExternalEndpoint::FromJson(*outside));
    return open_.emplace(name, endpoint.Open(clock_)).first->second;
  }

 private:
  static wire::S3Endpoint Daemon(const model::InstanceSpec& spec) {
    wire::S3Endpoint endpoint;
    endpoint.url = spec.endpoint;
    endpoint.region = spec.region;
    endpoint.access_key_id = spec.access_key_id;
    endpoint.secret_access_key = spec.secret_access_key;
    endpoint.session_token = spec.session_token;
    endpoint.locate = LocateDaemon(spec.endpoint_file);
    return endpoint;
  }

  env::Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, wire::S3Endpoint> open_;
};

}  // namespace

agent::ConnectS3 MakeAgentS3(env::Clock& clock) {
  const auto endpoints = std::make_shared<Endpoints>(clock);
  return [endpoints, &clock](const model::InstanceSpec& spec,
                             Millis patience) -> Result<std::unique_ptr<wire::S3Client>> {
    wire::S3Route route;
    route.name = [&spec](const std::string& bucket) { return Endpoints::Name(spec, bucket); };
    route.connect = [endpoints, &spec, &clock, patience](
                        const std::string& bucket) -> Result<std::unique_ptr<wire::S3Client>> {
      ASSIGN_OR_RETURN(wire::S3Endpoint endpoint, endpoints->Of(spec, bucket));
      // Outside, a connection has its own limit; the daemon is on this machine.
      const std::size_t uploads = endpoint.keys ? kUploadsAtOnce : 1;
      return wire::S3Client::Create(std::move(endpoint),
                                    {.patience = patience, .upload_connections = uploads}, clock);
    };
    return wire::MakeRoutedS3Client(std::move(route));
  };
}

void LoadAgentS3(env::Clock& clock) {
  model::InstanceSpec spec;
  spec.endpoint = "http://127.0.0.1:0";  // where nobody can listen
  spec.region = "us-east-1";
  spec.access_key_id = spec.secret_access_key = "-";
  const auto client = MakeAgentS3(clock)(spec, Millis(0));
  if (client) (void)(*client)->Put({"bucket", "key"}, "");
}

}  // namespace sabia::cli
