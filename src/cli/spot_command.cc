#include <cstdio>
#include <memory>
#include <string>

#include "cli/client.h"
#include "cli/command.h"

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
}

}  // namespace sabia::cli
