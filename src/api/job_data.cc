#include "api/job_data.h"

#include "api/training_jobs.h"
#include "model/training_job.h"

namespace sabia::api {
namespace {

using wire::AwsResult;

// An attempt that ends while we look moves its numbers from its reports into the record.
constexpr int kLooksMax = 5;

double InSeconds(Millis time) { return static_cast<double>(time.count()) / 1000; }

json::object ToJson(const model::ChannelReport& channel) {
  json::object out{{"ChannelName", channel.name}, {"InputMode", Name(channel.mode)},
                   {"Way", channel.way},          {"Hosts", channel.hosts},
                   {"Objects", channel.objects},  {"Bytes", channel.bytes}};
  const bool stream = channel.way == "stream";
  if (stream) {
    out["Reads"] = channel.reads;
    out["PrefetchHits"] = channel.hits;
    out["FetchedBytes"] = channel.fetched;
    out["StarvedSeconds"] = InSeconds(channel.starved);
    out["ServedSeconds"] = InSeconds(channel.served);
  }
  if ((stream || channel.mode == model::InputMode::kPipe) && channel.served.count() > 0)
    out["BytesPerSecond"] = static_cast<double>(channel.bytes) / InSeconds(channel.served);
  if (channel.mode != model::InputMode::kPipe) return out;
  out["Epochs"] = channel.epochs;
  out["EpochsDelivered"] = channel.epochs_delivered;
  out["EpochsCut"] = channel.epochs_cut;
  out["ServedSeconds"] = InSeconds(channel.served);
  out["StarvedSeconds"] = InSeconds(channel.starved);
  out["BlockedSeconds"] = InSeconds(channel.blocked);
  out["UnopenedSeconds"] = InSeconds(channel.unopened);
  return out;
}

struct Look {
  std::int64_t revision = 0;
  model::TrainingJob job;
};

AwsResult<Look> LookAt(store::Resources& resources, const std::string& name) {
  ASSIGN_OR_RETURN(const store::Resource row, FindTrainingJob(resources, name));
  ASSIGN_OR_RETURN(model::TrainingJob job, DecodeTrainingJob(row));
  return Look{row.revision, std::move(job)};
}

}  // namespace

AwsResult<json::object> DescribeJobData(store::Resources& resources, const ReportOf& report_of,
                                        const json::object& request) {
  const std::string name = GetString(request, "TrainingJobName");
  if (name.empty()) return wire::RefuseValidation("TrainingJobName must be given");
  ASSIGN_OR_RETURN(Look seen, LookAt(resources, name));
  std::vector<model::ChannelReport> channels;
  for (int look = 0; look < kLooksMax; ++look) {
    channels = seen.job.channels;
    const auto instances = resources.Children(store::Kind::kInstance, name);
    if (!instances) return tl::make_unexpected(wire::ToAwsError(instances.error()));
    for (const store::Resource& instance : *instances) {
      const auto report = report_of(instance.name);
      if (!report) continue;
      for (const model::ChannelReport& channel : report->channels)
        model::AddChannel(channels, channel);
    }
    ASSIGN_OR_RETURN(Look again, LookAt(resources, name));
    if (again.revision == seen.revision) break;
    seen = std::move(again);
  }
  json::array rows;
  for (const model::ChannelReport& channel : channels) rows.push_back(ToJson(channel));
  return json::object{{"TrainingJobName", name},
                      {"Final", model::IsTerminal(seen.job.phase)},
                      {"Channels", std::move(rows)}};
}

}  // namespace sabia::api
