#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/spot_prices.h"
#include "cost/price_lists.h"
#include "env/posix/posix_clock.h"
#include "env/posix/posix_files.h"
#include "spot/simulation.h"

namespace sabia::cli {
namespace {

struct SimulateArguments {
  std::string file;
  bool as_json = false;
};

constexpr std::size_t kFileBytesMax = 256 << 20;

std::string Dollars(const json::object& object, std::string_view member) {
  const auto value = FindDouble(object, member);
  return value ? fmt::format("${:.2f}", *value) : "-";
}

std::string Hours(const json::object& object, std::string_view member) {
  const auto value = FindDouble(object, member);
  return value ? fmt::format("{:.1f} h", *value) : "-";
}

void Print(const json::object& report) {
  Table table({"POLICY", "COST", "A MONTH", "SAVING", "LATE", "SPOT", "ON-DEMAND", "CHANGEOVERS",
               "LOST WORK", "ON SPOT", "WAITING", "RECLAIMS"});
  for (const json::value& row : *FindArray(report, "Policies")) {
    const json::object& policy = row.as_object();
    const auto reclaims = FindInt(policy, "Reclaims");
    table.Add({GetString(policy, "Policy"), Dollars(policy, "CostUsd"),
               Dollars(policy, "CostUsdPerMonth"),
               fmt::format("{:.1f} %", GetDouble(policy, "SavingPercent")),
               std::to_string(GetInt(policy, "DeadlinesMissed")), Dollars(policy, "SpotUsd"),
               Dollars(policy, "OnDemandUsd"), Dollars(policy, "ChangeoverUsd"),
               Dollars(policy, "LostWorkUsd"), Hours(policy, "SpotHours"),
               Hours(policy, "WaitingHours"), reclaims ? std::to_string(*reclaims) : "-"});
  }
  std::printf("%lld jobs over %.2f months\n\n%s", static_cast<long long>(GetInt(report, "Jobs")),
              GetDouble(report, "Months"), table.ToString().c_str());
  for (const json::value& note : *FindArray(report, "Notes")) {
    std::printf("\nnote: %s\n", Printable(View(note.as_string())).c_str());
  }
}

int Simulate(const SimulateArguments& arguments) {
  env::PosixFiles files;
  const env::Path file(arguments.file);
  const auto text = files.Read(file, kFileBytesMax);
  if (!text) return Complain(Annotate(text.error(), "failed to read the workload"));
  env::PosixClock clock;
  const cost::PriceLists prices = cost::PriceLists::BuiltIn();
  // Files that the document names stand beside it.
  const auto read = [&](const std::string& name) {
    return files.Read(file.parent_path() / name, kFileBytesMax);
  };
  const auto simulation = spot::ParseSimulation(*text, read, SpotPrices(prices, clock));
  if (!simulation) return Complain(Annotate(simulation.error(), arguments.file));
  const json::object report = spot::ToJson(*simulation, spot::RunSimulation(*simulation));
  if (arguments.as_json) {
    std::printf("%s\n", json::serialize(report).c_str());
  } else {
    Print(report);
  }
  return kExitDone;
}

}  // namespace

void AddSimulateCommand(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand(
      "simulate", "What a workload would cost on spot under a market, deadlines and policies");
  auto arguments = std::make_shared<SimulateArguments>();
  command->add_option("file", arguments->file, "The workload: JSON, docs/semantics/simulate.md")
      ->required();
  command->add_flag("--json", arguments->as_json, "Print JSON");
  command->callback(
      [&invocation, arguments] { invocation.run = [arguments] { return Simulate(*arguments); }; });
}

}  // namespace sabia::cli
