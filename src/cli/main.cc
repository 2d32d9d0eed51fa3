// The one program: parses the arguments, runs the command.
#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <filesystem>

#include "cli/command.h"
#include "cli/version.h"

namespace sabia::cli {
namespace {

std::string OwnExecutable() {
  std::error_code ec;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", ec);
  return ec ? std::string() : path.native();
}

void AddCommands(CLI::App& app, Invocation& invocation) {
  AddServeCommand(app, invocation);
  AddEnvCommand(app, invocation);
  AddJobsCommand(app, invocation);
  AddLogsCommand(app, invocation);
  AddSpotCommand(app, invocation);
  AddTuneCommand(app, invocation);
  AddCostCommand(app, invocation);
  AddDataCommand(app, invocation);
  AddFsckCommand(app, invocation);
  AddSimulateCommand(app, invocation);
  AddKeysCommand(app, invocation);
  AddAlgorithmCommand(app, invocation);
  AddAgentCommand(app, invocation);
  AddCompletionCommand(app, invocation);
}

// The first word that should have been a command; "" when none was given.
std::string UnknownCommand(const CLI::App& app, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--home") {
      ++i;
    } else if (!word.starts_with('-')) {
      for (const CLI::App* command : app.get_subcommands({})) {
        if (command->check_name(word)) return {};
      }
      return word;
    }
  }
  return {};
}

int Main(int argc, char** argv) {
  // A reader that goes away is an error of the write, not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
  Invocation invocation;
  invocation.executable = OwnExecutable();
  CLI::App app{"Amazon SageMaker's job model on your own machine", "sabia"};
  app.set_version_flag("--version", std::string("sabia ") + kVersion);
  CLI::Option* home =
      app.add_option("--home", invocation.home,
                     "Where everything is kept ($SABIA_HOME; default /var/lib/sabia for root, "
                     "~/.local/share/sabia otherwise)");
  app.require_subcommand(1);
  app.fallthrough();  // --home may stand behind the command too
  app.footer("Start with: sabia serve, then in another shell: eval \"$(sabia env)\"");
  AddCommands(app, invocation);
  try {
    app.parse(argc, argv);
    if (home->count() > 0 && invocation.home.empty()) {
      throw CLI::ValidationError("--home", "is empty: name a directory");
    }
  } catch (const CLI::RequiredError& error) {
    if (const std::string unknown = UnknownCommand(app, argc, argv); !unknown.empty()) {
      std::fprintf(stderr, "sabia: there is no command '%s'; sabia --help lists them\n",
                   unknown.c_str());
      return kExitUsage;
    }
    app.exit(error);
    return kExitUsage;
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? kExitDone : kExitUsage;
  }
  return invocation.run ? invocation.run() : kExitUsage;
}

}  // namespace
}  // namespace sabia::cli

int main(int argc, char** argv) {
  try {
    return sabia::cli::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sabia: internal error: %s\n", error.what());
    return sabia::cli::kExitFailed;
  }
}
