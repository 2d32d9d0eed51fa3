// What every launcher with its instance files promises, run over the fake and the real ones.
//
// A Rig brings up one fleet whose agents report at once, stay until they are told to stop, and then
// end.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "fleet/instance_files.h"
#include "fleet/launcher.h"

namespace sabia::fleet::testing {

class Rig {
 public:
  virtual ~Rig() = default;
  virtual Launcher& launcher() = 0;
  virtual InstanceFiles& files() = 0;
  // Lets the agents act until the condition holds; false when it does not after a good while.
  virtual bool Await(const std::function<bool()>& condition) = 0;
  // As when another daemon takes over: agents live on, nobody remembers starting them.
  virtual void RestartDaemon() = 0;
};

using MakeRig = std::function<std::unique_ptr<Rig>()>;

class FleetConformance : public ::testing::TestWithParam<MakeRig> {
 protected:
  FleetConformance() : rig_(GetParam()()) {}

  AgentName Agent(const std::string& id) { return {id, rig_->files().Directory(id)}; }
  void Prepare(const std::string& id);
  bool Reports(const std::string& id);
  bool Locked(const std::string& id);

  std::unique_ptr<Rig> rig_;
};

}  // namespace sabia::fleet::testing
