#include "model/instance.h"

#include <algorithm>
#include <array>
#include <utility>

#include "model/json_fields.h"

namespace sabia::model {
namespace {

constexpr std::array<std::pair<AgentPhase, std::string_view>, 7> kAgentPhases = {{
    {AgentPhase::kPreparing, "preparing"},
    {AgentPhase::kDownloading, "downloading"},
    {AgentPhase::kTraining, "training"},
    {AgentPhase::kStopping, "stopping"},
    {AgentPhase::kExited, "exited"},
    {AgentPhase::kUploading, "uploading"},
    {AgentPhase::kDone, "done"},
}};
constexpr std::array<std::pair<StopReason, std::string_view>, 7> kStopReasons = {{
    {StopReason::kNone, "none"},
    {StopReason::kRequested, "requested"},
    {StopReason::kInterrupted, "interrupted"},
    {StopReason::kMaxRuntime, "max_runtime"},
    {StopReason::kMaxWait, "max_wait"},
    {StopReason::kPeerLost, "peer_lost"},
    {StopReason::kInputFailed, "input_failed"},
}};
constexpr std::array<std::pair<ImageKind, std::string_view>, 3> kImageKinds = {{
    {ImageKind::kXgboost, "xgboost"},
    {ImageKind::kPython, "python"},
    {ImageKind::kEntrypoint, "entrypoint"},
}};
constexpr std::array<std::pair<InputMode, std::string_view>, 3> kInputModes = {{
    {InputMode::kFile, "File"},
    {InputMode::kFastFile, "FastFile"},
    {InputMode::kPipe, "Pipe"},
}};

json::object ChannelToJson(const ChannelSpec& c) {
  json::object out{{"name", c.name},
                   {"mode", Name(c.mode)},
                   {"content_type", c.content_type},
                   {"distribution", c.distribution},
                   {"record_wrapper", c.record_wrapper},
                   {"compression", c.compression},
                   {"s3_uri", c.s3_uri},
                   {"attributes", TextsToJson(c.attributes)},
                   {"share_host", c.share_host},
                   {"share_hosts", c.share_hosts},
                   {"listing", c.listing}};
  if (c.shuffle_seed) out["shuffle_seed"] = *c.shuffle_seed;
  return out;
}

Result<ChannelSpec> ChannelFromJson(const json::object& o) {
  ChannelSpec c;
  FieldReader in(o);
  in.Text("name", c.name);
  in.Enum("mode", kInputModes, c.mode);
  in.Text("content_type", c.content_type);
  in.Text("distribution", c.distribution);
  in.Text("record_wrapper", c.record_wrapper);
  in.Text("compression", c.compression);
  in.Text("s3_uri", c.s3_uri);
  in.Texts("attributes", c.attributes);
  in.OptionalInteger("shuffle_seed", c.shuffle_seed);
  in.Integer("share_host", c.share_host);
  in.Integer("share_hosts", c.share_hosts);
  in.Text("listing", c.listing);
  RETURN_IF_ERROR(in.status());
  return c;
}

json::object GroupToJson(const GroupSpec& g) {
  return {{"name", g.name}, {"instance_type", g.instance_type}, {"hosts", TextsToJson(g.hosts)}};
}

Result<GroupSpec> GroupFromJson(const json::object& o) {
  GroupSpec g;
  FieldReader in(o);
  in.Text("name", g.name);
  in.Text("instance_type", g.instance_type);
  in.Texts("hosts", g.hosts);
  RETURN_IF_ERROR(in.status());
  return g;
}

json::object MetricToJson(const MetricDefinition& m) {
  return {{"name", m.name}, {"regex", m.regex}};
}

Result<MetricDefinition> MetricFromJson(const json::object& o) {
  MetricDefinition m;
  FieldReader in(o);
  in.Text("name", m.name);
  in.Text("regex", m.regex);
  RETURN_IF_ERROR(in.status());
  return m;
}

void AddProgram(const InstanceSpec& s, json::object& out) {
  out["image"] = Name(s.image);
  out["image_uri"] = s.image_uri;
  out["entrypoint"] = TextsToJson(s.entrypoint);
  out["arguments"] = TextsToJson(s.arguments);
  out["hyperparameters"] = TextMapToJson(s.hyperparameters);
  out["environment"] = TextMapToJson(s.environment);
  out["channels"] = ListToJson(s.channels, ChannelToJson);
  out["metrics"] = ListToJson(s.metrics, MetricToJson);
  out["config_files"] = TextMapToJson(s.config_files);
  out["python"] = s.python;
}

void ReadProgram(FieldReader& in, InstanceSpec& s) {
  in.Enum("image", kImageKinds, s.image);
  in.Text("image_uri", s.image_uri);
  in.Texts("entrypoint", s.entrypoint);
  in.Texts("arguments", s.arguments);
  in.TextMap("hyperparameters", s.hyperparameters);
  in.TextMap("environment", s.environment);
  in.List("channels", ChannelFromJson, s.channels);
  in.List("metrics", MetricFromJson, s.metrics);
  in.TextMap("config_files", s.config_files);
  in.Text("python", s.python);
}

void AddData(const InstanceSpec& s, json::object& out) {
  out["checkpoint_s3_uri"] = s.checkpoint_s3_uri;
  out["checkpoint_local_path"] = s.checkpoint_local_path;
  out["checkpoints_keep"] = s.checkpoints_keep;
  out["model_s3_uri"] = s.model_s3_uri;
  out["output_s3_uri"] = s.output_s3_uri;
  out["output_kms_key"] = s.output_kms_key;
  out["compress"] = s.compress;
  out["upload_on_exit"] = s.upload_on_exit;
  out["log_group"] = s.log_group;
  out["log_stream"] = s.log_stream;
  out["log_file"] = s.log_file;
  out["wake_socket"] = s.wake_socket;
  out["client_data"] = s.client_data;
  out["ca_bundle"] = s.ca_bundle;
  out["endpoint"] = s.endpoint;
  out["endpoint_file"] = s.endpoint_file;
  out["access_key_id"] = s.access_key_id;
  out["secret_access_key"] = s.secret_access_key;
  out["session_token"] = s.session_token;
  out["external_buckets"] = s.external_buckets;
  out["cache"] = s.cache;
  out["cache_bytes"] = s.cache_bytes;
  out["fastfile_bytes"] = s.fastfile_bytes;
  out["fastfile_disk_bytes"] = s.fastfile_disk_bytes;
  out["volume_bytes"] = s.volume_bytes;
  if (!s.imds.empty()) out["imds"] = s.imds;
}

void ReadData(FieldReader& in, InstanceSpec& s) {
  in.Text("checkpoint_s3_uri", s.checkpoint_s3_uri);
  in.Text("checkpoint_local_path", s.checkpoint_local_path);
  in.Integer("checkpoints_keep", s.checkpoints_keep);
  in.Text("model_s3_uri", s.model_s3_uri);
  in.Text("output_s3_uri", s.output_s3_uri);
  in.Text("output_kms_key", s.output_kms_key);
  in.Flag("compress", s.compress);
  in.Flag("upload_on_exit", s.upload_on_exit);
  in.Text("log_group", s.log_group);
  in.Text("log_stream", s.log_stream);
  in.Text("log_file", s.log_file);
  in.Text("wake_socket", s.wake_socket);
  in.Text("client_data", s.client_data);
  in.Text("ca_bundle", s.ca_bundle);
  in.Text("endpoint", s.endpoint);
  in.Text("endpoint_file", s.endpoint_file);
  in.Text("access_key_id", s.access_key_id);
  in.Text("secret_access_key", s.secret_access_key);
  in.Text("session_token", s.session_token);
  in.Object("external_buckets", s.external_buckets);
  in.Text("cache", s.cache);
  in.Integer("cache_bytes", s.cache_bytes);
  in.Integer("fastfile_bytes", s.fastfile_bytes);
  in.Integer("fastfile_disk_bytes", s.fastfile_disk_bytes);
  in.Integer("volume_bytes", s.volume_bytes);
  in.Text("imds", s.imds);
}

void AddLimits(const InstanceSpec& s, json::object& out) {
  out["vcpus"] = s.vcpus;
  out["memory_bytes"] = s.memory_bytes;
  out["network_isolation"] = s.network_isolation;
  out["run_limit_ms"] = s.run_limit.count();
  out["stop_grace_ms"] = s.stop_grace.count();
  out["signal_all_processes"] = s.signal_all_processes;
  out["stays"] = s.stays;
  out["keeps_cache"] = s.keeps_cache;
}

void ReadLimits(FieldReader& in, InstanceSpec& s) {
  in.Real("vcpus", s.vcpus);
  in.Integer("memory_bytes", s.memory_bytes);
  in.Flag("network_isolation", s.network_isolation);
  in.Duration("run_limit_ms", s.run_limit);
  in.Duration("stop_grace_ms", s.stop_grace);
  in.Flag("signal_all_processes", s.signal_all_processes);
  in.Flag("stays", s.stays);
  in.Flag("keeps_cache", s.keeps_cache);
}

}  // namespace

std::string_view Name(AgentPhase phase) { return NameOf(kAgentPhases, phase); }
std::string_view Name(StopReason reason) { return NameOf(kStopReasons, reason); }
std::string_view Name(ImageKind kind) { return NameOf(kImageKinds, kind); }
std::string_view Name(InputMode mode) { return NameOf(kInputModes, mode); }

std::optional<StopReason> ParseStopReason(std::string_view name) {
  return FindName(kStopReasons, name);
}

json::object InstanceSpec::ToJson() const {
  json::object out{{"id", id},
                   {"job_name", job_name},
                   {"job_arn", job_arn},
                   {"region", region},
                   {"account", account},
                   {"role_arn", role_arn},
                   {"attempt", attempt},
                   {"host", host},
                   {"hosts", TextsToJson(hosts)},
                   {"instance_type", instance_type},
                   {"group", group},
                   {"groups", ListToJson(groups, GroupToJson)}};
  AddProgram(*this, out);
  AddData(*this, out);
  AddLimits(*this, out);
  return out;
}

Result<InstanceSpec> InstanceSpec::FromJson(const json::object& document) {
  InstanceSpec s;
  FieldReader in(document);
  in.Text("id", s.id);
  in.Text("job_name", s.job_name);
  in.Text("job_arn", s.job_arn);
  in.Text("region", s.region);
  in.Text("account", s.account);
  in.Text("role_arn", s.role_arn);
  in.Integer("attempt", s.attempt);
  in.Text("host", s.host);
  in.Texts("hosts", s.hosts);
  in.Text("instance_type", s.instance_type);
  in.Text("group", s.group);
  in.List("groups", GroupFromJson, s.groups);
  ReadProgram(in, s);
  ReadData(in, s);
  ReadLimits(in, s);
  RETURN_IF_ERROR(in.status());
  return s;
}

json::object Orders::ToJson() const {
  json::object out{{"stop", Name(stop)},
                   {"upload", upload},
                   {"merge_from", TextsToJson(merge_from)},
                   {"dismiss", dismiss}};
  AddTime(out, "kill_at", kill_at);
  return out;
}

Result<Orders> Orders::FromJson(const json::object& document) {
  Orders o;
  FieldReader in(document);
  in.Enum("stop", kStopReasons, o.stop);
  in.OptionalTime("kill_at", o.kill_at);
  in.Flag("upload", o.upload);
  in.Texts("merge_from", o.merge_from);
  in.Flag("dismiss", o.dismiss);
  RETURN_IF_ERROR(in.status());
  return o;
}

json::object FinalMetric::ToJson() const {
  return {{"name", name}, {"value", value}, {"time", ToUnixMillis(time)}};
}

Result<FinalMetric> FinalMetric::FromJson(const json::object& document) {
  FinalMetric m;
  FieldReader in(document);
  in.Text("name", m.name);
  in.Real("value", m.value);
  in.Time("time", m.time);
  RETURN_IF_ERROR(in.status());
  return m;
}

json::object ChannelReport::ToJson() const {
  return {{"name", name},
          {"mode", Name(mode)},
          {"way", way},
          {"hosts", hosts},
          {"objects", objects},
          {"bytes", bytes},
          {"epochs", epochs},
          {"epochs_delivered", epochs_delivered},
          {"epochs_cut", epochs_cut},
          {"unopened_ms", unopened.count()},
          {"starved_ms", starved.count()},
          {"blocked_ms", blocked.count()},
          {"served_ms", served.count()},
          {"reads", reads},
          {"hits", hits},
          {"fetched", fetched}};
}

Result<ChannelReport> ChannelReport::FromJson(const json::object& document) {
  ChannelReport c;
  FieldReader in(document);
  in.Text("name", c.name);
  in.Enum("mode", kInputModes, c.mode);
  in.Text("way", c.way);
  in.Integer("hosts", c.hosts);
  in.Integer("objects", c.objects);
  in.Integer("bytes", c.bytes);
  in.Integer("epochs", c.epochs);
  in.Integer("epochs_delivered", c.epochs_delivered);
  in.Integer("epochs_cut", c.epochs_cut);
  in.Duration("unopened_ms", c.unopened);
  in.Duration("starved_ms", c.starved);
  in.Duration("blocked_ms", c.blocked);
  in.Duration("served_ms", c.served);
  in.Integer("reads", c.reads);
  in.Integer("hits", c.hits);
  in.Integer("fetched", c.fetched);
  RETURN_IF_ERROR(in.status());
  return c;
}

void AddChannel(std::vector<ChannelReport>& sum, const ChannelReport& one) {
  const auto same = std::find_if(sum.begin(), sum.end(), [&](const ChannelReport& known) {
    return known.name == one.name && known.mode == one.mode && known.way == one.way;
  });
  if (same == sum.end()) {
    sum.push_back(one);
    return;
  }
  same->hosts += one.hosts;
  same->objects += one.objects;
  same->bytes += one.bytes;
  same->epochs += one.epochs;
  same->epochs_delivered += one.epochs_delivered;
  same->epochs_cut += one.epochs_cut;
  same->unopened += one.unopened;
  same->starved += one.starved;
  same->blocked += one.blocked;
  same->served += one.served;
  same->reads += one.reads;
  same->hits += one.hits;
  same->fetched += one.fetched;
}

json::object Report::ToJson() const {
  json::object times;
  for (const auto& [which, time] : began) times[Name(which)] = ToUnixMillis(time);
  json::object out{
      {"phase", Name(phase)},
      {"pid", pid},
      {"began", std::move(times)},
      {"out_of_memory", out_of_memory},
      {"stopped_for", Name(stopped_for)},
      {"ended_in_grace", ended_in_grace},
      {"failure_file", failure_file},
      {"last_lines", TextsToJson(last_lines)},
      {"error", error},
      {"error_is_users", error_is_users},
      {"restored_files", restored_files},
      {"restored_bytes", restored_bytes},
      {"checkpoint_pending_bytes", checkpoint_pending_bytes},
      {"checkpoint_files", checkpoint_files},
      {"model_uploaded", model_uploaded},
      {"stays", stays},
      {"metrics", ListToJson(metrics, [](const FinalMetric& m) { return m.ToJson(); })},
      {"channels", ListToJson(channels, [](const ChannelReport& c) { return c.ToJson(); })},
      {"notes", TextsToJson(notes)}};
  if (exit_code) out["exit_code"] = *exit_code;
  if (signal) out["signal"] = *signal;
  AddTime(out, "checkpoint_synced_at", checkpoint_synced_at);
  AddTime(out, "machine_ends_at", machine_ends_at);
  AddTime(out, "checkpoint_written_at", checkpoint_written_at);
  return out;
}

Result<Report> Report::FromJson(const json::object& document) {
  Report r;
  FieldReader in(document);
  in.Enum("phase", kAgentPhases, r.phase);
  in.Integer("pid", r.pid);
  in.TimesByName("began", kAgentPhases, r.began);
  in.OptionalInteger("exit_code", r.exit_code);
  in.OptionalInteger("signal", r.signal);
  in.Flag("out_of_memory", r.out_of_memory);
  in.Enum("stopped_for", kStopReasons, r.stopped_for);
  in.Flag("ended_in_grace", r.ended_in_grace);
  in.Text("failure_file", r.failure_file);
  in.Texts("last_lines", r.last_lines);
  in.Text("error", r.error);
  in.Flag("error_is_users", r.error_is_users);
  in.Integer("restored_files", r.restored_files);
  in.Integer("restored_bytes", r.restored_bytes);
  in.OptionalTime("checkpoint_synced_at", r.checkpoint_synced_at);
  in.OptionalTime("checkpoint_written_at", r.checkpoint_written_at);
  in.Integer("checkpoint_pending_bytes", r.checkpoint_pending_bytes);
  in.Integer("checkpoint_files", r.checkpoint_files);
  in.Flag("model_uploaded", r.model_uploaded);
  in.Flag("stays", r.stays);
  in.List("metrics", FinalMetric::FromJson, r.metrics);
  in.List("channels", ChannelReport::FromJson, r.channels);
  in.Texts("notes", r.notes);
  in.OptionalTime("machine_ends_at", r.machine_ends_at);
  RETURN_IF_ERROR(in.status());
  return r;
}

}  // namespace sabia::model
