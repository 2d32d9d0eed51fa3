#include <cstdio>
#include <memory>
#include <string>

#include "cli/client.h"
#include "cli/command.h"

namespace sabia::cli {
namespace {

struct CostArguments {
  std::string job;
  bool as_json = false;
};

std::string Dollars(const json::object& object, std::string_view member) {
  const auto value = FindDouble(object, member);
  return value ? fmt::format("${:.6f}", *value) : "-";
}

void PrintInstances(const json::object& cost) {
  const json::array* instances = FindArray(cost, "Instances");
  if (instances == nullptr) return;
  Table table({"INSTANCES", "ON-DEMAND / HOUR", "SPOT / HOUR", "PRICE"});
  for (const json::value& row : *instances) {
    const json::object& instance = row.as_object();
    table.Add({fmt::format("{} x {}", GetInt(instance, "InstanceCount"),
                           GetString(instance, "InstanceType")),
               Dollars(instance, "OnDemandUsdPerHour"), Dollars(instance, "SpotUsdPerHour"),
               GetString(instance, "Basis")});
  }
  std::printf("\n%s", table.ToString().c_str());
}

void PrintAttempts(const json::object& cost) {
  const json::array* attempts = FindArray(cost, "Attempts");
  if (attempts == nullptr || attempts->empty()) return;
  Table table({"ATTEMPT", "CAPACITY", "BILLABLE SECONDS", "BILLED", "ENDED"});
  for (const json::value& row : *attempts) {
    const json::object& attempt = row.as_object();
    table.Add({std::to_string(GetInt(attempt, "Attempt")),
               GetBool(attempt, "Spot") ? "spot" : "on-demand",
               fmt::format("{:.3f}", GetDouble(attempt, "BillableSeconds")),
               Dollars(attempt, "BilledUsd"), GetString(attempt, "EndReason", "runs")});
  }
  std::printf("\n%s", table.ToString().c_str());
}

void PrintCost(const json::object& cost) {
  std::printf("%s in %s%s\n", GetString(cost, "TrainingJobName").c_str(),
              GetString(cost, "Region").c_str(), GetBool(cost, "Final") ? "" : " (still running)");
  std::printf("training %lld s, billable %lld s per instance\n",
              static_cast<long long>(GetInt(cost, "TrainingSeconds")),
              static_cast<long long>(GetInt(cost, "BillableSeconds")));
  std::printf("billed %s, on-demand %s, saving %s (%.1f %%)\n", Dollars(cost, "BilledUsd").c_str(),
              Dollars(cost, "OnDemandUsd").c_str(), Dollars(cost, "SavedUsd").c_str(),
              GetDouble(cost, "SavingPercent"));
  PrintInstances(cost);
  PrintAttempts(cost);
  if (const json::array* notes = FindArray(cost, "Notes")) {
    for (const json::value& note : *notes) {
      if (note.is_string()) std::printf("\nnote: %s\n", note.as_string().c_str());
    }
  }
}

int ShowCost(const Invocation& invocation, const CostArguments& arguments) {
  auto client = Client::Connect(invocation.paths());
  if (!client) return Complain(client.error());
  const auto cost = (*client)->Extension("/-/cost", {{"TrainingJobName", arguments.job}});
  if (!cost) return Complain(AboutJob(cost.error(), arguments.job));
  if (arguments.as_json) {
    std::printf("%s\n", json::serialize(*cost).c_str());
  } else {
    PrintCost(*cost);
  }
  return kExitDone;
}

}  // namespace

void AddCostCommand(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand(
      "cost", "What a training job cost per attempt, on spot and on demand, and what it saved");
  auto arguments = std::make_shared<CostArguments>();
  command->add_option("job", arguments->job, "The job")->required();
  command->add_flag("--json", arguments->as_json, "Print JSON");
  command->callback([&invocation, arguments] {
    invocation.run = [&invocation, arguments] { return ShowCost(invocation, *arguments); };
  });
}

}  // namespace sabia::cli
