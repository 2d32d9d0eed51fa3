#include "agent/native_init.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

namespace sabia::agent {
namespace {

// Where the descriptors lie after Tidy(); everything above is closed, the agent's lock first of
// all.
constexpr int kStatusFd = 3;
constexpr int kParentFd = 4;
constexpr int kInitFd = 5;
constexpr int kFirstFree = 6;
constexpr std::uint64_t kTreeLocked = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

constexpr std::array<const char*, 6> kDevices = {"/dev/null",   "/dev/zero",    "/dev/full",
                                                 "/dev/random", "/dev/urandom", "/dev/tty"};
// Parts of /proc that change the machine.
constexpr std::array<const char*, 4> kProcControls = {"sys", "sysrq-trigger", "irq", "bus"};

// No allocation, no lock: a line from parts.
class Line {
 public:
  Line& operator<<(const char* text) {
    while (*text != '\0' && used_ + 1 < buffer_.size()) buffer_[used_++] = *text++;
    return *this;
  }
  Line& operator<<(std::uint64_t number) {
    std::array<char, 24> digits{};
    std::size_t at = digits.size() - 1;
    do {
      digits[--at] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    return *this << &digits[at];
  }
  void Write(int fd) {
    *this << "\n";
    (void)!::write(fd, buffer_.data(), used_);
  }

 private:
  std::array<char, 2 * PATH_MAX> buffer_{};
  std::size_t used_ = 0;
};

[[noreturn]] void Die(const char* what, const char* name = "") {
  const char* why = ::strerrordesc_np(errno);
  Line line;
  line << "failed " << what << (*name == '\0' ? "" : " ") << name << ": "
       << (why == nullptr ? "?" : why);
  line.Write(kStatusFd);
  ::_exit(1);
}

void Need(bool done, const char* what, const char* name = "") {
  if (!done) Die(what, name);
}

void Tidy(InitPlan& plan) {
  for (const int fd : plan.joins) {
    // A group that vanished since it was made is not worth losing the job: it runs without that
    // limit.
    (void)!::write(fd, "0", 1);
  }
  // Moved out of the way first, for they may lie on each other's places.
  const int status = ::fcntl(plan.status_fd, F_DUPFD_CLOEXEC, 64);
  const int parent = ::fcntl(plan.parent_fd, F_DUPFD_CLOEXEC, 64);
  const int output = ::fcntl(plan.output_fd, F_DUPFD_CLOEXEC, 64);
  const int init = ::fcntl(plan.init_fd, F_DUPFD_CLOEXEC, 64);
  ::dup2(plan.null_fd, 0);
  ::dup2(output, 1);
  ::dup2(output, 2);
  ::dup2(status, kStatusFd);
  ::dup3(parent, kParentFd, O_CLOEXEC);
  ::dup3(init, kInitFd, O_CLOEXEC);
  ::syscall(SYS_close_range, kFirstFree, ~0U, 0);
}

void TieToParent() {
  Need(::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0, "tie the sandbox to its agent");
  pollfd parent{kParentFd, POLLIN, 0};
  if (::poll(&parent, 1, 0) != 0) ::_exit(1);  // it died before the line above
  ::close(kParentFd);
}

void ResetSignals() {
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void WriteFile(const char* path, const char* text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  const auto length = static_cast<ssize_t>(std::strlen(text));
  Need(fd >= 0 && ::write(fd, text, static_cast<std::size_t>(length)) == length, "write", path);
  ::close(fd);
}

void MapUser(const InitPlan& plan) {
  WriteFile("/proc/self/setgroups", "deny");
  WriteFile("/proc/self/uid_map", plan.uid_map);
  WriteFile("/proc/self/gid_map", plan.gid_map);
}

// Does nothing but narrow what the mounts allow, submounts included.
void Lock(int tree, std::uint64_t attributes, const char* name) {
  mount_attr attr{};
  attr.attr_set = attributes;
  attr.propagation = MS_PRIVATE;
  Need(::mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr) == 0,
       "restrict the mount of", name);
}

int OpenTree(int directory, const char* path, std::uint64_t attributes) {
  const int tree = ::open_tree(directory, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
  Need(tree >= 0, "open", path);
  Lock(tree, attributes, path);
  return tree;
}

int NewMount(const char* type, const char* key, const char* value, unsigned attributes) {
  const int context = ::fsopen(type, FSOPEN_CLOEXEC);
  Need(context >= 0, "make a file system of type", type);
  Need(key == nullptr || ::fsconfig(context, FSCONFIG_SET_STRING, key, value, 0) == 0,
       "set an option of", type);
  Need(::fsconfig(context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0, "create", type);
  const int mounted = ::fsmount(context, FSMOUNT_CLOEXEC, attributes);
  Need(mounted >= 0, "mount", type);
  ::close(context);
  return mounted;
}

void Attach(int tree, const char* target) {
  Need(::move_mount(tree, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH) == 0, "mount on", target);
  ::close(tree);
}

// Only below the sandbox's own root: the old one is gone by then.
void MakeParents(const char* path) {
  std::array<char, PATH_MAX> part{};
  for (std::size_t i = 0; path[i] != '\0' && i + 1 < part.size(); ++i) {
    if (i > 0 && path[i] == '/' && ::mkdir(part.data(), 0755) != 0 && errno != EEXIST)
      Die("create directory", part.data());
    part[i] = path[i];
  }
}

void MakeMountPoint(int tree, const char* path) {
  MakeParents(path);
  struct stat source {};
  Need(::fstat(tree, &source) == 0, "look at the source of", path);
  if (S_ISDIR(source.st_mode)) {
    Need(::mkdir(path, 0755) == 0 || errno == EEXIST, "create directory", path);
    return;
  }
  struct stat there {};
  if (::stat(path, &there) == 0) return;
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0444);
  Need(fd >= 0, "create", path);
  ::close(fd);
}

void Link(const char* text, const char* at) { Need(::symlink(text, at) == 0, "create link", at); }

struct Sources {
  int proc = -1;
  std::array<int, kDevices.size()> devices{};
};

// Everything from outside, opened while the old root is still there.
Sources OpenSources(InitPlan& plan) {
  Sources out;
  for (InitStep& step : plan.steps) {
    if (step.kind == InitStep::Kind::kBind) {
      step.tree =
          OpenTree(AT_FDCWD, step.source, kTreeLocked | (step.read_only ? MOUNT_ATTR_RDONLY : 0));
    } else if (step.kind == InitStep::Kind::kProc) {
      out.proc = NewMount("proc", nullptr, nullptr, kTreeLocked | MOUNT_ATTR_NOEXEC);
    } else if (step.kind == InitStep::Kind::kDev) {
      for (std::size_t i = 0; i < kDevices.size(); ++i)
        out.devices[i] = OpenTree(AT_FDCWD, kDevices[i], MOUNT_ATTR_NOSUID);
    }
  }
  return out;
}

void EnterNewRoot() {
  const int root = NewMount("tmpfs", "mode", "0755", kTreeLocked);
  // Any directory serves as the place; this one is there, for the user map was written through it.
  Need(::move_mount(root, "", AT_FDCWD, "/proc", MOVE_MOUNT_F_EMPTY_PATH) == 0, "mount on",
       "/proc");
  Need(::fchdir(root) == 0, "enter", "the new root");
  Need(::syscall(SYS_pivot_root, ".", ".") == 0, "change the root");
  Need(::umount2(".", MNT_DETACH) == 0, "leave", "the old root");
  Need(::chdir("/") == 0, "enter", "/");
  ::close(root);
}

void PutProc(int proc, const char* target) {
  MakeParents(target);
  Need(::mkdir(target, 0755) == 0 || errno == EEXIST, "create directory", target);
  const int directory = ::fcntl(proc, F_DUPFD_CLOEXEC, kFirstFree);
  Attach(proc, target);
  for (const char* name : kProcControls) {
    if (::faccessat(directory, name, W_OK, 0) != 0) continue;  // not there, or not ours to change
    const int part = OpenTree(directory, name, MOUNT_ATTR_RDONLY | kTreeLocked | MOUNT_ATTR_NOEXEC);
    Need(::move_mount(part, "", directory, name, MOVE_MOUNT_F_EMPTY_PATH) == 0, "cover", name);
    ::close(part);
  }
  ::close(directory);
}

void PutDev(const Sources& sources) {
  Need(::mkdir("/dev", 0755) == 0 || errno == EEXIST, "create directory", "/dev");
  for (std::size_t i = 0; i < kDevices.size(); ++i) {
    MakeMountPoint(sources.devices[i], kDevices[i]);
    Attach(sources.devices[i], kDevices[i]);
  }
  Link("/proc/self/fd/0", "/dev/stdin");
  Link("/proc/self/fd/1", "/dev/stdout");
  Link("/proc/self/fd/2", "/dev/stderr");
  Link("/proc/self/fd", "/dev/fd");
  Link("/proc/kcore", "/dev/core");
  Need(::mkdir("/dev/shm", 0755) == 0, "create directory", "/dev/shm");
  Need(::mkdir("/dev/pts", 0755) == 0, "create directory", "/dev/pts");
  Need(::mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
               "newinstance,ptmxmode=0666,mode=620") == 0,
       "mount on", "/dev/pts");
  Link("pts/ptmx", "/dev/ptmx");
}

void Furnish(const InitPlan& plan, const Sources& sources) {
  for (const InitStep& step : plan.steps) {
    switch (step.kind) {
      case InitStep::Kind::kBind:
        MakeMountPoint(step.tree, step.target);
        Attach(step.tree, step.target);
        break;
      case InitStep::Kind::kSymlink:
        MakeParents(step.target);
        Link(step.source, step.target);
        break;
      case InitStep::Kind::kProc:
        PutProc(sources.proc, step.target);
        break;
      case InitStep::Kind::kDev:
        PutDev(sources);
        break;
    }
  }
}

void RaiseLoopback() {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::memcpy(request.ifr_name, "lo", sizeof "lo");
  Need(fd >= 0 && ::ioctl(fd, SIOCGIFFLAGS, &request) == 0, "find", "the loopback interface");
  request.ifr_flags |= IFF_UP | IFF_RUNNING;
  Need(::ioctl(fd, SIOCSIFFLAGS, &request) == 0, "raise", "the loopback interface");
  ::close(fd);
}

void KeepOnly(std::uint64_t capabilities) {
  for (unsigned long number = 0; ::prctl(PR_CAPBSET_READ, number) >= 0; ++number) {
    if ((capabilities >> number & 1) != 0) continue;
    Need(::prctl(PR_CAPBSET_DROP, number) == 0, "drop capabilities");
  }
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data{};
  for (std::size_t word = 0; word < data.size(); ++word) {
    const auto bits = static_cast<std::uint32_t>(capabilities >> (32 * word));
    data[word] = {bits, bits, bits};
  }
  Need(::syscall(SYS_capset, &header, data.data()) == 0, "drop capabilities");
}

std::uint64_t PidNamespaceInode() {
  struct stat info {};
  return ::stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

[[noreturn]] void BecomeInit(const InitPlan& plan) {
  ::syscall(SYS_execveat, kInitFd, "", plan.init_argv.data(), plan.environment.data(),
            AT_EMPTY_PATH);
  Die("start", "PID 1");
}

}  // namespace

void RunInit(InitPlan& plan) {
  Tidy(plan);
  ResetSignals();
  TieToParent();
  Need(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "give up new privileges");
  MapUser(plan);
  (void)::unshare(CLONE_NEWCGROUP);  // from here on the group looks like the root
  const Sources sources = OpenSources(plan);
  const std::uint64_t pid_namespace = PidNamespaceInode();
  EnterNewRoot();
  Furnish(plan, sources);
  if (plan.new_network) RaiseLoopback();
  if (plan.hostname != nullptr) {
    Need(::sethostname(plan.hostname, std::strlen(plan.hostname)) == 0, "set the host name");
  }
  Need(::chdir(plan.directory) == 0, "enter", plan.directory);
  ::setsid();
  KeepOnly(plan.capabilities);
  Line line;
  line << "ready " << pid_namespace;
  line.Write(kStatusFd);
  BecomeInit(plan);
}

}  // namespace sabia::agent
