#include "model/training_request.h"

#include <fmt/format.h>

#include "model/builtin_metrics.h"
#include "model/images.h"
#include "model/limits.h"

namespace sabia::model {
namespace {

void Default(json::object& object, std::string_view key, json::value value) {
  json::value& slot = object[key];
  if (slot.is_null()) slot = std::move(value);
}

json::object& Structure(json::object& object, std::string_view key) {
  json::value& slot = object[key];
  if (!slot.is_object()) slot = json::object();
  return slot.get_object();
}

// What a built-in image implies when the request has no definitions of its own.
json::array ImpliedMetrics(const json::object& request) {
  json::array out;
  const auto image = ResolveTrainingImage(request);
  if (!image || *image != ImageKind::kXgboost) return out;
  for (const MetricDefinition& metric : XgboostMetricDefinitions()) {
    out.push_back({{"Name", metric.name}, {"Regex", metric.regex}});
  }
  return out;
}

}  // namespace

void CompleteTrainingRequest(json::object& request) {
  if (json::value* algorithm = request.if_contains("AlgorithmSpecification");
      algorithm != nullptr) {
    if (json::object* object = algorithm->if_object(); object != nullptr) {
      Default(*object, "MetricDefinitions", ImpliedMetrics(request));
      Default(*object, "EnableSageMakerMetricsTimeSeries", false);
    }
  }
  json::object& output = Structure(request, "OutputDataConfig");
  Default(output, "KmsKeyId", "");
  Default(output, "CompressionType", "GZIP");
  Default(Structure(request, "StoppingCondition"), "MaxRuntimeInSeconds",
          kMaxRuntimeDefault.count());
  if (json::value* channels = request.if_contains("InputDataConfig"); channels != nullptr) {
    for (json::value& channel : channels->get_array()) {
      Default(channel.get_object(), "CompressionType", "None");
      Default(channel.get_object(), "RecordWrapperType", "None");
    }
  }
  Default(request, "HyperParameters", json::object());
  for (const char* flag : {"EnableNetworkIsolation", "EnableInterContainerTrafficEncryption",
                           "EnableManagedSpotTraining"}) {
    Default(request, flag, false);
  }
}

std::vector<std::string> NotesOnTrainingRequest(const json::object& request) {
  std::vector<std::string> notes;
  const bool spot = GetBool(request, "EnableManagedSpotTraining");
  if (spot && !request.contains("CheckpointConfig")) {
    notes.emplace_back(
        "spot without CheckpointConfig: an interruption restarts the program from the beginning");
  }
  if (spot && !FindInt(*FindObject(request, "StoppingCondition"), "MaxWaitTimeInSeconds")) {
    notes.emplace_back("spot without MaxWaitTimeInSeconds: waiting for capacity has no limit");
  }
  if (!GetString(*FindObject(request, "ResourceConfig"), "VolumeKmsKeyId").empty()) {
    notes.emplace_back(
        "VolumeKmsKeyId: the instance's volume is a directory of this machine, encrypted only when "
        "its disk is");
  }
  const json::object* profiler = FindObject(request, "ProfilerConfig");
  if (profiler != nullptr && !GetBool(*profiler, "DisableProfiler")) {
    notes.emplace_back("ProfilerConfig: no profiler output is written");
  }
  return notes;
}

std::string TrainingJobArn(std::string_view region, std::string_view account,
                           std::string_view name) {
  return fmt::format("arn:aws:sagemaker:{}:{}:training-job/{}", region, account, name);
}

TrainingJob NewTrainingJob(json::object request, TrainingJobBirth birth) {
  std::string name = GetString(request, "TrainingJobName");
  std::string arn = TrainingJobArn(birth.region, birth.account, name);
  // Constructed with the request: assigning it would copy it (ParseJsonAtOnce).
  TrainingJob job{.uid = std::move(birth.uid),
                  .name = std::move(name),
                  .arn = std::move(arn),
                  .region = std::move(birth.region),
                  .account = std::move(birth.account),
                  .created = birth.now,
                  .modified = birth.now,
                  .request = std::move(request),
                  .tuning_job_arn = std::move(birth.tuning_job_arn)};
  EnterStatus(job, "Starting", "Starting the training job", birth.now);
  return job;
}

}  // namespace sabia::model
