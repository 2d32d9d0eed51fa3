#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/job_list.h"
#include "model/training_job.h"

namespace sabia::cli {
namespace {

struct JobsArguments : ListArguments {
  std::string job;
};

int PrintJobs(Client& client, const JobsArguments& arguments) {
  const auto jobs = ListNewest(client, "ListTrainingJobs", "TrainingJobSummaries", arguments);
  if (!jobs) return Complain(jobs.error());
  if (arguments.as_json) {
    std::printf("%s\n", json::serialize(*jobs).c_str());
    return kExitDone;
  }
  if (jobs->empty()) {
    std::printf("no training jobs\n");
    return kExitDone;
  }
  Table table({"JOB", "STATUS", "SECONDARY", "CREATED", "ENDED"});
  for (const json::value& row : *jobs) {
    const json::object& job = row.as_object();
    table.Add({GetString(job, "TrainingJobName"), GetString(job, "TrainingJobStatus"),
               GetString(job, "SecondaryStatus", "-"), TimeOf(job, "CreationTime"),
               TimeOf(job, "TrainingEndTime")});
  }
  std::fputs(table.ToString().c_str(), stdout);
  return kExitDone;
}

void PrintAttempts(const model::TrainingJob& job) {
  if (job.attempts.empty()) return;
  Table table({"ATTEMPT", "CAPACITY", "ZONE", "LAUNCHED", "READY", "ENDED", "WHY"});
  for (const model::Attempt& attempt : job.attempts) {
    table.Add({std::to_string(attempt.number), attempt.spot ? "spot" : "on-demand",
               attempt.zone.empty() ? "-" : attempt.zone, LocalTime(attempt.launched),
               attempt.ready ? LocalTime(*attempt.ready) : "-",
               attempt.ended ? LocalTime(*attempt.ended) : "-",
               attempt.end_reason.empty() ? "runs" : attempt.end_reason});
  }
  std::printf("\n%s", table.ToString().c_str());
  for (const model::Attempt& attempt : job.attempts) {
    if (attempt.choice.empty()) continue;
    std::printf("attempt %d: %s\n", attempt.number, Printable(attempt.choice).c_str());
  }
}

// What would be lost if a running instance vanished now.
void PrintCheckpoints(const json::object& document) {
  const json::array* hosts = FindArray(document, "checkpoints");
  if (hosts == nullptr || hosts->empty()) return;
  Table table({"CHECKPOINTS OF", "FILES IN S3", "BYTES PENDING", "LAST SYNCED", "NEWEST WRITTEN"});
  const auto time = [](const json::object& host, std::string_view member) {
    const auto millis = FindInt(host, member);
    return millis ? LocalTime(FromUnixMillis(*millis)) : std::string("never");
  };
  for (const json::value& row : *hosts) {
    const json::object& host = row.as_object();
    table.Add({GetString(host, "host"), std::to_string(GetInt(host, "files")),
               std::to_string(GetInt(host, "pending_bytes")), time(host, "synced_at"),
               time(host, "written_at")});
  }
  std::printf("\n%s", table.ToString().c_str());
}

void PrintTransitions(const model::TrainingJob& job) {
  Table table({"STATUS", "FROM", "TO", "MESSAGE"});
  for (const model::Transition& step : job.transitions) {
    table.Add({step.status, LocalTime(step.start), step.end ? LocalTime(*step.end) : "-",
               Printable(step.message)});
  }
  std::printf("\n%s", table.ToString().c_str());
}

int PrintJob(Client& client, const JobsArguments& arguments) {
  const auto document =
      client.Extension("/-/jobs/training", json::object{{"TrainingJobName", arguments.job}});
  if (!document) return Complain(AboutJob(document.error(), arguments.job));
  if (arguments.as_json) {
    std::printf("%s\n", json::serialize(*document).c_str());
    return kExitDone;
  }
  const auto job = model::TrainingJob::FromJson(*document);
  if (!job) return Complain(job.error());
  std::printf("%s  %s / %s\n%s\n", job->name.c_str(),
              std::string(model::PrimaryStatus(job->phase)).c_str(), job->secondary_status.c_str(),
              job->arn.c_str());
  if (!job->failure_reason.empty())
    std::printf("failure: %s\n", Printable(job->failure_reason).c_str());
  PrintTransitions(*job);
  PrintAttempts(*job);
  PrintCheckpoints(*document);
  if (!job->final_metrics.empty()) std::printf("\n");
  for (const model::FinalMetric& metric : job->final_metrics) {
    std::printf("metric %s = %.6g\n", metric.name.c_str(), metric.value);
  }
  if (!job->notes.empty()) std::printf("\n");
  for (const std::string& note : job->notes) std::printf("note: %s\n", Printable(note).c_str());
  return kExitDone;
}

}  // namespace

void AddJobsCommand(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("jobs", "List training jobs, or describe one");
  auto arguments = std::make_shared<JobsArguments>();
  command->add_option("job", arguments->job, "Describe this one: attempts, transitions, notes");
  AddListOptions(*command, "jobs", *arguments);
  command->callback([&invocation, arguments] {
    invocation.run = [&invocation, arguments] {
      auto client = Client::Connect(invocation.paths());
      if (!client) return Complain(client.error());
      return arguments->job.empty() ? PrintJobs(**client, *arguments)
                                    : PrintJob(**client, *arguments);
    };
  });
}

}  // namespace sabia::cli
