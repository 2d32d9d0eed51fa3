#include "algorithms/xgboost.h"

#include "algorithms/job_log.h"
#include "algorithms/machine.h"
#include "algorithms/prediction_program.h"
#include "algorithms/training_program.h"

namespace sabia::algorithms {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr int kTerminated = 128 + 15;

constexpr const char* kUsageText =
    "usage: xgboost train | xgboost predict --model FILE [--content-type text/csv|text/libsvm]";

int TrainProgram(const XgboostContext& context) {
  JobLog log(context.clock, context.output);
  const auto end = RunTraining(context, log);
  if (!end) {
    const std::string failure = FailureText(end.error());
    log.Error("{}", failure);
    const auto output = context.root / "output";
    Status written = context.files.MakeDirectories(output);
    if (written) written = context.files.WriteAtomically(output / "failure", failure, {});
    if (!written) log.Error("{}", written.error().message);
    return kFailed;
  }
  return *end == ProgramEnd::kEnded ? kTerminated : 0;
}

}  // namespace

int RunXgboost(std::span<const std::string> args, const XgboostContext& context) {
  IgnoreBrokenPipes();
  const std::string command = args.empty() ? "" : args[0];
  if (command == "train" && args.size() == 1) return TrainProgram(context);
  JobLog log(context.clock, 2);
  if (command == "predict") {
    const auto options = ParsePredictionArguments(args.subspan(1));
    if (!options) {
      log.Plain(options.error().message);
      log.Plain(kUsageText);
      return kUsage;
    }
    const Status done = RunPrediction(context, *options);
    if (!done) log.Plain(done.error().message);
    return done ? 0 : kFailed;
  }
  log.Plain(kUsageText);
  return kUsage;
}

}  // namespace sabia::algorithms
