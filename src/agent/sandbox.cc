#include "agent/sandbox.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "agent/interpreter.h"
#include "channels/mounts.h"
#include "env/posix/posix_files.h"
#include "model/program_path.h"

namespace sabia::agent {
namespace {

namespace fs = std::filesystem;

// Root of the sandbox keeps what a container's root has by default, over its own files and
// processes only.
constexpr std::array<const char*, 8> kCapabilities = {
    "CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID",
    "CAP_KILL",  "CAP_SETGID",       "CAP_SETUID", "CAP_NET_BIND_SERVICE"};

bool Present(const Path& path) {
  std::error_code ec;
  return fs::exists(path, ec);
}

void Add(std::vector<std::string>& out, std::initializer_list<std::string> arguments) {
  out.insert(out.end(), arguments);
}

void AddNamespaces(const model::InstanceSpec& spec, std::vector<std::string>& out) {
  Add(out, {"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
            "--unshare-cgroup-try"});
  Add(out, {"--uid", "0", "--gid", "0", "--hostname", spec.host});
  if (spec.network_isolation) Add(out, {"--unshare-net"});
  Add(out, {"--die-with-parent", "--new-session", "--cap-drop", "ALL"});
  for (const char* capability : kCapabilities) Add(out, {"--cap-add", capability});
}

// On merged systems /bin, /lib and so on are links into /usr; elsewhere they are directories of
// their own.
void AddSystem(std::vector<std::string>& out) {
  Add(out, {"--ro-bind", "/usr", "/usr"});
  for (const char* name : {"bin", "sbin", "lib", "lib32", "lib64", "libx32"}) {
    const Path path = Path("/") / name;
    std::error_code ec;
    if (fs::is_symlink(path, ec)) {
      Add(out, {"--symlink", fs::read_symlink(path, ec).native(), path.native()});
    } else if (Present(path)) {
      Add(out, {"--ro-bind", path.native(), path.native()});
    }
  }
}

void AddEtc(const Layout& layout, const SandboxPaths& paths, std::vector<std::string>& out) {
  const Path etc = paths.shared != nullptr ? paths.shared->etc() : layout.etc();
  Add(out, {"--ro-bind", etc.native(), "/etc"});
  if (paths.shared == nullptr) {
    for (const std::string& name : EtcViews())
      Add(out, {"--ro-bind", "/etc/" + name, "/etc/" + name});
  }
  const Path hosts = paths.shared != nullptr ? SharedHosts(*paths.shared) : layout.hosts();
  Add(out, {"--ro-bind", hosts.native(), "/etc/hosts"});
}

void AddTrees(const model::InstanceSpec& spec, std::vector<std::string>& out) {
  if (spec.python.empty()) return;
  for (const Path& tree : InterpreterTrees(spec.python)) {
    Add(out, {"--ro-bind", tree.native(), tree.native()});
  }
}

// Endpoints and certificates for AWS clients of the program.
void AddClientData(const model::InstanceSpec& spec, std::vector<std::string>& out) {
  if (spec.network_isolation || spec.client_data.empty()) return;
  Add(out, {"--ro-bind", spec.client_data, kClientData, "--ro-bind", spec.ca_bundle, kCaBundle});
}

Status AddCheckpoints(const model::InstanceSpec& spec, const Layout& layout,
                      std::vector<std::string>& out) {
  if (spec.checkpoint_s3_uri.empty()) return {};
  const std::string& path = spec.checkpoint_local_path;
  RETURN_IF_ERROR(CheckSandboxPath(path));
  if (path.starts_with(std::string(kOptMl) + "/")) return {};  // comes with the bind of /opt/ml
  Add(out, {"--bind", layout.Checkpoints(path).native(), path});
  return {};
}

Status WriteSmall(const Path& path, std::string_view content, unsigned mode) {
  ASSIGN_OR_RETURN(const env::UniqueFd fd, env::OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC, mode));
  return env::WriteAll(fd.get(), content);
}

Status MakeDirectory(const Path& path, unsigned mode) {
  if (::mkdir(path.c_str(), mode) == 0) {
    ::chmod(path.c_str(), mode);  // the umask took the sticky and group bits
    return {};
  }
  if (errno == EEXIST) return {};
  return FailErrno(errno, "failed to create directory '{}'", path.native());
}

// FNV-1a: stable over builds, for all hosts of a job must agree.
std::uint32_t StableHash(std::string_view text) {
  std::uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

}  // namespace

Status CheckSandboxPath(const std::string& path) { return model::CheckProgramPath(path); }

Result<std::vector<std::string>> SandboxOptions(const model::InstanceSpec& spec,
                                                const Layout& layout, const SandboxPaths& paths,
                                                const std::vector<ReadOnlyView>& views) {
  std::vector<std::string> out;
  AddNamespaces(spec, out);
  AddSystem(out);
  AddEtc(layout, paths, out);
  AddTrees(spec, out);
  AddClientData(spec, out);
  Add(out, {"--proc", "/proc", "--dev", "/dev"});
  Add(out, {"--bind", layout.tmp().native(), "/tmp", "--bind", layout.home().native(), "/root"});
  Add(out, {"--bind", layout.root().native(), kOptMl});
  if (paths.shared != nullptr)
    Add(out, {"--bind", SharedConfig(*paths.shared).native(), "/opt/ml/input/config"});
  if (spec.keeps_cache) {
    Add(out, {"--bind", layout.cache().native(), kWarmPoolCache});
    Add(out, {"--bind", layout.packages().native(), kPipCache});
  }
  for (const ReadOnlyView& view : views) Add(out, {"--ro-bind", view.source.native(), view.target});
  RETURN_IF_ERROR(AddCheckpoints(spec, layout, out));
  const Path bin = paths.shared != nullptr ? paths.shared->bin() : layout.bin();
  Add(out, {"--ro-bind", bin.native(), kSandboxBin});
  if (spec.image == model::ImageKind::kXgboost) {
    Add(out, {"--ro-bind", paths.self_exe.native(), std::string(kSandboxBin) + "/sabia"});
  }
  Add(out, {"--chdir", spec.image == model::ImageKind::kPython ? "/opt/ml/code" : "/opt/ml",
            "--clearenv"});
  for (const auto& [name, value] : ProgramEnvironment(spec)) Add(out, {"--setenv", name, value});
  const auto with_nul = std::find_if(out.begin(), out.end(), [](const std::string& argument) {
    return argument.find('\0') != argument.npos;
  });
  if (with_nul != out.end())
    return Fail(ErrorCode::kInvalidArgument, "a variable holds a NUL byte");
  return out;
}

std::string HostsFile(const model::InstanceSpec& spec) {
  // 127.0.0.0/8 without the blocks that people use themselves: second byte 16..239.
  const std::uint32_t hash = StableHash(spec.job_arn.empty() ? spec.job_name : spec.job_arn);
  const std::uint32_t second = 16 + hash % 224;
  std::uint32_t third = (hash >> 8) % 256;
  std::string out = "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n";
  std::uint32_t last = 0;
  for (const std::string& host : spec.hosts) {
    if (++last > 254) {
      last = 1;
      third = (third + 1) % 256;
    }
    out += fmt::format("127.{}.{}.{} {}\n", second, third, last, host);
  }
  return out;
}

namespace {

// A system of the job's own.
Status PrepareSystem(const model::InstanceSpec& spec, const Layout& layout, bool may_mount) {
  RETURN_IF_ERROR(MakeDirectory(layout.system(), 0755));
  // Two dozen small files that live as long as the program: cheaper in memory, and gone with the
  // mount namespace.
  if (may_mount) (void)channels::MountTmpfs(layout.system());
  RETURN_IF_ERROR(MakeDirectory(layout.etc(), 0755));
  RETURN_IF_ERROR(MakeDirectory(layout.bin(), 0755));
  RETURN_IF_ERROR(WriteEtc(layout.etc()));
  RETURN_IF_ERROR(WriteBin(spec.python, layout.bin()));
  // The place where the engine's own binary is bound for built-in algorithms.
  if (spec.image == model::ImageKind::kXgboost)
    RETURN_IF_ERROR(WriteSmall(layout.bin() / "sabia", "", 0755));
  return {};
}

}  // namespace

Status PrepareSandboxFiles(const model::InstanceSpec& spec, const Layout& layout,
                           const SandboxPaths& paths, bool may_mount) {
  if (spec.keeps_cache) {
    RETURN_IF_ERROR(MakeDirectory(layout.cache(), 0755));
    RETURN_IF_ERROR(MakeDirectory(layout.packages(), 0755));
  }
  if (paths.shared != nullptr) return {};
  RETURN_IF_ERROR(WriteHosts(spec, layout.hosts()));
  return PrepareSystem(spec, layout, may_mount);
}

Path SharedConfig(const SharedSystem& shared) { return shared.own() / "config"; }
Path SharedHosts(const SharedSystem& shared) { return shared.own() / "hosts"; }

Status WriteHosts(const model::InstanceSpec& spec, const Path& file) {
  return WriteSmall(file, HostsFile(spec), 0644);
}

}  // namespace sabia::agent
