// What the commands share: where the home is, how to talk to a person, how to end.
//
// A command is a function that adds itself to the CLI11 application and sets `run`. Exit codes: 0
// done, 1 failed, 2 wrong usage (CLI11's), 3 no daemon is running.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "base/result.h"
#include "env/files.h"
#include "store/paths.h"

namespace sabia::cli {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitNoDaemon = 3;

// Filled by the parser; `run` is set by the command that was chosen.
struct Invocation {
  std::string home;        // --home; "" means the default
  std::string executable;  // absolute path of this program
  std::function<int()> run;

  // The chosen home: --home, else $SABIA_HOME, else /var/lib/sabia for root and
  // ${XDG_DATA_HOME:-~/.local/share}/sabia for others.
  store::Paths paths() const;
};

// Prints "sabia: <message>" on stderr and gives the exit code of the error.
int Complain(const Error& error);

// In single quotes, as sh reads it.
std::string ShellQuote(std::string_view value);

// Text of users for a terminal: control characters but tabs and line ends become "?".
std::string Printable(std::string_view text);

// Whether to colour: stdout is a terminal, NO_COLOR is unset or empty, TERM is not dumb.
bool UseColor();

void AddServeCommand(CLI::App& app, Invocation& invocation);
void AddAgentCommand(CLI::App& app, Invocation& invocation);
void AddAlgorithmCommand(CLI::App& app, Invocation& invocation);
void AddEnvCommand(CLI::App& app, Invocation& invocation);
void AddJobsCommand(CLI::App& app, Invocation& invocation);
void AddLogsCommand(CLI::App& app, Invocation& invocation);
void AddSpotCommand(CLI::App& app, Invocation& invocation);
void AddTuneCommand(CLI::App& app, Invocation& invocation);
void AddCostCommand(CLI::App& app, Invocation& invocation);
void AddDataCommand(CLI::App& app, Invocation& invocation);
void AddFsckCommand(CLI::App& app, Invocation& invocation);
void AddSimulateCommand(CLI::App& app, Invocation& invocation);
void AddKeysCommand(CLI::App& app, Invocation& invocation);
void AddCompletionCommand(CLI::App& app, Invocation& invocation);

}  // namespace sabia::cli
