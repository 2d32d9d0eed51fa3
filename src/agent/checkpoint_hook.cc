#include "agent/hook.h"

namespace sabia::agent {
namespace {

class CheckpointHook final : public Hook {
 public:
  std::string_view name() const override { return "checkpoints"; }
  Status Prepare(Instance&) override {
    return Fail(ErrorCode::kUnimplemented, "checkpoints are not supported");
  }
  void Cleanup(Instance&) override {}
};

}  // namespace

std::unique_ptr<Hook> MakeCheckpointHook() { return std::make_unique<CheckpointHook>(); }

}  // namespace sabia::agent
