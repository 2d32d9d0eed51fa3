#include "agent/layout.h"

namespace sabia::agent {

Path Layout::Checkpoints(const std::string& sandbox_path) const {
  const std::string prefix = std::string(kOptMl) + "/";
  if (sandbox_path.starts_with(prefix)) return root() / sandbox_path.substr(prefix.size());
  return scratch() / "checkpoints";
}

}  // namespace sabia::agent
