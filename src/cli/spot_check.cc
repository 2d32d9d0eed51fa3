#include "cli/spot_check.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "channels/archive.h"
#include "cli/client.h"
#include "cli/endpoint.h"
#include "env/posix/posix_random.h"
#include "model/training_job.h"
#include "wire/credentials.h"
#include "wire/s3_client.h"

namespace sabia::cli {
namespace {

constexpr char kGroup[] = "/aws/sagemaker/TrainingJobs";
constexpr char kImage[] = "sabia/python:3";
constexpr char kRole[] = "arn:aws:iam::123456789012:role/sabia-spot-check";
constexpr Millis kLookAgain{200};
constexpr std::size_t kNameMax = 40;  // of a job's name in those of its rehearsals
constexpr std::size_t kLinesShown = 3;

struct CheckArguments {
  std::string what;       // a job or a script
  std::string bucket;     // for a script
  double after = 0;       // seconds of training before the interruption; 0: after a checkpoint
  double patience = 600;  // seconds for each run
  bool as_json = false;
};

struct Run {
  std::string name;
  model::TrainingJob record;
  std::vector<std::vector<std::string>> lines;  // by stream, in order of attempts
  std::map<std::string, std::string> results;   // path → ETag
};

class Check {
 public:
  Check(Client& client, wire::S3Client& s3, const CheckArguments& arguments)
      : client_(client), s3_(s3), arguments_(arguments) {}

  Result<json::object> Perform() {
    ASSIGN_OR_RETURN(json::object request, RequestOf());
    if (request.contains("InputDataConfig")) Say("the channels of the job are used as they are");
    ASSIGN_OR_RETURN(const Run plain, Rehearse(request, false));
    ASSIGN_OR_RETURN(const Run interrupted, Rehearse(request, true));
    return Judge(plain, interrupted);
  }

 private:
  void Say(const std::string& what) const {
    if (!arguments_.as_json) std::fprintf(stderr, "%s\n", Printable(what).c_str());
  }

  // Of the job whose program is to be checked, or of one that runs the script.
  Result<json::object> RequestOf() {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(arguments_.what, ignored)) return RequestOfScript();
    auto document =
        client_.Extension("/-/jobs/training", json::object{{"TrainingJobName", arguments_.what}});
    if (!document) return tl::make_unexpected(AboutJob(document.error(), arguments_.what));
    ASSIGN_OR_RETURN(const model::TrainingJob job, model::TrainingJob::FromJson(*document));
    base_ = job.name.substr(0, kNameMax);
    return job.request.get();
  }

  Result<json::object> RequestOfScript() {
    if (arguments_.bucket.empty()) {
      return Fail(ErrorCode::kInvalidArgument,
                  "--bucket names the bucket that the script's code and results go to");
    }
    const std::filesystem::path script = std::filesystem::absolute(arguments_.what);
    base_ = "script";
    const env::Path packed =
        std::filesystem::temp_directory_path() / ("sabia-check-" + random_.Hex(12) + ".tar.gz");
    const channels::TreeFile file{.path = script.filename().native(),
                                  .source = script,
                                  .size = std::filesystem::file_size(script)};
    Status done = channels::PackTar({file}, packed, 1, {});
    const std::string key = "sabia-spot-check/code/" + random_.Hex(12) + "/sourcedir.tar.gz";
    if (done) done = s3_.Upload(packed, {arguments_.bucket, key});
    std::error_code ignored;
    std::filesystem::remove(packed, ignored);
    RETURN_IF_ERROR(done);
    const auto quoted = [](const std::string& text) { return json::serialize(json::value(text)); };
    return json::object{
        {"RoleArn", kRole},
        {"AlgorithmSpecification", {{"TrainingImage", kImage}, {"TrainingInputMode", "File"}}},
        {"HyperParameters",
         {{"sagemaker_program", quoted(script.filename().native())},
          {"sagemaker_submit_directory", quoted("s3://" + arguments_.bucket + "/" + key)}}},
        {"OutputDataConfig", {{"S3OutputPath", "s3://" + arguments_.bucket}}},
        {"ResourceConfig",
         {{"InstanceCount", 1}, {"InstanceType", "ml.m5.large"}, {"VolumeSizeInGB", 1}}}};
  }

  // The request of one run: with checkpoints and outputs of its own, not compressed. What is not to
  // be interrupted runs on demand, where no market reaches it.
  json::object RunRequest(json::object request, const std::string& name, bool on_spot) const {
    std::string path = GetString(*FindObject(request, "OutputDataConfig"), "S3OutputPath");
    if (path.ends_with('/')) path.pop_back();
    path += "/sabia-spot-check";
    std::string local = "/opt/ml/checkpoints";
    if (const json::object* checkpoint = FindObject(request, "CheckpointConfig")) {
      local = GetString(*checkpoint, "LocalPath", local);
    }
    const auto seconds = static_cast<std::int64_t>(arguments_.patience);
    request["TrainingJobName"] = name;
    request["EnableManagedSpotTraining"] = on_spot;
    request["OutputDataConfig"] = {{"S3OutputPath", path}, {"CompressionType", "NONE"}};
    request["CheckpointConfig"] = {{"S3Uri", path + "/" + name + "/checkpoints"},
                                   {"LocalPath", local}};
    json::object limits{{"MaxRuntimeInSeconds", seconds}};
    if (on_spot) limits["MaxWaitTimeInSeconds"] = seconds;
    request["StoppingCondition"] = std::move(limits);
    request.erase("RetryStrategy");
    request.erase("Tags");
    return request;
  }

  Result<Run> Rehearse(const json::object& request, bool interrupt) {
    Run run;
    run.name = "spot-check-" + base_ + "-" + random_.Hex(6);
    const json::object own = RunRequest(request, run.name, interrupt);
    Say(interrupt ? "running again, to be interrupted: " + run.name
                  : "running without an interruption: " + run.name);
    RETURN_IF_ERROR(client_.SageMaker("CreateTrainingJob", own));
    if (interrupt) RETURN_IF_ERROR(Interrupt(own, run));
    RETURN_IF_ERROR(AwaitEnd(run));
    RETURN_IF_ERROR(ReadLines(run));
    const std::string output = GetString(*FindObject(own, "OutputDataConfig"), "S3OutputPath") +
                               "/" + run.name + "/output/";
    ASSIGN_OR_RETURN(const wire::S3Location where, wire::ParseS3Uri(output));
    ASSIGN_OR_RETURN(const auto objects, s3_.List(where.bucket, where.key));
    for (const wire::S3Object& object : objects) {
      run.results[object.key.substr(where.key.size())] = object.etag;
    }
    return run;
  }

  Result<model::TrainingJob> Look(const std::string& name) {
    ASSIGN_OR_RETURN(const json::object document,
                     client_.Extension("/-/jobs/training", {{"TrainingJobName", name}}));
    return model::TrainingJob::FromJson(document);
  }

  WallTime Deadline() {
    return client_.clock().Wall() + Millis(static_cast<std::int64_t>(arguments_.patience * 1000));
  }

  Status Late(const std::string& name, std::string_view what) {
    return Fail(ErrorCode::kTimeout, "'{}' did not {} within {} s (--patience)", name, what,
                arguments_.patience);
  }

  // When it has trained for so long, or has a checkpoint in S3.
  Status Interrupt(const json::object& request, const Run& run) {
    ASSIGN_OR_RETURN(
        const wire::S3Location prefix,
        wire::ParseS3Uri(GetString(*FindObject(request, "CheckpointConfig"), "S3Uri") + "/"));
    const WallTime end = Deadline();
    while (client_.clock().Wall() < end) {
      ASSIGN_OR_RETURN(const model::TrainingJob job, Look(run.name));
      if (model::IsTerminal(job.phase)) {
        return Fail(
            ErrorCode::kInvalidArgument,
            "the program ended before it could be interrupted: it takes too little time, or "
            "saves nothing below its checkpoint path; --after SECONDS interrupts it earlier");
      }
      if (job.phase == model::TrainingPhase::kTraining) {
        ASSIGN_OR_RETURN(const bool ripe, IsRipe(job, prefix));
        if (ripe) {
          return client_.Extension("/-/spot/interrupt", {{"TrainingJobName", run.name}})
              .map([](const json::object&) {});
        }
      }
      Pause(kLookAgain);
    }
    return Late(run.name, "save a checkpoint");
  }

  Result<bool> IsRipe(const model::TrainingJob& job, const wire::S3Location& prefix) {
    if (arguments_.after > 0) {
      const Millis trained = client_.clock().Wall() - job.transitions.back().start;
      return static_cast<double>(trained.count()) >= arguments_.after * 1000;
    }
    ASSIGN_OR_RETURN(const auto saved, s3_.List(prefix.bucket, prefix.key));
    return !saved.empty();
  }

  Status AwaitEnd(Run& run) {
    const WallTime end = Deadline();
    while (client_.clock().Wall() < end) {
      ASSIGN_OR_RETURN(run.record, Look(run.name));
      if (model::IsTerminal(run.record.phase)) return {};
      Pause(kLookAgain);
    }
    return Late(run.name, "end");
  }

  Status ReadLines(Run& run) {
    const json::object query{{"logGroupName", kGroup},
                             {"logStreamNamePrefix", run.name + "/algo-1-"}};
    ASSIGN_OR_RETURN(const json::object page, client_.Logs("DescribeLogStreams", query));
    std::vector<std::string> streams;
    for (const json::value& stream : *FindArray(page, "logStreams")) {
      streams.push_back(GetString(stream.as_object(), "logStreamName"));
    }
    std::sort(streams.begin(), streams.end());  // names end with the time of the attempt
    for (const std::string& stream : streams) {
      std::vector<std::string>& lines = run.lines.emplace_back();
      std::string token;
      while (true) {
        json::object input{
            {"logGroupName", kGroup}, {"logStreamName", stream}, {"startFromHead", true}};
        if (!token.empty()) input["nextToken"] = token;
        ASSIGN_OR_RETURN(const json::object events, client_.Logs("GetLogEvents", input));
        const json::array* list = FindArray(events, "events");
        if (list == nullptr || list->empty()) break;
        for (const json::value& event : *list) {
          lines.push_back(GetString(event.as_object(), "message"));
        }
        token = GetString(events, "nextForwardToken");
      }
    }
    return {};
  }

  // Lines with a figure that both attempts printed and the uninterrupted run printed once: work
  // that was done twice.
  static std::vector<std::string> Repeated(const Run& plain, const Run& interrupted) {
    std::multiset<std::string> usual;
    for (const auto& lines : plain.lines) usual.insert(lines.begin(), lines.end());
    std::vector<std::string> out;
    if (interrupted.lines.size() < 2) return out;
    const std::set<std::string> before(interrupted.lines[0].begin(), interrupted.lines[0].end());
    for (const std::string& line : interrupted.lines[1]) {
      const bool counts = std::any_of(line.begin(), line.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
      if (counts && usual.count(line) == 1 && before.contains(line)) out.push_back(line);
    }
    return out;
  }

  static std::string RestoredText(const model::TrainingJob& job) {
    for (const model::Transition& step : job.transitions) {
      const auto at = step.message.find("restored ");
      if (at != std::string::npos) return step.message.substr(at);
    }
    return "";
  }

  static std::string SigtermText(const model::TrainingJob& job) {
    for (const std::string& note : job.notes) {
      const auto at = note.find("the program ");
      if (note.starts_with("attempt 1, ") && at != std::string::npos) return note.substr(at);
    }
    return "";
  }

  static json::object Judge(const Run& plain, const Run& interrupted) {
    const auto completed = [](const Run& run) {
      return run.record.phase == model::TrainingPhase::kCompleted;
    };
    const std::string restored = RestoredText(interrupted.record);
    const std::string sigterm = SigtermText(interrupted.record);
    const std::vector<std::string> again = Repeated(plain, interrupted);
    const bool was_interrupted = interrupted.record.attempts.size() > 1;
    const bool equal = plain.results == interrupted.results;
    const bool resumes =
        completed(plain) && completed(interrupted) && was_interrupted && !restored.empty();
    json::array differ;
    for (const auto& [path, etag] : plain.results) {
      const auto other = interrupted.results.find(path);
      if (other == interrupted.results.end() || other->second != etag) differ.emplace_back(path);
    }
    for (const auto& [path, etag] : interrupted.results) {
      if (!plain.results.contains(path)) differ.emplace_back(path);
    }
    json::array shown;
    for (std::size_t i = 0; i < again.size() && i < kLinesShown; ++i) shown.emplace_back(again[i]);
    return {{"Uninterrupted", plain.name},
            {"UninterruptedStatus", PrimaryStatus(plain.record.phase)},
            {"Interrupted", interrupted.name},
            {"InterruptedStatus", PrimaryStatus(interrupted.record.phase)},
            {"FailureReason", interrupted.record.failure_reason},
            {"Attempts", interrupted.record.attempts.size()},
            {"Sigterm", sigterm},
            {"SigtermHandled", sigterm.find("handled") != std::string::npos},
            {"Restored", restored},
            {"LinesAgain", again.size()},
            {"LinesAgainFirst", std::move(shown)},
            {"ResultsEqual", equal},
            {"ResultsThatDiffer", std::move(differ)},
            {"Resumes", resumes}};
  }

  Client& client_;
  wire::S3Client& s3_;
  const CheckArguments& arguments_;
  env::PosixRandom random_;
  std::string base_;
};

void Print(const json::object& out) {
  const auto text = [&](std::string_view member) { return Printable(GetString(out, member)); };
  const auto row = [](const char* what, const std::string& how) {
    std::printf("%-14s %s\n", what, how.c_str());
  };
  row("resumes", GetBool(out, "Resumes") ? "yes" : "NO");
  row("runs",
      fmt::format("{} without an interruption, {} with one ({} attempts)",
                  text("UninterruptedStatus"), text("InterruptedStatus"), GetInt(out, "Attempts")));
  if (!text("FailureReason").empty()) row("failure", text("FailureReason"));
  row("SIGTERM", text("Sigterm").empty() ? "nothing is known of it" : text("Sigterm"));
  row("state",
      text("Restored").empty() ? "nothing was restored: the program began anew" : text("Restored"));
  std::string again = fmt::format("{} lines of its log came again", GetInt(out, "LinesAgain"));
  for (const json::value& line : *FindArray(out, "LinesAgainFirst")) {
    again += "\n               " + Printable(View(line.as_string()));
  }
  row("done again", again);
  std::string results = "equal to those of the uninterrupted run";
  if (!GetBool(out, "ResultsEqual")) {
    results =
        "differ from those of the uninterrupted run (right for a program that draws random "
        "numbers or tells the time):";
    for (const json::value& path : *FindArray(out, "ResultsThatDiffer")) {
      results += "\n               " + Printable(View(path.as_string()));
    }
  }
  row("results", results);
}

int RunCheck(const Invocation& invocation, const CheckArguments& arguments) {
  auto client = Client::Connect(invocation.paths());
  if (!client) return Complain(client.error());
  env::PosixFiles files;
  const auto address = ReadEndpoint(files, invocation.paths());
  if (!address) return Complain(address.error());
  const auto key = wire::ReadRootKey(files, invocation.paths().credentials());
  if (!key) return Complain(key.error());
  wire::S3Endpoint endpoint;
  endpoint.url = address->http;
  endpoint.region = address->region;
  endpoint.access_key_id = key->id;
  endpoint.secret_access_key = key->secret;
  auto s3 = wire::S3Client::Create(endpoint, {.patience = Millis(10'000)}, (*client)->clock());
  if (!s3) return Complain(s3.error());
  const auto out = Check(**client, **s3, arguments).Perform();
  if (!out) return Complain(out.error());
  if (arguments.as_json) {
    std::printf("%s\n", json::serialize(*out).c_str());
  } else {
    Print(*out);
  }
  return GetBool(*out, "Resumes") ? kExitDone : kExitFailed;
}

}  // namespace

void AddSpotCheckCommand(CLI::App& spot, Invocation& invocation) {
  CLI::App* command = spot.add_subcommand(
      "check", "Rehearse an interruption: whether a job's program, or a script, truly resumes");
  auto arguments = std::make_shared<CheckArguments>();
  command->add_option("what", arguments->what, "A job whose program is run again, or a script")
      ->required();
  command->add_option("--bucket", arguments->bucket, "Of a script's code and results");
  command
      ->add_option("--after", arguments->after,
                   "Interrupt after so many seconds of training, instead of after a checkpoint")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--patience", arguments->patience, "Seconds that each run may take")
      ->check(CLI::Range(1.0, 86'400.0))
      ->capture_default_str();
  command->add_flag("--json", arguments->as_json, "Print JSON");
  command->callback([&invocation, arguments] {
    invocation.run = [&invocation, arguments] { return RunCheck(invocation, *arguments); };
  });
}

}  // namespace sabia::cli
