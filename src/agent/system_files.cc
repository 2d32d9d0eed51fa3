#include "agent/system_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "agent/interpreter.h"
#include "channels/local_view.h"
#include "channels/mounts.h"
#include "env/posix/posix_files.h"

namespace sabia::agent {
namespace {

// Of /etc only what loaders, resolvers, TLS and Python read; never shadow, keys or a daemon's
// configuration.
constexpr std::array<const char*, 3> kViews = {"alternatives", "ssl/certs", "fonts"};
// Copied, because they are small and a mount costs more than a copy.
constexpr std::array<const char*, 7> kCopies = {"resolv.conf",    "services",  "protocols",
                                                "ld.so.cache",    "localtime", "mime.types",
                                                "ssl/openssl.cnf"};

bool Present(const Path& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

Status WriteSmall(const Path& path, std::string_view content, unsigned mode) {
  ASSIGN_OR_RETURN(const env::UniqueFd fd, env::OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC, mode));
  return env::WriteAll(fd.get(), content);
}

Status MakeDirectory(const Path& path) {
  if (::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) return {};
  return FailErrno(errno, "failed to create directory '{}'", path.native());
}

Status MakeLink(const std::string& to, const Path& at) {
  if (::symlink(to.c_str(), at.c_str()) == 0 || errno == EEXIST) return {};
  return FailErrno(errno, "failed to create link '{}'", at.native());
}

}  // namespace

std::vector<std::string> EtcViews() {
  std::vector<std::string> out;
  for (const char* name : kViews) {
    if (Present(Path("/etc") / name)) out.emplace_back(name);
  }
  return out;
}

Status WriteEtc(const Path& etc) {
  RETURN_IF_ERROR(WriteSmall(etc / "hosts", "", 0644));
  RETURN_IF_ERROR(WriteSmall(etc / "passwd",
                             "root:x:0:0:root:/root:/bin/sh\n"
                             "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
                             0644));
  RETURN_IF_ERROR(WriteSmall(etc / "group", "root:x:0:\nnogroup:x:65534:\n", 0644));
  RETURN_IF_ERROR(
      WriteSmall(etc / "nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n", 0644));
  RETURN_IF_ERROR(MakeDirectory(etc / "ssl"));
  for (const char* name : kViews) RETURN_IF_ERROR(MakeDirectory(etc / name));
  for (const char* name : kCopies) {
    const Path source = Path("/etc") / name;
    if (Present(source) && !Present(etc / name))
      RETURN_IF_ERROR(channels::CopyFile(source, etc / name));
  }
  return {};
}

// A virtual environment finds itself by the path it was called with, so a link would lose it.
Status WriteBin(const std::string& python, const Path& bin) {
  if (python.empty()) return {};
  const bool is_virtual = IsVirtualEnvironment(python);
  for (const char* name : {"python", "python3"}) {
    if (is_virtual) {
      const std::string text = fmt::format("#!/bin/sh\nexec '{}' \"$@\"\n", python);
      RETURN_IF_ERROR(WriteSmall(bin / name, text, 0755));
    } else {
      RETURN_IF_ERROR(MakeLink(python, bin / name));
    }
  }
  for (const char* name : {"pip", "pip3"}) {
    const std::string text = fmt::format("#!/bin/sh\nexec '{}' -m pip \"$@\"\n", python);
    RETURN_IF_ERROR(WriteSmall(bin / name, text, 0755));
  }
  return {};
}

std::vector<SharedSystem::Stamp> SharedSystem::Stamps() {
  std::vector<Stamp> out;
  for (const char* name : kCopies) {
    Stamp& stamp = out.emplace_back();
    struct stat info {};
    if (::stat((std::string("/etc/") + name).c_str(), &info) != 0) continue;
    stamp = {info.st_mtim.tv_sec * std::int64_t{1'000'000'000} + info.st_mtim.tv_nsec, info.st_size,
             info.st_ino};
  }
  return out;
}

Result<SharedSystem> SharedSystem::Make(const Path& place, const std::string& python) {
  RETURN_IF_ERROR(channels::EnterMountNamespace());
  RETURN_IF_ERROR(channels::MountTmpfs(place));
  SharedSystem out(place, python);
  out.stamps_ = Stamps();  // before the copies: what changes meanwhile is seen
  RETURN_IF_ERROR(MakeDirectory(out.etc()));
  RETURN_IF_ERROR(MakeDirectory(out.bin()));
  RETURN_IF_ERROR(MakeDirectory(place / "own"));
  RETURN_IF_ERROR(WriteEtc(out.etc()));
  RETURN_IF_ERROR(WriteBin(python, out.bin()));
  for (const std::string& name : EtcViews())
    RETURN_IF_ERROR(channels::Bind(Path("/etc") / name, out.etc() / name));
  return out;
}

Status SharedSystem::MakeOwn() const {
  Forget(::getpid());
  return MakeDirectory(own());
}

void SharedSystem::Forget(int pid) const {
  struct stat info {};
  const Path path = OwnOf(pid);
  if (::stat(path.c_str(), &info) == 0) (void)env::PosixFiles().RemoveTree(path);
}

bool SharedSystem::Fits(const model::InstanceSpec& spec) const {
  // The built-in algorithms have a file of their own in bin/.
  return spec.python == python_ && spec.image != model::ImageKind::kXgboost && Stamps() == stamps_;
}

}  // namespace sabia::agent
