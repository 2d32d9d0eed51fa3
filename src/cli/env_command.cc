#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/endpoint.h"
#include "env/posix/posix_files.h"
#include "wire/credentials.h"

namespace sabia::cli {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

Result<Variables> Collect(const store::Paths& paths) {
  env::PosixFiles files;
  ASSIGN_OR_RETURN(const EndpointFile endpoint, ReadEndpoint(files, paths));
  ASSIGN_OR_RETURN(const wire::AccessKey key, wire::ReadRootKey(files, paths.credentials()));
  Variables out{{"AWS_ENDPOINT_URL", endpoint.http},
                {"AWS_ACCESS_KEY_ID", key.id},
                {"AWS_SECRET_ACCESS_KEY", key.secret},
                {"AWS_REGION", endpoint.region},
                {"AWS_DEFAULT_REGION", endpoint.region},
                // Without it, older clients ask STS at a global name that no setting changes.
                {"AWS_STS_REGIONAL_ENDPOINTS", "regional"},
                {"AWS_DATA_PATH", paths.aws_models().native()},
                {"AWS_CA_BUNDLE", paths.ca_bundle().native()}};
  // The SageMaker SDK reports its use to AWS unless its configuration says no; an administrator's
  // own file stands.
  const env::Path admin = "/etc/xdg/sagemaker/config.yaml";
  ASSIGN_OR_RETURN(const bool administered, files.Exists(admin));
  if (!administered) {
    out.emplace_back("SAGEMAKER_ADMIN_CONFIG_OVERRIDE",
                     (paths.aws_models() / "sagemaker-config.yaml").native());
  }
  return out;
}

void Print(const Variables& variables, bool fish) {
  // Settings of a real account would win over, or be mixed with, the exported ones.
  for (const char* name :
       {"AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"}) {
    std::printf(fish ? "set -e %s;\n" : "unset %s\n", name);
  }
  for (const auto& [name, value] : variables) {
    const std::string quoted = ShellQuote(value);
    if (fish) {
      std::printf("set -gx %s %s;\n", name.c_str(), quoted.c_str());
    } else {
      std::printf("export %s=%s\n", name.c_str(), quoted.c_str());
    }
  }
}

}  // namespace

void AddEnvCommand(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand(
      "env", "Print the exports that lead AWS clients of this shell here: eval \"$(sabia env)\"");
  auto shell = std::make_shared<std::string>("sh");
  command->add_option("--shell", *shell, "Syntax of the exports")
      ->check(CLI::IsMember({"sh", "fish"}))
      ->capture_default_str();
  command->callback([&invocation, shell] {
    invocation.run = [&invocation, shell] {
      const auto variables = Collect(invocation.paths());
      if (!variables) return Complain(variables.error());
      Print(*variables, *shell == "fish");
      return kExitDone;
    };
  });
}

}  // namespace sabia::cli
