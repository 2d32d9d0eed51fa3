#include "fleet/posix/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>

#include "env/posix/posix_files.h"

namespace sabia::fleet {
namespace {

// A limit file of a control group: a number, or "max".
std::int64_t LimitIn(const char* path, std::int64_t otherwise) {
  env::PosixFiles files;
  constexpr std::size_t kLimitFileMax = 4096;
  const auto text = files.Read(path, kLimitFileMax);
  if (!text) return otherwise;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  return error == std::errc() && value > 0 ? std::min(value, otherwise) : otherwise;
}

int CountGpus() {
  int count = 0;
  std::error_code ignored;
  while (std::filesystem::exists("/dev/nvidia" + std::to_string(count), ignored)) ++count;
  return count;
}

}  // namespace

MachineSize ThisMachine() {
  MachineSize size;
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (::sched_getaffinity(0, sizeof cpus, &cpus) == 0) size.vcpus = std::max(1, CPU_COUNT(&cpus));
  const std::int64_t memory = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  size.memory_bytes = LimitIn("/sys/fs/cgroup/memory.max",
                              LimitIn("/sys/fs/cgroup/memory/memory.limit_in_bytes", memory));
  size.gpus = CountGpus();
  return size;
}

}  // namespace sabia::fleet
