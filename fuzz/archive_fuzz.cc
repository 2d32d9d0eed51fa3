// Archives that users send as their source: nothing is written outside the target, whatever they
// hold.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/check.h"
#include "channels/archive.h"
#include "env/posix/posix_files.h"
#include "env/testing/temporary_directory.h"

namespace sabia::channels {
namespace {

namespace fs = std::filesystem;

void Check(std::string_view bytes) {
  static const env::TemporaryDirectory directory;
  static env::PosixFiles files;
  const env::Path outside = directory.path() / "outside";
  const env::Path target = outside / "target";
  CHECK(files.MakeDirectories(target));
  const env::UniqueFd archive(::memfd_create("archive", MFD_CLOEXEC));
  CHECK(env::WriteAll(archive.get(), bytes));
  const Status unpacked = UnpackArchive(fmt::format("/proc/self/fd/{}", archive.get()), target,
                                        {.bytes_max = 1 << 20, .entries_max = 100});
  CHECK(unpacked || !unpacked.error().message.empty());
  CHECK(files.List(outside).value() == std::vector<std::string>{"target"});
  std::uint64_t bytes_found = 0;
  for (const auto& entry : fs::recursive_directory_iterator(target)) {
    const fs::file_status status = entry.symlink_status();
    CHECK(fs::is_regular_file(status) || fs::is_directory(status) || fs::is_symlink(status));
    CHECK((status.permissions() & (fs::perms::set_uid | fs::perms::set_gid)) == fs::perms::none);
    if (fs::is_regular_file(status)) bytes_found += entry.file_size();
  }
  CHECK_MSG(!unpacked || bytes_found <= (1 << 20), std::to_string(bytes_found));
  CHECK(files.RemoveTree(target));
}

}  // namespace
}  // namespace sabia::channels

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sabia::channels::Check(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
