// The control plane of one machine, put together: adapters, local launcher, instance directories,
// wake socket, the loops of training and of tuning jobs.
//
// Threading: as TrainingController. Start() takes over what an earlier daemon left; Stop() leaves
// agents running.
#pragma once

#include <memory>

#include "control/adapters.h"
#include "control/posix/wake_socket.h"
#include "control/training_controller.h"
#include "control/tuning_controller.h"
#include "fleet/posix/disk_instance_files.h"
#include "fleet/posix/local_launcher.h"

namespace sabia::control {

struct LocalControlOptions {
  store::Paths paths;
  fleet::MachineSize machine;  // fleet::ThisMachine()
  fleet::CapacityOptions capacity;
  fleet::LocalLauncherOptions launcher;
  ControllerSettings controller;  // controller.worker.spec.endpoint must be set
  TuningControllerSettings tuning = {};
  RoleReads role_reads = nullptr;
  int threads = 16;  // for looks at jobs; they mostly wait for the disk
};

struct LocalControlParts {
  // Its OnCommit is taken from Create to the destructor; no commit may be under way at either.
  store::Resources& resources;
  store::Series& series;
  objects::ObjectStore& objects;
  objects::Buckets& buckets;
  const wire::CredentialAuthority& authority;
  env::Files& files;
  env::Clock& clock;
  env::Random& random;
};

class LocalControl {
 public:
  static Result<std::unique_ptr<LocalControl>> Create(const LocalControlParts& parts,
                                                      LocalControlOptions options);
  ~LocalControl();

  // Recovers, then runs until Stop. The endpoint must answer by now: agents use it.
  Status Start();
  void Stop();
  // Instead of Resources::OnCommit, when a job was created: see TrainingController.
  void Accepted(std::unique_ptr<model::TrainingJob> job) { training_.Accepted(std::move(job)); }

 private:
  LocalControl(const LocalControlParts& parts, LocalControlOptions options,
               std::unique_ptr<fleet::LocalLauncher> launcher);

  // In the order of construction: each uses those above it.
  store::Resources& resources_;
  const LocalControlOptions options_;
  const fleet::Offer offer_;
  StoreRecords records_;
  StoreMetrics metrics_;
  StoreTrialFacts facts_;
  BucketChannels channels_;
  AuthoritySessions sessions_;
  fleet::DiskInstanceFiles files_;
  std::unique_ptr<fleet::LocalLauncher> launcher_;
  ThreadPool pool_;
  TrainingController training_;
  TuningController tuning_;
  std::unique_ptr<WakeSocket> wake_;
};

}  // namespace sabia::control
