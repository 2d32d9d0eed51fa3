#include "model/program_path.h"

namespace sabia::model {
namespace {

constexpr std::string_view kReserved[] = {"/opt/ml", "/opt/ml/input"};
constexpr std::string_view kContract = "/opt/ml/input/config";
constexpr std::string_view kSystem[] = {"/usr",    "/bin", "/sbin", "/lib", "/lib32", "/lib64",
                                        "/libx32", "/etc", "/proc", "/dev", "/sys",   "/opt/sabia"};
// Not themselves, but what lies below them is scratch.
constexpr std::string_view kScratch[] = {"/root", "/tmp"};

bool IsOrLiesBelow(std::string_view path, std::string_view directory) {
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

bool IsAbsoluteAndNormal(std::string_view path) {
  if (path.size() < 2 || path.front() != '/' || path.find('\0') != std::string_view::npos)
    return false;
  std::string_view rest = path.substr(1);
  while (true) {
    const std::size_t slash = rest.find('/');
    const std::string_view component = rest.substr(0, slash);
    if (component.empty() || component == "." || component == "..") return false;
    if (slash == std::string_view::npos) return true;
    rest.remove_prefix(slash + 1);
  }
}

}  // namespace

std::string NormalProgramPath(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (c != '/' || out.empty() || out.back() != '/') out += c;
  }
  if (out.size() > 1 && out.back() == '/') out.pop_back();
  return out;
}

Status CheckProgramPath(std::string_view path) {
  if (!IsAbsoluteAndNormal(path)) {
    return Fail(ErrorCode::kInvalidArgument, "'{}' is no absolute, normalised path", path);
  }
  bool reserved = IsOrLiesBelow(path, kContract);
  for (const std::string_view place : kReserved) reserved = reserved || path == place;
  if (reserved) return Fail(ErrorCode::kInvalidArgument, "'{}' is reserved", path);
  bool system = false;
  for (const std::string_view place : kSystem) system = system || IsOrLiesBelow(path, place);
  for (const std::string_view place : kScratch) system = system || path == place;
  if (system) return Fail(ErrorCode::kInvalidArgument, "'{}' lies in a part of the system", path);
  return {};
}

}  // namespace sabia::model
