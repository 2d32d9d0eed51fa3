#include "agent/agent.h"

#include <malloc.h>

#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "cli/agent_s3.h"
#include "cli/command.h"
#include "env/posix/posix_clock.h"
#include "fleet/posix/fork_server.h"
#include "store/log_store.h"
#include "wire/idle_connections.h"

namespace sabia::cli {
namespace {

// An agent speaks to the daemon, now and then to another store.
constexpr std::size_t kClientsKept = 2;

agent::AgentEnd RunAgentProcess(const agent::AgentOptions& options) {
  env::PosixClock clock;
  const agent::ConnectS3 connect = MakeAgentS3(clock);
  const auto open_log = [&clock](const env::Path& stream_file) {
    return store::LogWriter::Open(stream_file, clock);
  };
  return agent::RunAgent(options, {clock, connect, open_log});
}

agent::AgentOptions OptionsOf(const Invocation& invocation, const env::Path& directory) {
  agent::AgentOptions options;
  options.directory = directory;
  options.paths.self_exe = invocation.executable;
  return options;
}

struct ServerOptions {
  std::string system;
  std::string python;
};

std::optional<agent::SharedSystem> MakeSharedSystem(const ServerOptions& options) {
  if (options.system.empty()) return std::nullopt;
  env::PosixFiles files;
  Status made = files.MakeDirectories(options.system);
  if (made) {
    auto system = agent::SharedSystem::Make(options.system, options.python);
    if (system) return *std::move(system);
    made = tl::make_unexpected(std::move(system).error());
  }
  LogWarn("agents make the files of their sandboxes one by one: {}", made.error().message);
  return std::nullopt;
}

// What all agents need is done before they are forked.
int ServeForks(const Invocation& invocation, const ServerOptions& options) {
  const auto shared = MakeSharedSystem(options);
  env::PosixClock clock;
  LoadAgentS3(clock);
  return fleet::ServeForks(
      fleet::kForkServerSocket,
      [&](const env::Path& directory) {
        agent::AgentOptions agent = OptionsOf(invocation, directory);
        if (shared) agent.paths.shared = &*shared;
        wire::KeepIdleConnections(kClientsKept);
        const agent::AgentEnd end = RunAgentProcess(agent);
        return fleet::Served{end.status, end.as_before};
      },
      [&](int pid) {
        if (shared) shared->Forget(pid);
      });
}

}  // namespace

void AddAgentCommand(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("agent", "Run one instance of a job (started by serve)");
  command->group("");  // Not for people: hidden from --help.
  auto directory = std::make_shared<std::string>();
  auto serves = std::make_shared<bool>(false);
  auto server = std::make_shared<ServerOptions>();
  CLI::Option* one =
      command->add_option("--directory", *directory, "The directory of the instance");
  command->add_flag("--serve-forks", *serves, "Fork an agent for each directory on descriptor 3")
      ->excludes(one);
  command->add_option("--system", server->system, "Where the forks share files of sandboxes");
  command->add_option("--python", server->python, "The interpreter that those files name");
  command->callback([&invocation, directory, serves, server] {
    if (!*serves && directory->empty()) throw CLI::RequiredError("--directory");
    invocation.run = [&invocation, directory, serves, server] {
      // An agent has few threads, and they allocate little: a heap for each costs more than
      // sharing.
      ::mallopt(M_ARENA_MAX, 1);
      // What one instance has freed serves the next: given back, it would come in page by page.
      ::mallopt(M_TRIM_THRESHOLD, 8 << 20);
      ::mallopt(M_MMAP_THRESHOLD, 4 << 20);
      if (!*serves) return RunAgentProcess(OptionsOf(invocation, *directory)).status;
      return ServeForks(invocation, *server);
    };
  });
}

}  // namespace sabia::cli
