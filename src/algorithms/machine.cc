#include "algorithms/machine.h"

#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include "algorithms/python_text.h"
#include "env/posix/posix_files.h"

namespace sabia::algorithms {
namespace {

volatile sig_atomic_t terminate_requested = 0;

void OnTerminate(int) { terminate_requested = 1; }

std::string ReadSmall(const std::string& path) {
  env::PosixFiles files;
  return files.Read(path, 1 << 16).value_or(std::string());
}

// quota / period in CPUs; 0 when there is no limit.
double QuotaV2(const std::string& directory) {
  const std::string text(Trim(ReadSmall(directory + "/cpu.max")));  // "max 100000", "150000 100000"
  const auto parts = SplitText(text, ' ');
  if (parts.size() != 2) return 0;
  const auto quota = ParsePythonInt(parts[0]);
  const auto period = ParsePythonInt(parts[1]);
  return quota && period && *period > 0 ? static_cast<double>(*quota) / static_cast<double>(*period)
                                        : 0;
}

double QuotaV1(const std::string& directory) {
  const auto quota = ParsePythonInt(ReadSmall(directory + "/cpu.cfs_quota_us"));
  const auto period = ParsePythonInt(ReadSmall(directory + "/cpu.cfs_period_us"));
  if (!quota || !period || *quota <= 0 || *period <= 0) return 0;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

// The smallest limit among the process's own cgroups; 0 when there is none to be seen.
double CgroupCpus() {
  double least = 0;
  const auto consider = [&](double cpus) {
    if (cpus > 0) least = least == 0 ? cpus : std::min(least, cpus);
  };
  for (const std::string& line : SplitText(ReadSmall("/proc/self/cgroup"), '\n')) {
    const auto parts = SplitText(line, ':');  // "4:cpu,cpuacct:/job" and "0::/job"
    if (parts.size() != 3) continue;
    if (parts[1].empty()) {
      for (const char* root : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"})
        consider(QuotaV2(root + parts[2]));
    }
    const auto controllers = SplitText(parts[1], ',');
    if (std::find(controllers.begin(), controllers.end(), "cpu") != controllers.end()) {
      for (const std::string& folder : {std::string("cpu"), parts[1]}) {
        consider(QuotaV1("/sys/fs/cgroup/" + folder + parts[2]));
      }
    }
  }
  return least;
}

}  // namespace

int UsableCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int affinity = ::sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
  const double quota = CgroupCpus();
  if (quota == 0) return std::max(affinity, 1);
  return std::clamp(static_cast<int>(std::ceil(quota)), 1, std::max(affinity, 1));
}

void IgnoreBrokenPipes() { ::signal(SIGPIPE, SIG_IGN); }

Termination::Termination() {
  terminate_requested = 0;
  struct sigaction action {};
  action.sa_handler = &OnTerminate;
  ::sigaction(SIGTERM, &action, nullptr);
}

Termination::~Termination() { ::signal(SIGTERM, SIG_DFL); }

bool Termination::requested() const { return terminate_requested != 0; }

}  // namespace sabia::algorithms
