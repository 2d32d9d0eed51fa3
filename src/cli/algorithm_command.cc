#include <memory>
#include <string>
#include <vector>

#include "algorithms/xgboost.h"
#include "cli/command.h"
#include "env/posix/posix_clock.h"
#include "env/posix/posix_files.h"

namespace sabia::cli {

void AddAlgorithmCommand(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand(
      "algorithm", "Run a built-in algorithm on /opt/ml, or predict with its model");
  command->require_subcommand(1);
  CLI::App* xgboost = command->add_subcommand(
      "xgboost", "train | predict --model FILE [--content-type text/csv] < rows");
  // The algorithm reads its own arguments: none may fall through to the commands above.
  command->fallthrough(false);
  xgboost->fallthrough(false);
  xgboost->prefix_command();
  xgboost->callback([&invocation, xgboost] {
    invocation.run = [xgboost] {
      env::PosixClock clock;
      env::PosixFiles files;
      const std::vector<std::string> arguments = xgboost->remaining();
      return algorithms::RunXgboost(arguments, {.clock = clock, .files = files});
    };
  });
}

}  // namespace sabia::cli
