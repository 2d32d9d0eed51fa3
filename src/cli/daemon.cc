#include "cli/daemon.h"

#include <unistd.h>

#include <atomic>
#include <string>
#include <utility>

#include "api/cloudwatch.h"
#include "api/cost_explorer.h"
#include "api/iam.h"
#include "api/job_costs.h"
#include "api/job_data.h"
#include "api/job_record.h"
#include "api/logs.h"
#include "api/sts.h"
#include "api/tags.h"
#include "api/training_jobs.h"
#include "api/tuning_accounts.h"
#include "api/tuning_jobs.h"
#include "base/log.h"
#include "cli/aws_models.h"
#include "cli/endpoint.h"
#include "cli/price_files.h"
#include "cli/spot_prices.h"
#include "control/local_control.h"
#include "env/posix/posix_clock.h"
#include "env/posix/posix_files.h"
#include "env/posix/posix_random.h"
#include "fleet/posix/disk_instance_files.h"
#include "fleet/posix/machine.h"
#include "fleet/spot_markets.h"
#include "objects/bucket_source.h"
#include "s3/access.h"
#include "s3/api.h"
#include "s3/lifecycle_runner.h"
#include "store/home.h"
#include "store/ledger.h"
#include "store/log_store.h"
#include "store/resources.h"
#include "store/retention.h"
#include "store/series.h"
#include "store/state.h"
#include "wire/credentials.h"
#include "wire/dispatcher.h"
#include "wire/http_server.h"
#include "wire/schema.h"
#include "wire/tls.h"
#include "wire/tls_authority.h"

namespace sabia::cli {
namespace {

constexpr char kFirstRegion[] = "us-west-2";
constexpr std::size_t kMarketBytesMax = 256 << 20;
// The SageMaker SDK reads its defaults from here (cli/env_command.cc): nothing is reported to
// anyone.
constexpr char kSdkConfig[] =
    "SchemaVersion: '1.0'\nSageMaker:\n  PythonSDK:\n    Modules:\n      TelemetryOptOut: true\n";

class DaemonImpl final : public Daemon {
 public:
  explicit DaemonImpl(DaemonOptions options) : options_(std::move(options)) {}

  Status Start() {
    RETURN_IF_ERROR(OpenState());
    RETURN_IF_ERROR(OpenMarkets());
    RegisterActions();
    RETURN_IF_ERROR(Listen());
    RETURN_IF_ERROR(MakeControl());
    RETURN_IF_ERROR(Announce());
    return control_->Start();
  }

  // After a Start that failed: a home that it made goes again.
  void Discard() {
    control_.reset();
    server_.reset();
    objects_.reset();
    retention_.reset();
    state_.reset();
    if (home_) home_->Discard(files_);
  }

  const std::string& http_url() const override { return http_url_; }
  const std::string& https_url() const override { return https_url_; }

  void Stop(Millis grace) override {
    dispatcher_->SetReady(false);
    server_->Stop(grace);
    control_->Stop();
  }

 private:
  // Home, keys, databases: what was acknowledged before is here again.
  Status OpenState() {
    const std::string region = options_.region.empty() ? kFirstRegion : options_.region;
    ASSIGN_OR_RETURN(home_, store::Home::Open(options_.paths, files_, random_, region));
    ASSIGN_OR_RETURN(wire::AccessKey key,
                     wire::LoadOrCreateRootKey(files_, random_, options_.paths.credentials()));
    authority_ = std::make_unique<wire::CredentialAuthority>(std::move(key), home_->account().id);
    ASSIGN_OR_RETURN(prices_, ReadPriceLists(files_, options_.paths));
    ASSIGN_OR_RETURN(state_, store::OpenState(options_.paths));
    resources_ = std::make_unique<store::Resources>(*state_);
    ledger_ = std::make_unique<store::Ledger>(*state_);
    series_ = std::make_unique<store::Series>(*state_);
    retention_ = std::make_unique<store::Retention>(*state_, clock_);
    logs_ = std::make_unique<store::LogStore>(options_.paths, clock_);
    ASSIGN_OR_RETURN(objects_, objects::ObjectStore::Open({.paths = options_.paths,
                                                           .region = home_->account().region,
                                                           .account = home_->account().id},
                                                          clock_, random_));
    return OpenBuckets();
  }

  Status OpenBuckets() {
    objects::BucketsOptions options{.file = options_.paths.external_s3(),
                                    .environment = options_.keys};
    // A shell that took `sabia env` has our own keys: nobody outside knows them.
    if (options.environment.access_key_id == authority_->root().id) {
      options.environment.access_key_id.clear();
    }
    ASSIGN_OR_RETURN(buckets_,
                     objects::Buckets::Open(*objects_, std::move(options), files_, clock_));
    return {};
  }

  Status OpenMarkets() {
    const std::string& text = options_.spot_market;
    const env::Path file(text);
    fleet::SpotMarkets::Context context{.region = home_->account().region,
                                        .prices = SpotPrices(*prices_, clock_),
                                        // Files that the document names stand beside it.
                                        .read = [this, file](const std::string& name) {
                                          return files_.Read(file.parent_path() / name,
                                                             kMarketBytesMax);
                                        }};
    if (fleet::SpotMarkets::IsShortForm(text)) {
      auto markets = fleet::SpotMarkets::FromShortForm(text, std::move(context));
      if (!markets) return Wrap(std::move(markets).error(), "--spot-market");
      markets_ = std::move(*markets);
      return {};
    }
    const auto document = files_.Read(file, kMarketBytesMax);
    if (!document) {
      return Wrap(document.error(),
                  "--spot-market is none, command, poisson:mtbf=… or a readable file");
    }
    auto markets = fleet::SpotMarkets::FromDocument(*document, std::move(context));
    if (!markets) return Wrap(std::move(markets).error(), "--spot-market '" + text + "'");
    markets_ = std::move(*markets);
    return {};
  }

  void RegisterActions() {
    training_jobs_ = std::make_unique<api::TrainingJobs>(
        *resources_, *buckets_, random_,
        api::TrainingJobsOptions{.spot_notice = options_.spot_notice});
    api::RegisterTrainingJobs(actions_, *training_jobs_);
    tuning_jobs_ = std::make_unique<api::TuningJobs>(*resources_, *buckets_, random_);
    api::RegisterTuningJobs(actions_, *tuning_jobs_);
    api::RegisterTags(actions_, *resources_);
    api::RegisterLogs(actions_, *logs_);
    api::RegisterCloudWatch(actions_, *series_);
    api::RegisterSts(actions_, *authority_, random_);
    api::RegisterIam(actions_);
    api::RegisterCostExplorer(actions_, {*resources_, *ledger_, *prices_});
    lifecycle_ = std::make_unique<s3::LifecycleRunner>(*objects_, clock_);
    s3_ = std::make_unique<s3::S3Api>(
        *objects_, s3::S3ApiOptions{.lifecycle_changed = [this] { lifecycle_->Wake(); },
                                    .account = home_->account().id});
    dispatcher_ = std::make_unique<wire::Dispatcher>(
        wire::DispatcherParts{actions_, *s3_, *authority_, clock_, random_},
        wire::DispatcherOptions{.region = home_->account().region});
    dispatcher_->AddMetrics([this](wire::PrometheusText& out) {
      if (announced_.load()) WriteServerMetrics(out);
    });
    dispatcher_->AddExtension("/-/spot/interrupt", [this](const auto& context, const auto& input) {
      return training_jobs_->InterruptSpot(context, input);
    });
    dispatcher_->AddExtension("/-/spot/market", [this](const auto& context, const auto& input) {
      return DescribeMarket(context, input);
    });
    dispatcher_->AddExtension("/-/cost", [this](const auto& context, const auto& input) {
      const api::UsageParts usage{*resources_, *ledger_, *prices_};
      return input.contains("TrainingJobName") ? api::DescribeJobCost(usage, context, input)
                                               : api::DescribeCosts(usage, context, input);
    });
    const auto report_of = [this](const std::string& id) -> std::optional<model::Report> {
      auto seen = fleet::DiskInstanceFiles(files_, options_.paths).Observe(id, true);
      return seen ? std::move(seen->report) : std::nullopt;
    };
    dispatcher_->AddExtension("/-/data", [this, report_of](const auto&, const auto& input) {
      return api::DescribeJobData(*resources_, report_of, input);
    });
    dispatcher_->AddExtension("/-/tune/explain", [this](const auto&, const auto& input) {
      return api::ExplainTuningJob(*tuning_jobs_, input);
    });
    dispatcher_->AddExtension("/-/jobs/training",
                              [this, report_of](const auto&, const auto& input) {
                                return api::DescribeJobRecord(*resources_, report_of, input);
                              });
  }

  wire::AwsResult<json::object> DescribeMarket(const wire::CallContext& context,
                                               const json::object& input) {
    json::object out{{"SpotMarket", options_.spot_market}};
    const std::string type = GetString(input, "InstanceType");
    if (model::InstanceCatalog::BuiltIn().Find(type) == nullptr) {
      return wire::Refuse("ValidationException", 400, "'{}' is no instance type that is known here",
                          type);
    }
    for (auto& [key, value] : markets_->Describe(type, context.now)) out[key] = value;
    return out;
  }

  Status Listen() {
    wire::TlsAuthority authority(files_, clock_, random_);
    ASSIGN_OR_RETURN(const wire::TlsFiles tls,
                     authority.Ensure({.directory = options_.paths.tls(),
                                       .region = home_->account().region,
                                       .more_names = {options_.address}}));
    ASSIGN_OR_RETURN(auto transports, wire::MakeTlsTransports(tls.server));
    RETURN_IF_ERROR(Bind(std::move(transports)));
    const bool v6 = options_.address.find(':') != std::string::npos;
    const bool any = options_.address == "0.0.0.0" || options_.address == "::";
    const std::string host = any  ? "127.0.0.1"
                             : v6 ? "[" + options_.address + "]"
                                  : options_.address;
    http_url_ = fmt::format("http://{}:{}", host, server_->port(0));
    https_url_ = fmt::format("https://{}:{}", host, server_->port(1));
    return {};
  }

  // Before the first request is answered, so that no commit goes unheard.
  Status MakeControl() {
    control::LocalControlOptions options{.paths = options_.paths, .machine = fleet::ThisMachine()};
    options.capacity = {options_.overcommit, options_.refuse_larger};
    options.launcher.command = {options_.executable, "agent", "--directory"};
    options.launcher.server_command = {options_.executable, "agent", "--serve-forks", "--system",
                                       (options_.paths.run() / "system").native()};
    if (!options_.python.empty()) {
      options.launcher.server_command.insert(options.launcher.server_command.end(),
                                             {"--python", options_.python});
    }
    options.role_reads = [this](const std::string& role_arn) {
      return s3::ReadCheckOf({*objects_, clock_, home_->account().id, home_->account().region},
                             role_arn);
    };
    control::WorkerSettings& worker = options.controller.worker;
    worker.prices = prices_;
    worker.rules.reclaim_notice = options_.spot_notice;
    worker.rules.stop_grace = options_.stop_grace;
    worker.spec = {http_url_,
                   options_.python,
                   options_.stop_grace,
                   static_cast<std::int64_t>(options_.cache_gib * (1LL << 30)),
                   options_.fastfile_mib << 20,
                   static_cast<std::int64_t>(options_.fastfile_disk_gib * (1LL << 30)),
                   options_.imds};
    worker.markets = markets_;
    ASSIGN_OR_RETURN(control_,
                     control::LocalControl::Create({*resources_, *series_, *objects_, *buckets_,
                                                    *authority_, files_, clock_, random_},
                                                   std::move(options)));
    training_jobs_->OnAccepted(
        [this](std::unique_ptr<model::TrainingJob> job) { control_->Accepted(std::move(job)); });
    return {};
  }

  void WriteServerMetrics(wire::PrometheusText& out) const {
    const wire::HttpServerStats stats = server_->stats();
    out.Family("sabia_connections", "gauge", "Open client connections.");
    out.Sample(static_cast<double>(stats.connections));
    out.Family("sabia_threads", "gauge", "Worker threads of the HTTP server.");
    out.Sample(static_cast<double>(stats.threads));
    out.Family("sabia_connections_refused_total", "counter", "Connections beyond the limit.");
    out.Sample(static_cast<double>(stats.rejected_connections));
    out.Family("sabia_client_timeouts_total", "counter", "Clients cut for being too slow.");
    out.Sample(static_cast<double>(stats.timeouts));
    out.Family("sabia_heads_refused_total", "counter",
               "Requests refused for a malformed or long head.");
    out.Sample(static_cast<double>(stats.refused_heads));
  }

  // Agents of an earlier daemon, and shells that took `sabia env`, know its ports: a free port
  // means the same one again where that is possible.
  Status Bind(std::shared_ptr<wire::TransportFactory> transports) {
    const auto last = LastEndpoint(files_, options_.paths);
    const std::uint16_t port = options_.port != 0 || !last ? options_.port : last->http_port();
    const std::uint16_t tls_port =
        options_.tls_port != 0 || !last ? options_.tls_port : last->https_port();
    wire::HttpServerOptions options;
    options.listeners = {
        {.address = options_.address, .port = port},
        {.address = options_.address, .port = tls_port, .transports = std::move(transports)}};
    auto server = wire::HttpServer::Start(options, *dispatcher_, clock_);
    if (!server && (port != options_.port || tls_port != options_.tls_port)) {
      LogWarn("the ports of the last daemon are taken ({}); programs that run keep its address",
              server.error().message);
      options.listeners[0].port = options_.port;
      options.listeners[1].port = options_.tls_port;
      server = wire::HttpServer::Start(options, *dispatcher_, clock_);
    }
    if (!server) return Wrap(std::move(server).error(), "failed to listen (--port, --tls-port)");
    server_ = std::move(server).value();
    return {};
  }

  // What AWS_DATA_PATH points at.
  Status WriteClientData() {
    const env::Path root = options_.paths.aws_models();
    const env::WriteOptions quick{.mode = 0644, .durability = env::Durability::kVolatile};
    RETURN_IF_ERROR(files_.MakeDirectories(root));
    const EndpointHosts hosts{std::string_view(http_url_).substr(sizeof("http://") - 1),
                              std::string_view(https_url_).substr(sizeof("https://") - 1)};
    RETURN_IF_ERROR(
        files_.WriteAtomically(root / "endpoints.json", EndpointsDocument(hosts), quick));
    RETURN_IF_ERROR(files_.WriteAtomically(root / "sagemaker-config.yaml", kSdkConfig, quick));
    const env::Path sts = root / "sts" / wire::FindService("sts")->api_version;
    RETURN_IF_ERROR(files_.MakeDirectories(sts));
    RETURN_IF_ERROR(
        files_.WriteAtomically(sts / "endpoint-rule-set-1.json", StsRules(http_url_), quick));
    return {};
  }

  // Tells clients where we are, and says that we are ready.
  Status Announce() {
    RETURN_IF_ERROR(WriteClientData());
    dispatcher_->SetReady(true);
    announced_.store(true);
    return WriteEndpoint(files_, options_.paths,
                         {.pid = ::getpid(),
                          .http = http_url_,
                          .https = https_url_,
                          .region = home_->account().region});
  }

  const DaemonOptions options_;
  env::PosixClock clock_;
  env::PosixRandom random_;
  env::PosixFiles files_;
  std::shared_ptr<const fleet::SpotMarkets> markets_;
  std::shared_ptr<const cost::PriceLists> prices_;
  std::unique_ptr<store::Home> home_;
  std::unique_ptr<wire::CredentialAuthority> authority_;
  std::unique_ptr<store::Database> state_;
  std::unique_ptr<store::Resources> resources_;
  std::unique_ptr<store::Ledger> ledger_;
  std::unique_ptr<store::Series> series_;
  std::unique_ptr<store::Retention> retention_;
  std::unique_ptr<store::LogStore> logs_;
  std::unique_ptr<objects::ObjectStore> objects_;
  std::unique_ptr<objects::Buckets> buckets_;
  std::unique_ptr<api::TrainingJobs> training_jobs_;
  std::unique_ptr<api::TuningJobs> tuning_jobs_;
  wire::ActionTable actions_;
  std::unique_ptr<s3::LifecycleRunner> lifecycle_;
  std::unique_ptr<s3::S3Api> s3_;
  std::unique_ptr<wire::Dispatcher> dispatcher_;
  std::string http_url_;
  std::string https_url_;
  std::unique_ptr<control::LocalControl> control_;
  std::unique_ptr<wire::HttpServer> server_;
  std::atomic<bool> announced_{false};  // server_ is set
};

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::Start(const DaemonOptions& options) {
  auto daemon = std::make_unique<DaemonImpl>(options);
  const Status started = daemon->Start();
  if (started) return daemon;
  daemon->Discard();
  return tl::make_unexpected(started.error());
}

}  // namespace sabia::cli
