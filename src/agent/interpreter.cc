#include "agent/interpreter.h"

#include <algorithm>

namespace sabia::agent {
namespace {

namespace fs = std::filesystem;

bool Present(const env::Path& path) {
  std::error_code ec;
  return fs::exists(path, ec);
}

// The system's own trees are in every sandbox.
bool IsSystem(const env::Path& tree) {
  return tree.empty() || tree == "/" || tree == "/usr" || tree.native().starts_with("/usr/");
}

}  // namespace

bool IsVirtualEnvironment(const env::Path& python) {
  return Present(python.parent_path().parent_path() / "pyvenv.cfg");
}

std::vector<env::Path> InterpreterTrees(const env::Path& python) {
  std::vector<env::Path> out;
  const auto add = [&out](const env::Path& tree) {
    if (IsSystem(tree)) return;
    if (std::find(out.begin(), out.end(), tree) == out.end()) out.push_back(tree);
  };
  if (IsVirtualEnvironment(python)) add(python.parent_path().parent_path());
  // Every link on the way to the real binary may lie in another installation (a venv of a pyenv
  // version).
  env::Path current = python;
  std::error_code ec;
  for (int hops = 0; hops < 8 && fs::is_symlink(current, ec); ++hops) {
    const env::Path next = fs::read_symlink(current, ec);
    current = (next.is_absolute() ? next : current.parent_path() / next).lexically_normal();
    if (current.parent_path().filename() == "bin") add(current.parent_path().parent_path());
  }
  if (current.parent_path().filename() == "bin") add(current.parent_path().parent_path());
  return out;
}

}  // namespace sabia::agent
