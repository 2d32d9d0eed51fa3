#include "agent/script_mode.h"

#include "agent/environment.h"
#include "agent/python_text.h"
#include "agent/sandbox.h"

namespace sabia::agent {
namespace {

// Arguments are positional parameters, so nothing of the user's is shell source: $1 is the
// interpreter, $2 and $3 what pip installs, then comes the user's command.
constexpr char kPipThenRun[] = R"(python=$1; how=$2; what=$3; shift 3
"$python" -m pip install --disable-pip-version-check --no-input "$how" "$what"; code=$?
if [ $code -ne 0 ]; then
  exec >/opt/ml/output/failure
  printf 'InstallRequirementsError:\nExitCode %s\nErrorMessage "pip failed, see the log"\n' $code
  printf 'Command "%s -m pip install %s %s"\n' "$python" "$how" "$what"
  exit $code
fi
exec "$@")";

bool IsPackage(const std::string& program, const CodeFacts& code) {
  return code.setup && !program.ends_with(".sh");
}

}  // namespace

std::string CommandText(const std::vector<std::string>& command) {
  std::string out;
  for (const std::string& word : command) {
    if (!out.empty()) out += ' ';
    out += ShellQuote(word);
  }
  return out;
}

Result<std::vector<std::string>> UserCommand(const model::InstanceSpec& spec,
                                             const CodeFacts& code) {
  const std::string program = UserProgram(spec);
  if (program.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "script mode needs the hyperparameter 'sagemaker_program' or the variable "
                "SAGEMAKER_PROGRAM");
  }
  const bool package = IsPackage(program, code);
  if (!package && !code.program) {
    return Fail(ErrorCode::kInvalidArgument, "no file '{}' in the source of the job", program);
  }
  const std::vector<std::string> arguments = UserArguments(spec);
  std::vector<std::string> out;
  if (package) {
    out = {spec.python, "-m",
           program.ends_with(".py") ? program.substr(0, program.size() - 3) : program};
  } else if (program.ends_with(".py")) {
    out = {spec.python, program};
  } else {
    const std::string path = "./" + ShellQuote(program);
    // Archives made on Windows have no executable bits. exec: a SIGTERM is for the script, not for
    // its shell.
    std::string line = fmt::format("chmod u+x {0}; exec {0}", path);
    for (const std::string& argument : arguments) line += " " + ShellQuote(argument);
    return std::vector<std::string>{"/bin/sh", "-c", line};
  }
  out.insert(out.end(), arguments.begin(), arguments.end());
  return out;
}

Result<std::vector<std::string>> ScriptCommand(const model::InstanceSpec& spec,
                                               const CodeFacts& code) {
  ASSIGN_OR_RETURN(const std::vector<std::string> command, UserCommand(spec, code));
  std::vector<std::string> out = command;
  const auto install_first = [&](const char* how, const char* what) {
    std::vector<std::string> wrapped = {"/bin/sh",   "-c", kPipThenRun, "sabia-install",
                                        spec.python, how,  what};
    wrapped.insert(wrapped.end(), out.begin(), out.end());
    out = std::move(wrapped);
  };
  if (IsPackage(UserProgram(spec), code)) install_first("-U", ".");
  if (code.requirements) install_first("-r", "requirements.txt");
  return out;
}

std::string ScriptFailureText(int exit_code, const std::string& message,
                              const std::vector<std::string>& command) {
  return fmt::format("ExecuteUserScriptError:\nExitCode {}\nErrorMessage \"{}\"\nCommand \"{}\"",
                     exit_code, message, CommandText(command));
}

}  // namespace sabia::agent
