#include "agent/hook.h"

#include <algorithm>

#include "agent/contract_files.h"
#include "channels/mounts.h"
#include "env/posix/posix_files.h"

namespace sabia::agent {
namespace {

class TreeHook final : public Hook {
 public:
  std::string_view name() const override { return "tree"; }
  bool quick(const model::InstanceSpec&) const override { return true; }
  Status Prepare(Instance& instance) override {
    RETURN_IF_ERROR(MakeInstanceTree(instance.layout));
    if (instance.paths.shared != nullptr) return {};  // they are there (agent.cc)
    return WriteContractFiles(instance.spec, instance.layout.config());
  }
  // /opt/ml stays: the daemon reads the artifacts of several hosts from it, and removes the
  // directory.
  void Cleanup(Instance&) override {}
};

class SandboxHook final : public Hook {
 public:
  std::string_view name() const override { return "sandbox"; }
  bool quick(const model::InstanceSpec&) const override { return true; }
  Status Prepare(Instance& instance) override {
    return PrepareSandboxFiles(instance.spec, instance.layout, instance.paths,
                               instance.no_mounts.empty());
  }
  void Cleanup(Instance& instance) override {
    if (instance.paths.shared == nullptr) (void)channels::Unmount(instance.layout.system());
    EmptyScratch(instance.layout);
  }

 private:
  // All but /tmp and /root themselves: a directory that holds nothing may serve another instance.
  // What cannot be removed goes with the directory.
  static void EmptyScratch(const Layout& layout) {
    env::PosixFiles files;
    const auto empty = [&files](const Path& directory, std::initializer_list<Path> but) {
      for (const std::string& name : files.List(directory).value_or(std::vector<std::string>())) {
        const Path path = directory / name;
        if (std::find(but.begin(), but.end(), path) == but.end()) (void)files.RemoveTree(path);
      }
    };
    empty(layout.scratch(), {layout.tmp(), layout.home()});
    empty(layout.tmp(), {});
    empty(layout.home(), {});
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
