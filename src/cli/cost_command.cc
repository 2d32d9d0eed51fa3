#include <cstdio>
#include <memory>
#include <string>

#include "cli/client.h"
#include "cli/command.h"

namespace sabia::cli {
namespace {

struct CostArguments {
  std::string job;
  int days = 7;
  std::string tag;
  bool as_json = false;
};

std::string Dollars(const json::object& object, std::string_view member) {
  const auto value = FindDouble(object, member);
  return value ? fmt::format("${:.6f}", *value) : "-";
}

// Decimal numbers come as text, so that no digit is lost on the way.
std::string Text(const json::object& object, std::string_view outer, std::string_view inner) {
  const json::object* found = FindObject(object, outer);
  return found == nullptr ? "0" : GetString(*found, inner, "0");
}

std::string Seconds(const json::object& object, std::string_view use) {
  return Text(object, use, "InstanceSeconds");
}

std::string Usd(const json::object& object, std::string_view use) {
  return "$" + Text(object, use, "Usd");
}

// Where the time and the money of a job went, over all its instances.
void PrintTotals(const json::object& cost) {
  const json::object* totals = FindObject(cost, "Totals");
  if (totals == nullptr) return;
  Table table({"USE", "INSTANCE SECONDS", "COST"});
  table.Add({"on-demand", Seconds(*totals, "OnDemand"), Usd(*totals, "OnDemand")});
  table.Add({"spot", Seconds(*totals, "Spot"), Usd(*totals, "Spot")});
  table.Add({"  of it lost work", Seconds(*totals, "LostWork"), Usd(*totals, "LostWork")});
  table.Add({"warm pool", Seconds(*totals, "WarmPool"), Usd(*totals, "WarmPool")});
  table.Add({"waiting", Seconds(*totals, "Waiting"), Usd(*totals, "Waiting")});
  std::printf("\n%stotal $%s\n", table.ToString().c_str(), GetString(cost, "TotalUsd").c_str());
  std::printf("without interruptions: on demand %s, spot %s\n",
              ("$" + Text(cost, "Otherwise", "OnDemandUsd")).c_str(),
              ("$" + Text(cost, "Otherwise", "SpotUsd")).c_str());
}

void PrintLedger(const json::object& cost) {
  const json::array* lines = FindArray(cost, "Ledger");
  if (lines == nullptr || lines->empty()) return;
  Table table({"INSTANCE", "KIND", "WAITED FROM", "START", "LOST FROM", "END", "PER HOUR", "COST",
               "PRICES OF"});
  for (const json::value& row : *lines) {
    const json::object& line = row.as_object();
    table.Add({GetString(line, "Instance"), GetString(line, "Kind"), GetString(line, "WaitedFrom"),
               GetString(line, "Start"), GetString(line, "LostFrom", "-"), GetString(line, "End"),
               "$" + GetString(line, "UsdPerHour"), "$" + GetString(line, "Usd"),
               GetString(line, "PriceDate")});
  }
  std::printf("\n%s", table.ToString().c_str());
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
  Table table({"ATTEMPT", "CAPACITY", "BILLABLE SECONDS", "LOST", "BILLED", "ENDED"});
  for (const json::value& row : *attempts) {
    const json::object& attempt = row.as_object();
    table.Add({std::to_string(GetInt(attempt, "Attempt")),
               GetBool(attempt, "Spot") ? "spot" : "on-demand",
               fmt::format("{:.3f}", GetDouble(attempt, "BillableSeconds")),
               fmt::format("{:.3f}", GetDouble(attempt, "LostSeconds")),
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
  PrintTotals(cost);
  PrintLedger(cost);
  if (const json::array* notes = FindArray(cost, "Notes")) {
    for (const json::value& note : *notes) {
      if (note.is_string()) std::printf("\nnote: %s\n", note.as_string().c_str());
    }
  }
}

void PrintDays(const json::object& costs, const std::string& tag) {
  const json::array* days = FindArray(costs, "Days");
  std::vector<std::string> head{"DATE"};
  if (!tag.empty()) head.push_back("TAG " + tag);
  head.insert(head.end(),
              {"ON-DEMAND", "SPOT", "LOST WORK", "WARM POOL", "WAITED SECONDS", "TOTAL"});
  Table table(head);
  for (const json::value& row : days == nullptr ? json::array() : *days) {
    const json::object& day = row.as_object();
    std::vector<std::string> cells{GetString(day, "Date")};
    if (!tag.empty()) cells.push_back(GetString(day, "Tag"));
    for (const char* use : {"OnDemand", "Spot", "LostWork", "WarmPool"})
      cells.push_back(Usd(day, use));
    cells.push_back(Seconds(day, "Waiting"));
    cells.push_back("$" + GetString(day, "TotalUsd"));
    table.Add(cells);
  }
  std::printf("%stotal $%s\n", table.ToString().c_str(), GetString(costs, "TotalUsd").c_str());
}

int ShowDays(Client& client, const CostArguments& arguments) {
  json::object request{{"Days", arguments.days}};
  if (!arguments.tag.empty()) request["TagKey"] = arguments.tag;
  const auto costs = client.Extension("/-/cost", request);
  if (!costs) return Complain(costs.error());
  if (arguments.as_json) {
    std::printf("%s\n", json::serialize(*costs).c_str());
  } else {
    PrintDays(*costs, arguments.tag);
  }
  return kExitDone;
}

int ShowCost(const Invocation& invocation, const CostArguments& arguments) {
  auto client = Client::Connect(invocation.paths());
  if (!client) return Complain(client.error());
  if (arguments.job.empty()) return ShowDays(**client, arguments);
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
      "cost", "What a training job cost and why, or without JOB what was used on each day");
  auto arguments = std::make_shared<CostArguments>();
  CLI::Option* job = command->add_option("job", arguments->job, "The job");
  command->add_option("--days", arguments->days, "Without JOB: so many days, today included")
      ->check(CLI::Range(1, 400))
      ->excludes(job)
      ->capture_default_str();
  command->add_option("--tag", arguments->tag, "Without JOB: by the values of this tag")
      ->excludes(job);
  command->add_flag("--json", arguments->as_json, "Print JSON");
  command->callback([&invocation, arguments] {
    invocation.run = [&invocation, arguments] { return ShowCost(invocation, *arguments); };
  });
}

}  // namespace sabia::cli
