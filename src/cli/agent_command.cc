#include "agent/agent.h"

#include <memory>
#include <string>

#include "cli/agent_s3.h"
#include "cli/command.h"
#include "env/posix/posix_clock.h"
#include "fleet/posix/fork_server.h"
#include "store/log_store.h"

namespace sabia::cli {
namespace {

int RunAgentProcess(const Invocation& invocation, const std::string& directory) {
  env::PosixClock clock;
  agent::AgentOptions options;
  options.directory = directory;
  options.paths.self_exe = invocation.executable;
  const agent::ConnectS3 connect = MakeAgentS3(clock);
  const auto open_log = [&clock](const env::Path& stream_file) {
    return store::LogWriter::Open(stream_file, clock);
  };
  return agent::RunAgent(options, {clock, connect, open_log});
}

}  // namespace

void AddAgentCommand(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("agent", "Run one instance of a job (started by serve)");
  command->group("");  // Not for people: hidden from --help.
  auto directory = std::make_shared<std::string>();
  auto serves = std::make_shared<bool>(false);
  CLI::Option* one =
      command->add_option("--directory", *directory, "The directory of the instance");
  command->add_flag("--serve-forks", *serves, "Fork an agent for each directory on descriptor 3")
      ->excludes(one);
  command->callback([&invocation, directory, serves] {
    if (!*serves && directory->empty()) throw CLI::RequiredError("--directory");
    invocation.run = [&invocation, directory, serves] {
      if (!*serves) return RunAgentProcess(invocation, *directory);
      return fleet::ServeForks(fleet::kForkServerSocket, [&invocation](const env::Path& path) {
        return RunAgentProcess(invocation, path.native());
      });
    };
  });
}

}  // namespace sabia::cli
