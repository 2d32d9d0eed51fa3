#include <cstdio>
#include <memory>
#include <string>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/spot_check.h"

namespace sabia::cli {
namespace {

int Interrupt(const Invocation& invocation, const std::string& job) {
  auto client = Client::Connect(invocation.paths());
  if (!client) return Complain(client.error());
  const auto answer = (*client)->Extension("/-/spot/interrupt", {{"TrainingJobName", job}});
  if (!answer) return Complain(AboutJob(answer.error(), job));
  const auto reclaim_at = FindDouble(*answer, "ReclaimAt");
  std::printf("notice given to '%s' (attempt %lld)", job.c_str(),
              static_cast<long long>(GetInt(*answer, "Attempt")));
  if (reclaim_at) {
    std::printf("; its capacity is reclaimed at %s",
                LocalTime(FromUnixSeconds(*reclaim_at)).c_str());
  }
  std::printf("\n");
  return kExitDone;
}

std::string Lasted(std::int64_t seconds) {
  constexpr std::int64_t kMinute = 60, kHour = 3600, kDay = 86'400;
  if (seconds < 2 * kMinute) return fmt::format("{} s", seconds);
  if (seconds < 2 * kHour) return fmt::format("{} min", seconds / kMinute);
  if (seconds < 2 * kDay) return fmt::format("{} h", seconds / kHour);
  return fmt::format("{} d", seconds / kDay);
}

struct MarketArguments {
  std::string type = "ml.m5.large";
  bool as_json = false;
};

int ShowMarket(const Invocation& invocation, const MarketArguments& arguments) {
  auto client = Client::Connect(invocation.paths());
  if (!client) return Complain(client.error());
  const auto market = (*client)->Extension("/-/spot/market", {{"InstanceType", arguments.type}});
  if (!market) return Complain(market.error());
  if (arguments.as_json) {
    std::printf("%s\n", json::serialize(*market).c_str());
    return kExitDone;
  }
  const auto dollars = [](const json::object& object, std::string_view member) {
    const auto value = FindDouble(object, member);
    return value ? fmt::format("${:.6f}", *value) : std::string("-");
  };
  std::printf("%s, --spot-market %s, on-demand %s an hour\n\n", arguments.type.c_str(),
              Printable(GetString(*market, "SpotMarket")).c_str(),
              dollars(*market, "OnDemandUsdPerHour").c_str());
  Table table({"ZONE", "MARKET", "CAPACITY", "SPOT / HOUR", "SINCE", "AVAILABLE", "INTERRUPTIONS"});
  for (const json::value& value : *FindArray(*market, "Zones")) {
    const json::object& zone = value.as_object();
    constexpr std::int64_t kEverybody = 1'000'000;
    const std::int64_t instances = GetInt(zone, "Instances");
    const auto since = FindInt(zone, "SinceSeconds");
    table.Add({GetString(zone, "Zone"), GetString(zone, "Kind"),
               instances >= kEverybody ? "yes"
               : instances == 0        ? "none"
                                       : fmt::format("{} instances", instances),
               dollars(zone, "UsdPerHour"), since ? Lasted(*since) : "-",
               since ? fmt::format("{:.1f} %", GetDouble(zone, "AvailablePercent")) : "-",
               since ? std::to_string(GetInt(zone, "Interruptions")) : "-"});
  }
  std::printf("%s\nAVAILABLE and INTERRUPTIONS: of the last %.3g days\n", table.ToString().c_str(),
              GetDouble(*market, "HistoryDays"));
  return kExitDone;
}

}  // namespace

void AddSpotCommand(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("spot", "Spot capacity");
  command->require_subcommand(1);
  CLI::App* interrupt = command->add_subcommand(
      "interrupt", "Reclaim the spot capacity of a running job now, with the usual notice");
  auto job = std::make_shared<std::string>();
  interrupt->add_option("job", *job, "The job")->required();
  interrupt->callback([&invocation, job] {
    invocation.run = [&invocation, job] { return Interrupt(invocation, *job); };
  });
  AddSpotCheckCommand(*command, invocation);
  CLI::App* market = command->add_subcommand(
      "market", "Where spot capacity of an instance type is now, what it costs, how it was");
  auto arguments = std::make_shared<MarketArguments>();
  market->add_option("instance-type", arguments->type, "The instance type")->capture_default_str();
  market->add_flag("--json", arguments->as_json, "Print JSON");
  market->callback([&invocation, arguments] {
    invocation.run = [&invocation, arguments] { return ShowMarket(invocation, *arguments); };
  });
}

}  // namespace sabia::cli
