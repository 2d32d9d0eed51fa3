#include <cstdio>
#include <string>

#include "cli/command.h"

namespace sabia::cli {
namespace {

// Commands that a person types; the hidden ones are started by the daemon.
std::string Words(const CLI::App& app) {
  std::string out;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_group().empty()) continue;
    out += (out.empty() ? "" : " ") + command->get_name();
  }
  return out;
}

std::string Flags(const CLI::App& command) {
  std::string out;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) out += " --" + name;
  }
  for (const CLI::App* below : command.get_subcommands({})) out += " " + below->get_name();
  return out;
}

std::string BashScript(const CLI::App& app) {
  std::string out =
      "_sabia() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} command=\n"
      "  local i; for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    case ${COMP_WORDS[i]} in --home) ((++i)) ;; -*) ;; *) command=${COMP_WORDS[i]}; break "
      ";; esac\n"
      "  done\n"
      "  case $command in\n";
  out += "    '') COMPREPLY=($(compgen -W '" + Words(app) +
         " --home --help --version' -- \"$word\")) ;;\n";
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_group().empty()) continue;
    out += "    " + command->get_name() + ") COMPREPLY=($(compgen -W '" + Flags(*command) +
           "' -- \"$word\")) ;;\n";
  }
  return out + "  esac\n}\ncomplete -o default -F _sabia sabia\n";
}

std::string FishScript(const CLI::App& app) {
  std::string out;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_group().empty()) continue;
    out += "complete -c sabia -n __fish_use_subcommand -a " + command->get_name() + "\n";
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        out += "complete -c sabia -n '__fish_seen_subcommand_from " + command->get_name() +
               "' -l " + name + "\n";
      }
    }
  }
  return out;
}

}  // namespace

void AddCompletionCommand(CLI::App& app, Invocation& invocation) {
  CLI::App* command =
      app.add_subcommand("completion", "Print shell completion: source <(sabia completion bash)");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&app, &invocation, shell] {
    invocation.run = [&app, shell] {
      std::string script = *shell == "fish" ? FishScript(app) : BashScript(app);
      if (*shell == "zsh") script.insert(0, "autoload -U +X bashcompinit && bashcompinit\n");
      std::fputs(script.c_str(), stdout);
      return kExitDone;
    };
  });
}

}  // namespace sabia::cli
