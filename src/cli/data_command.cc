#include <array>
#include <cstdio>
#include <memory>
#include <string>

#include "cli/client.h"
#include "cli/command.h"

namespace sabia::cli {
namespace {

struct StatArguments {
  std::string job;
  bool as_json = false;
};

std::string Size(double bytes) {
  static constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return fmt::format(fmt::runtime(unit == 0 ? "{:.0f} {}" : "{:.1f} {}"), bytes, kUnits[unit]);
}

std::string_view WayOf(const json::object& channel) {
  const auto way = FindString(channel, "Way").value_or("-");
  if (way == "view") return "view, not copied";
  if (way == "stream") return "read on demand";
  return way == "copy" ? "copied" : way == "download" ? "downloaded" : way;
}

// A part of the time that epochs were open, or that the program could read.
std::string Share(const json::object& channel, std::string_view member) {
  const double served = GetDouble(channel, "ServedSeconds");
  if (served <= 0) return "-";
  return fmt::format("{:.0f} %", 100 * GetDouble(channel, member) / served);
}

std::string HitShare(const json::object& channel) {
  const double reads = GetDouble(channel, "Reads");
  return reads <= 0 ? "-"
                    : fmt::format("{:.0f} %", 100 * GetDouble(channel, "PrefetchHits") / reads);
}

void AddRow(Table& table, const json::object& channel) {
  const bool pipe = GetString(channel, "InputMode") == "Pipe";
  const auto rate = FindDouble(channel, "BytesPerSecond");
  std::string epochs = "-";
  if (pipe) epochs = std::to_string(GetInt(channel, "Epochs"));
  if (GetInt(channel, "EpochsCut") > 0)
    epochs += fmt::format(" ({} cut)", GetInt(channel, "EpochsCut"));
  table.Add({GetString(channel, "ChannelName"), GetString(channel, "InputMode"),
             std::string(WayOf(channel)), std::to_string(GetInt(channel, "Objects")),
             Size(GetDouble(channel, "Bytes")), epochs, rate ? Size(*rate) + "/s" : "-",
             Share(channel, "StarvedSeconds"), pipe ? Share(channel, "BlockedSeconds") : "-",
             HitShare(channel)});
}

void PrintStat(const json::object& stat) {
  std::printf("%s%s\n", GetString(stat, "TrainingJobName").c_str(),
              GetBool(stat, "Final") ? "" : " (still running)");
  const json::array* channels = FindArray(stat, "Channels");
  if (channels == nullptr || channels->empty()) {
    std::printf("no channel has brought data yet\n");
    return;
  }
  Table table({"CHANNEL", "MODE", "WAY", "OBJECTS", "BYTES", "EPOCHS", "RATE", "STARVED", "BLOCKED",
               "AHEAD"});
  for (const json::value& channel : *channels) AddRow(table, channel.as_object());
  std::printf("\n%s", table.ToString().c_str());
}

int ShowStat(const Invocation& invocation, const StatArguments& arguments) {
  auto client = Client::Connect(invocation.paths());
  if (!client) return Complain(client.error());
  const auto stat = (*client)->Extension("/-/data", {{"TrainingJobName", arguments.job}});
  if (!stat) return Complain(AboutJob(stat.error(), arguments.job));
  if (arguments.as_json) {
    std::printf("%s\n", json::serialize(*stat).c_str());
  } else {
    PrintStat(*stat);
  }
  return kExitDone;
}

}  // namespace

void AddDataCommand(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("data", "Input data of jobs");
  command->require_subcommand(1);
  CLI::App* stat =
      command->add_subcommand("stat", "How data reached a job's program, and who waited for whom");
  auto arguments = std::make_shared<StatArguments>();
  stat->add_option("job", arguments->job, "The job")->required();
  stat->add_flag("--json", arguments->as_json, "Print JSON");
  stat->footer(
      "STARVED is the part of an open epoch's time in which the pipe stood empty: a program that "
      "read waited for data. BLOCKED is the part in which it stood full: data waited for the "
      "program. Of files that are read on demand (FastFile), STARVED is the part of the program's "
      "time in which a read waited, and AHEAD the part of the reads whose bytes had been fetched "
      "before. Numbers of running jobs are a few seconds old.");
  stat->callback([&invocation, arguments] {
    invocation.run = [&invocation, arguments] { return ShowStat(invocation, *arguments); };
  });
}

}  // namespace sabia::cli
