#include "control/local_control.h"

#include <utility>

namespace sabia::control {

Result<std::unique_ptr<LocalControl>> LocalControl::Create(const LocalControlParts& parts,
                                                           LocalControlOptions options) {
  RETURN_IF_ERROR(parts.files.MakeDirectories(options.paths.instances()));
  RETURN_IF_ERROR(parts.files.MakeDirectories(options.paths.run()));
  ASSIGN_OR_RETURN(std::unique_ptr<fleet::LocalLauncher> launcher,
                   fleet::LocalLauncher::Create(options.launcher));
  std::unique_ptr<LocalControl> control(
      new LocalControl(parts, std::move(options), std::move(launcher)));
  TrainingController& training = control->training_;
  control->launcher_->OnExit([&training](const std::string& id) { training.Poke(id); });
  TuningController& tuning = control->tuning_;
  parts.resources.OnCommit([&training, &tuning](store::Kind kind, const std::string& name) {
    training.RecordChanged(kind, name);
    tuning.RecordChanged(kind, name);
  });
  ASSIGN_OR_RETURN(control->wake_,
                   WakeSocket::Open(control->options_.paths.wake_socket(),
                                    [&training](const std::string& id) { training.Poke(id); }));
  return control;
}

LocalControl::LocalControl(const LocalControlParts& parts, LocalControlOptions options,
                           std::unique_ptr<fleet::LocalLauncher> launcher)
    : resources_(parts.resources),
      options_(std::move(options)),
      offer_{options_.machine, options_.capacity, model::InstanceCatalog::BuiltIn()},
      records_(parts.resources),
      metrics_(parts.series),
      facts_(parts.series, parts.resources),
      channels_(parts.objects, parts.buckets, options_.role_reads),
      sessions_(parts.authority, parts.random),
      files_(parts.files, options_.paths),
      launcher_(std::move(launcher)),
      pool_(options_.threads),
      training_({records_, files_, *launcher_, channels_, metrics_, sessions_, parts.clock}, offer_,
                pool_, options_.paths, options_.controller),
      tuning_({records_, facts_, parts.clock}, pool_, options_.tuning) {}

LocalControl::~LocalControl() {
  Stop();
  resources_.OnCommit(nullptr);
}

Status LocalControl::Start() {
  RETURN_IF_ERROR(training_.Recover());
  RETURN_IF_ERROR(tuning_.Recover());
  training_.Start();
  tuning_.Start();
  return {};
}

void LocalControl::Stop() {
  wake_.reset();
  launcher_->OnExit(nullptr);
  tuning_.Stop();
  training_.Stop();
}

}  // namespace sabia::control
