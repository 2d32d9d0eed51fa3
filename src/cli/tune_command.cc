#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/job_list.h"

namespace sabia::cli {
namespace {

constexpr std::size_t kReasonCharsMax = 60;

struct TuneArguments : ListArguments {
  std::string job;
};

const json::array& List(const json::object& object, std::string_view key) {
  static const json::array kEmpty;
  const json::array* found = FindArray(object, key);
  return found == nullptr ? kEmpty : *found;
}

// Tables are padded, so colour goes around whole lines only.
std::string Bold(std::string_view text) {
  return UseColor() ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text);
}

std::string Number(const json::object& object, std::string_view member) {
  const auto value = FindDouble(object, member);
  return value ? fmt::format("{:.6g}", *value) : "-";
}

std::string FirstLine(std::string_view text) {
  return Printable(text.substr(0, text.find_first_of("\r\n")));
}

// The line of a FailureReason that says most.
std::string CauseIn(std::string_view failure) {
  constexpr std::string_view kMessage = "ErrorMessage ";
  const std::size_t message = failure.find(kMessage);
  return FirstLine(message == std::string_view::npos ? failure
                                                     : failure.substr(message + kMessage.size()));
}

std::string Shortened(const std::string& text) {
  return text.size() <= kReasonCharsMax ? text : text.substr(0, kReasonCharsMax - 3) + "...";
}

Error AboutTuningJob(Error error, const std::string& job) {
  if (error.message.find(job) != std::string::npos) return error;
  return Annotate(std::move(error), "tuning job '" + job + "'");
}

// What became of a trial, in one cell.
std::string Outcome(const json::object& trial) {
  std::string out = GetString(trial, "TrainingJobStatus");
  if (const auto stop = FindString(trial, "Stop")) out += ": " + FirstLine(*stop);
  if (const auto failure = FindString(trial, "Failure")) out += ": " + CauseIn(*failure);
  return Shortened(out);
}

std::string Expected(const json::object& trial) {
  if (!FindDouble(trial, "Expected")) return "-";
  return fmt::format("{} ({} to {})", Number(trial, "Expected"), Number(trial, "ExpectedLow"),
                     Number(trial, "ExpectedHigh"));
}

void PrintTrials(const json::object& definition, const std::string& best) {
  const json::array& trials = List(definition, "Trials");
  if (trials.empty()) {
    std::printf("\nno trials yet\n");
    return;
  }
  std::vector<std::string> names;
  for (const auto& [name, value] :
       *FindObject(trials.front().as_object(), "TunedHyperParameters")) {
    names.emplace_back(name);
  }
  std::vector<std::string> head{"TRIAL", "OBJECTIVE", "EXPECTED NOW"};
  head.insert(head.end(), names.begin(), names.end());
  head.insert(head.end(), {"OUTCOME", "CHOSEN BECAUSE"});
  Table table(std::move(head));
  for (const json::value& row : trials) {
    const json::object& trial = row.as_object();
    const bool is_best = !best.empty() && GetString(trial, "TrainingJobName") == best;
    std::vector<std::string> cells{
        fmt::format("{}{}", GetInt(trial, "Number"), is_best ? " *" : ""),
        Number(trial, "Objective"), Expected(trial)};
    for (const std::string& name : names) {
      cells.push_back(Printable(GetString(*FindObject(trial, "TunedHyperParameters"), name, "-")));
    }
    cells.push_back(Outcome(trial));
    cells.push_back(Printable(GetString(trial, "Reason", "-")));
    table.Add(std::move(cells));
  }
  std::printf("\n%s", table.ToString().c_str());
}

void PrintImportances(const json::object& definition) {
  const json::array& importances = List(definition, "Importances");
  if (importances.empty()) return;
  Table table({"HYPERPARAMETER", "IMPORTANCE"});
  for (const json::value& row : importances) {
    table.Add({GetString(row.as_object(), "Name"),
               fmt::format("{:.1f} %", 100 * GetDouble(row.as_object(), "Share"))});
  }
  std::printf("\n%s", table.ToString().c_str());
}

void PrintFailures(const json::object& definition) {
  for (const json::value& row : List(definition, "Failures")) {
    std::string trials;
    for (const json::value& number : List(row.as_object(), "Trials")) {
      trials += fmt::format("{}{}", trials.empty() ? "" : ", ", number.to_number<int>());
    }
    std::printf("\nfailed: %s\n  trials %s\n",
                Printable(GetString(row.as_object(), "Failure")).c_str(), trials.c_str());
  }
  const std::int64_t silent = GetInt(definition, "WithoutMetric");
  if (silent > 0) {
    std::printf("\n%lld trials ended without a value of %s\n", static_cast<long long>(silent),
                GetString(definition, "MetricName").c_str());
  }
}

void PrintHead(const json::object& account) {
  std::printf("%s  %s\n", Bold(GetString(account, "HyperParameterTuningJobName")).c_str(),
              GetString(account, "Status").c_str());
  std::size_t trials = 0;
  for (const json::value& definition : List(account, "Definitions")) {
    trials += List(definition.as_object(), "Trials").size();
  }
  std::printf("strategy %s, seed %lld, %zu of %lld trials\n",
              GetString(account, "Strategy").c_str(),
              static_cast<long long>(GetInt(account, "Seed")), trials,
              static_cast<long long>(GetInt(account, "MaxNumberOfTrainingJobs")));
  if (const auto note = FindString(account, "EndNote")) {
    std::printf("ended: %s\n", FirstLine(*note).c_str());
  }
  if (const auto failure = FindString(account, "FailureReason")) {
    std::printf("failure: %s\n", Printable(*failure).c_str());
  }
}

void PrintAccount(const json::object& account) {
  PrintHead(account);
  const std::string best = GetString(account, "BestTrainingJobName");
  for (const json::value& value : List(account, "Definitions")) {
    const json::object& definition = value.as_object();
    const auto name = FindString(definition, "DefinitionName");
    std::printf("\n%s%s %s\n", name ? fmt::format("definition {}: ", *name).c_str() : "",
                GetString(definition, "Type").c_str(), GetString(definition, "MetricName").c_str());
    PrintTrials(definition, best);
    PrintImportances(definition);
    PrintFailures(definition);
  }
  if (!best.empty()) std::printf("\n* the best: %s\n", best.c_str());
  for (const json::value& note : List(account, "Notes")) {
    std::printf("note: %s\n", Printable(note.as_string().c_str()).c_str());
  }
}

int Explain(const Invocation& invocation, const TuneArguments& arguments) {
  auto client = Client::Connect(invocation.paths());
  if (!client) return Complain(client.error());
  const auto account =
      (*client)->Extension("/-/tune/explain", {{"HyperParameterTuningJobName", arguments.job}});
  if (!account) return Complain(AboutTuningJob(account.error(), arguments.job));
  if (arguments.as_json) {
    std::printf("%s\n", json::serialize(*account).c_str());
  } else {
    PrintAccount(*account);
  }
  return kExitDone;
}

// "12 of 40, 2 run, 1 failed"
std::string Progress(const json::object& job) {
  const json::object& counts = *FindObject(job, "TrainingJobStatusCounters");
  const std::int64_t ended = GetInt(counts, "Completed") + GetInt(counts, "Stopped");
  const std::int64_t failed =
      GetInt(counts, "RetryableError") + GetInt(counts, "NonRetryableError");
  const json::object* limits = FindObject(job, "ResourceLimits");
  const auto wanted =
      limits == nullptr ? std::nullopt : FindInt(*limits, "MaxNumberOfTrainingJobs");
  std::string out = fmt::format("{}", ended + failed);
  if (wanted) out += fmt::format(" of {}", *wanted);
  if (const std::int64_t run = GetInt(counts, "InProgress")) out += fmt::format(", {} run", run);
  if (failed > 0) out += fmt::format(", {} failed", failed);
  return out;
}

int ShowList(const Invocation& invocation, const TuneArguments& arguments) {
  auto client = Client::Connect(invocation.paths());
  if (!client) return Complain(client.error());
  const auto jobs = ListNewest(**client, "ListHyperParameterTuningJobs",
                               "HyperParameterTuningJobSummaries", arguments);
  if (!jobs) return Complain(jobs.error());
  if (arguments.as_json) {
    std::printf("%s\n", json::serialize(*jobs).c_str());
    return kExitDone;
  }
  if (jobs->empty()) {
    std::printf("no tuning jobs\n");
    return kExitDone;
  }
  Table table({"JOB", "STATUS", "STRATEGY", "TRIALS", "CREATED", "ENDED"});
  for (const json::value& row : *jobs) {
    const json::object& job = row.as_object();
    table.Add({GetString(job, "HyperParameterTuningJobName"),
               GetString(job, "HyperParameterTuningJobStatus"), GetString(job, "Strategy"),
               Progress(job), TimeOf(job, "CreationTime"),
               TimeOf(job, "HyperParameterTuningEndTime")});
  }
  std::fputs(table.ToString().c_str(), stdout);
  return kExitDone;
}

}  // namespace

void AddTuneCommand(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("tune", "Hyperparameter tuning jobs");
  command->require_subcommand(1);
  auto arguments = std::make_shared<TuneArguments>();

  CLI::App* list = command->add_subcommand("list", "List tuning jobs and how far they are");
  AddListOptions(*list, "tuning jobs", *arguments);
  list->callback([&invocation, arguments] {
    invocation.run = [&invocation, arguments] { return ShowList(invocation, *arguments); };
  });

  CLI::App* explain = command->add_subcommand(
      "explain",
      "Why each trial was chosen, what is expected of it, what matters, and what failed");
  explain->add_option("job", arguments->job, "The tuning job")->required();
  explain->add_flag("--json", arguments->as_json, "Print JSON");
  explain->callback([&invocation, arguments] {
    invocation.run = [&invocation, arguments] { return Explain(invocation, *arguments); };
  });
}

}  // namespace sabia::cli
