#include "agent/cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "env/posix/posix_files.h"

namespace sabia::agent {
namespace {

// 100 ms, the kernel's own default: shorter periods cost more switches.
constexpr std::int64_t kCpuPeriodMicros = 100'000;
constexpr char kAside[] = "sabia-main";  // where daemon and agents move to
constexpr std::size_t kControlFileMax = 1 << 20;

std::vector<std::string_view> Split(std::string_view text, char by) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const auto at = text.find(by);
    if (at != 0) out.push_back(text.substr(0, at));
    text.remove_prefix(at == text.npos ? text.size() : at + 1);
  }
  return out;
}

// Mount points print blanks as \040 and so on.
std::string Unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    int code = 0;
    if (text[i] == '\\' && i + 3 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 4, code, 8).ec == std::errc()) {
      out += static_cast<char>(code);
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool Has(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// "memory" → "/own/group"; "" for v2.
std::map<std::string, std::string> OwnGroups(std::string_view text) {
  std::map<std::string, std::string> out;
  for (const std::string_view line : Split(text, '\n')) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string path(line.substr(second + 1));
    const std::string_view names = line.substr(first + 1, second - first - 1);
    if (names.empty()) out[""] = path;
    for (const std::string_view name : Split(names, ',')) out[std::string(name)] = path;
  }
  return out;
}

// The group as a path below the mount point; the mount may show only a part of the hierarchy
// (containers).
env::Path Below(const std::string& mount_point, std::string_view mount_root,
                std::string_view group) {
  if (mount_root != "/" && group.starts_with(mount_root)) group.remove_prefix(mount_root.size());
  while (group.starts_with('/')) group.remove_prefix(1);
  return group.empty() || group.starts_with("..") ? env::Path(mount_point)
                                                  : env::Path(mount_point) / group;
}

std::string ReadControl(const env::Path& path) {
  env::PosixFiles files;
  return files.Read(path, kControlFileMax).value_or(std::string());
}

std::int64_t CounterIn(std::string_view text, std::string_view key) {
  for (const std::string_view line : Split(text, '\n')) {
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != ' ') continue;
    std::int64_t value = 0;
    std::from_chars(line.data() + key.size() + 1, line.data() + line.size(), value);
    return value;
  }
  return 0;
}

Status WriteControl(const env::Path& path, std::string_view value) {
  ASSIGN_OR_RETURN(const env::UniqueFd fd, env::OpenFile(path, O_WRONLY));
  if (::write(fd.get(), value.data(), value.size()) < 0) {
    return FailErrno(errno, "failed to write '{}'", path.native());
  }
  return {};
}

bool HasController(const env::Path& group, std::string_view controller) {
  const std::string available = ReadControl(group / "cgroup.controllers");
  for (std::string_view name : Split(available, ' ')) {
    if (name.ends_with('\n')) name.remove_suffix(1);
    if (name == controller) return true;
  }
  return false;
}

// Whether the children of the group get the controllers. Fails while processes are in the group
// itself, unless it is the top.
bool GiveToChildren(const env::Path& group) {
  for (const char* controller : {"memory", "cpu", "pids"}) {
    if (!HasController(group, controller)) continue;
    if (!WriteControl(group / "cgroup.subtree_control", fmt::format("+{}", controller)))
      return false;
  }
  return HasController(group, "memory");
}

bool MakeGroup(const env::Path& group) {
  return ::mkdir(group.c_str(), 0755) == 0 || errno == EEXIST;
}

// A group that holds processes cannot give its controllers to children: its processes (the daemon,
// the agents) move into a child of their own. Only where the group was delegated to us, or where we
// are root of a container; anything else fails at the first write.
bool MakeRoom(const env::Path& group) {
  const env::Path aside = group / kAside;
  if (!MakeGroup(aside)) return false;
  const std::string procs = ReadControl(group / "cgroup.procs");
  for (const std::string_view pid : Split(procs, '\n'))
    (void)WriteControl(aside / "cgroup.procs", pid);
  return GiveToChildren(group);
}

// The group below which ours is made: a top-level one for root, else the agent's own.
std::optional<env::Path> V2Parent(const CgroupHierarchy& hierarchy) {
  if (::geteuid() == 0 && GiveToChildren(hierarchy.mount)) {
    env::Path ours = hierarchy.mount / "sabia";
    if (MakeGroup(ours) && GiveToChildren(ours)) return ours;
  }
  const env::Path own =
      hierarchy.base.filename() == kAside ? hierarchy.base.parent_path() : hierarchy.base;
  if (GiveToChildren(own) || MakeRoom(own)) return own;
  return std::nullopt;
}

void KillMembers(const env::Path& group) {
  const std::string procs = ReadControl(group / "cgroup.procs");
  for (const std::string_view line : Split(procs, '\n')) {
    pid_t pid = 0;
    std::from_chars(line.data(), line.data() + line.size(), pid);
    if (pid > 1) ::kill(pid, SIGKILL);
  }
}

}  // namespace

std::vector<CgroupHierarchy> FindHierarchies(std::string_view mountinfo,
                                             std::string_view own_groups) {
  const auto own = OwnGroups(own_groups);
  std::vector<CgroupHierarchy> out;
  for (const std::string_view line : Split(mountinfo, '\n')) {
    const auto dash = line.find(" - ");
    if (dash == line.npos) continue;
    const auto left = Split(line.substr(0, dash), ' ');
    const auto right = Split(line.substr(dash + 3), ' ');
    if (left.size() < 5 || right.size() < 3) continue;
    const std::string point = Unescape(left[4]);
    if (right[0] == "cgroup2") {
      const auto group = own.find("");
      if (group != own.end())
        out.push_back({Below(point, left[3], group->second), true, point, {}});
    } else if (right[0] == "cgroup") {
      CgroupHierarchy hierarchy;
      for (const std::string_view option : Split(right[2], ',')) {
        const auto group = own.find(std::string(option));
        if (group == own.end()) continue;
        hierarchy.controllers.emplace_back(option);
        hierarchy.base = Below(point, left[3], group->second);
      }
      const bool useful = Has(hierarchy.controllers, "memory") ||
                          Has(hierarchy.controllers, "cpu") || Has(hierarchy.controllers, "pids");
      if (useful) out.push_back(std::move(hierarchy));
    }
  }
  return out;
}

bool Cgroup::Set(const env::Path& file, const std::string& value, std::string_view what) {
  const Status written = WriteControl(file, value);
  if (!written)
    notes_.push_back(fmt::format("{} limit not enforced: {}", what, written.error().message));
  return written.has_value();
}

void Cgroup::CreateV1(const CgroupHierarchy& hierarchy, const CgroupLimits& limits) {
  const bool limited = (Has(hierarchy.controllers, "memory") && limits.memory_bytes > 0) ||
                       (Has(hierarchy.controllers, "cpu") && limits.cpus > 0) ||
                       (Has(hierarchy.controllers, "pids") && limits.processes > 0);
  if (!limited) return;
  const env::Path group = hierarchy.base / name_;
  ::rmdir(group.c_str());  // of an agent that died: its counters are not ours
  if (::mkdir(group.c_str(), 0755) != 0 && errno != EEXIST) return;
  groups_.push_back(group);
  v1_tasks_.push_back(group / "tasks");
  if (Has(hierarchy.controllers, "memory") && limits.memory_bytes > 0) {
    memory_ = Set(group / "memory.limit_in_bytes", std::to_string(limits.memory_bytes), "memory") ||
              memory_;
    // Swap counts too, or the limit only moves the trouble to the disk; the file exists only with
    // swap accounting.
    (void)WriteControl(group / "memory.memsw.limit_in_bytes", std::to_string(limits.memory_bytes));
    memory_v1_ = group;
  }
  if (Has(hierarchy.controllers, "cpu") && limits.cpus > 0) {
    const auto quota = std::llround(limits.cpus * static_cast<double>(kCpuPeriodMicros));
    (void)WriteControl(group / "cpu.cfs_period_us", std::to_string(kCpuPeriodMicros));
    cpu_ = Set(group / "cpu.cfs_quota_us", std::to_string(quota), "CPU") || cpu_;
  }
  if (Has(hierarchy.controllers, "pids") && limits.processes > 0) {
    processes_ = Set(group / "pids.max", std::to_string(limits.processes), "process") || processes_;
  }
}

void Cgroup::LimitV2(const env::Path& group, const CgroupLimits& limits) {
  if (limits.memory_bytes > 0) {
    memory_ = Set(group / "memory.max", std::to_string(limits.memory_bytes), "memory") || memory_;
    (void)WriteControl(group / "memory.swap.max", "0");
    memory_v2_ = group;
  }
  if (limits.cpus > 0) {
    const auto quota = std::llround(limits.cpus * static_cast<double>(kCpuPeriodMicros));
    cpu_ = Set(group / "cpu.max", fmt::format("{} {}", quota, kCpuPeriodMicros), "CPU") || cpu_;
  }
  if (limits.processes > 0) {
    processes_ = Set(group / "pids.max", std::to_string(limits.processes), "process") || processes_;
  }
}

void Cgroup::CreateV2(const CgroupHierarchy& hierarchy, const CgroupLimits& limits) {
  // A hybrid machine keeps its controllers in v1 and has an empty v2 beside them.
  if (!HasController(hierarchy.base, "memory") && !HasController(hierarchy.mount, "memory")) return;
  const auto parent = V2Parent(hierarchy);
  if (!parent) return;
  const env::Path group = *parent / name_;
  ::rmdir(group.c_str());
  if (::mkdir(group.c_str(), 0755) != 0 && errno != EEXIST) return;
  groups_.push_back(group);
  v2_group_ = group;
  LimitV2(group, limits);
}

void Cgroup::Create(const std::vector<CgroupHierarchy>& hierarchies, const CgroupLimits& limits) {
  for (const CgroupHierarchy& hierarchy : hierarchies) {
    if (hierarchy.v2) {
      CreateV2(hierarchy, limits);
    } else {
      CreateV1(hierarchy, limits);
    }
  }
  if (!notes_.empty()) return;
  const std::string why = "no control group of this machine is writable for the engine";
  if (limits.memory_bytes > 0 && !memory_) notes_.push_back("memory limit not enforced: " + why);
  if (limits.cpus > 0 && !cpu_) notes_.push_back("CPU limit not enforced: " + why);
  if (limits.processes > 0 && !processes_) notes_.push_back("process limit not enforced: " + why);
}

bool Cgroup::OutOfMemory() const {
  if (!memory_v1_.empty() &&
      CounterIn(ReadControl(memory_v1_ / "memory.oom_control"), "oom_kill") > 0) {
    return true;
  }
  return !memory_v2_.empty() &&
         CounterIn(ReadControl(memory_v2_ / "memory.events"), "oom_kill") > 0;
}

void Cgroup::Remove() {
  for (const env::Path& group : groups_) {
    if (::rmdir(group.c_str()) == 0 || errno == ENOENT) continue;
    KillMembers(group);
    ::rmdir(group.c_str());
  }
  groups_.clear();
}

}  // namespace sabia::agent
