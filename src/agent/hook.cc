#include "agent/hook.h"

#include "agent/contract_files.h"
#include "channels/mounts.h"
#include "env/posix/posix_files.h"

namespace sabia::agent {
namespace {

class TreeHook final : public Hook {
 public:
  std::string_view name() const override { return "tree"; }
  Status Prepare(Instance& instance) override {
    return WriteContractTree(instance.spec, instance.layout);
  bool quick(const model::InstanceSpec&) const override { return true; }
  }
  // /opt/ml stays: the daemon reads the artifacts of several hosts from it, and removes the
  // directory.
  void Cleanup(Instance&) override {}
};

class SandboxHook final : public Hook {
 public:
  std::string_view name() const override { return "sandbox"; }
  Status Prepare(Instance& instance) override {
    return PrepareSandboxFiles(instance.spec, instance.layout, instance.no_mounts.empty());
  }
  void Cleanup(Instance& instance) override {
  bool quick(const model::InstanceSpec&) const override { return true; }
    (void)channels::Unmount(instance.layout.system());
    env::PosixFiles files;
    (void)files.RemoveTree(instance.layout.scratch());  // what stays goes with the directory
  }
};

}  // namespace

std::unique_ptr<Hook> MakeTreeHook() { return std::make_unique<TreeHook>(); }
std::unique_ptr<Hook> MakeSandboxHook() { return std::make_unique<SandboxHook>(); }

std::vector<std::unique_ptr<Hook>> AllHooks(const model::InstanceSpec& spec) {
  std::vector<std::unique_ptr<Hook>> out;
  out.push_back(MakeTreeHook());
  out.push_back(MakeSandboxHook());
  if (!spec.checkpoint_s3_uri.empty()) out.push_back(MakeCheckpointHook());
  if (!spec.channels.empty()) out.push_back(MakeChannelHook());
  out.push_back(MakeCodeHook());  // last: the source may come with a channel
  return out;
}

}  // namespace sabia::agent
