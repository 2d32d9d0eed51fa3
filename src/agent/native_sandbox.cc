#include "agent/native_sandbox.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "agent/embedded.h"
#include "agent/native_init.h"
#include "env/posix/posix_files.h"

namespace sabia::agent {
namespace {

// sched.h and linux/sched.h cannot both define it.
constexpr std::uint64_t kIntoCgroup = 0x200000000ULL;  // CLONE_INTO_CGROUP

struct CapabilityName {
  std::string_view name;
  int number;
};
constexpr std::array<CapabilityName, 8> kCapabilities = {{
    {"CAP_CHOWN", CAP_CHOWN},
    {"CAP_DAC_OVERRIDE", CAP_DAC_OVERRIDE},
    {"CAP_FOWNER", CAP_FOWNER},
    {"CAP_FSETID", CAP_FSETID},
    {"CAP_KILL", CAP_KILL},
    {"CAP_SETGID", CAP_SETGID},
    {"CAP_SETUID", CAP_SETUID},
    {"CAP_NET_BIND_SERVICE", CAP_NET_BIND_SERVICE},
}};

// What every sandbox of ours asks for, and what this one always does.
constexpr std::array<std::string_view, 7> kAlways = {
    "--unshare-user", "--unshare-pid",     "--unshare-ipc", "--unshare-uts",
    "--clearenv",     "--die-with-parent", "--new-session"};

class Parser {
 public:
  explicit Parser(InitPlan& plan) : plan_(plan) {}

  Status Run() {
    while (at_ < plan_.options.size()) {
      const std::string& option = plan_.options[at_++];
      const bool known = TakeMount(option) || TakeSetting(option);
      if (known && at_ <= plan_.options.size()) continue;
      return Fail(ErrorCode::kUnimplemented, "the option '{}' is bubblewrap's", option);
    }
    return {};
  }

 private:
  // Past the end: "", and at_ tells.
  const char* Next() { return at_++ < plan_.options.size() ? plan_.options[at_ - 1].c_str() : ""; }

  bool TakeMount(std::string_view option) {
    using Kind = InitStep::Kind;
    InitStep step{};
    if (option == "--ro-bind" || option == "--bind") {
      step.kind = Kind::kBind;
      step.read_only = option == "--ro-bind";
      step.source = Next();
    } else if (option == "--symlink") {
      step.kind = Kind::kSymlink;
      step.source = Next();
    } else if (option == "--proc") {
      step.kind = Kind::kProc;
    } else if (option == "--dev") {
      step.kind = Kind::kDev;
    } else {
      return false;
    }
    step.target = Next();
    if (step.kind == Kind::kDev && std::string_view(step.target) != "/dev") return false;
    plan_.steps.push_back(step);
    return true;
  }

  bool TakeSetting(std::string_view option) {
    if (std::find(kAlways.begin(), kAlways.end(), option) != kAlways.end()) return true;
    if (option == "--unshare-cgroup-try") return true;  // always tried
    if (option == "--unshare-net") return plan_.new_network = true;
    if (option == "--uid" || option == "--gid") return std::string_view(Next()) == "0";
    if (option == "--cap-drop") return std::string_view(Next()) == "ALL";
    if (option == "--cap-add") return AddCapability(Next());
    if (option == "--hostname") return (plan_.hostname = Next()) != nullptr;
    if (option == "--chdir") return (plan_.directory = Next()) != nullptr;
    if (option != "--setenv") return false;
    const std::string name = Next();
    plan_.texts.push_back(name + "=" + Next());
    return true;
  }

  bool AddCapability(std::string_view name) {
    for (const auto& [known, number] : kCapabilities) {
      if (known == name) plan_.capabilities |= std::uint64_t{1} << number;
      if (known == name) return true;
    }
    return false;
  }

  InitPlan& plan_;
  std::size_t at_ = 0;
};

// "A=1" … → "1" of A.
std::string Variable(const std::vector<std::string>& assignments, const std::string& name) {
  for (auto it = assignments.rbegin(); it != assignments.rend(); ++it) {
    if (it->starts_with(name + "=")) return it->substr(name.size() + 1);
  }
  return "";
}

std::vector<std::string> Candidates(const std::string& program, const std::string& search_path) {
  if (program.find('/') != program.npos) return {program};
  std::vector<std::string> out;
  for (std::size_t start = 0; start <= search_path.size();) {
    const std::size_t end = std::min(search_path.find(':', start), search_path.size());
    const std::string directory = search_path.substr(start, end - start);
    out.push_back(directory.empty() ? program : directory + "/" + program);
    start = end + 1;
  }
  return out;
}

// Whether the child may run in our memory while we wait. Sanitizers keep books of every thread's
// stack.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr bool kSharesMemory = true;
#else
constexpr bool kSharesMemory = false;
#endif
constexpr std::size_t kStackBytes = 64 << 10;

void Enter(InitPlan* plan) { RunInit(*plan); }

// The child begins in Enter on a stack of its own: one that returned would spoil ours.
long CloneOnStack(clone_args& args, InitPlan& plan) {  // NOLINT(google-runtime-int)
#if defined(__x86_64__)
  alignas(16) static std::array<char, kStackBytes> stack;
  args.stack = reinterpret_cast<std::uintptr_t>(stack.data());
  args.stack_size = stack.size();
  register void (*entry)(InitPlan*) asm("r8") = Enter;
  register InitPlan* argument asm("r9") = &plan;
  long result = SYS_clone3;  // NOLINT(google-runtime-int)
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "mov %%r9, %%rdi\n\t"
      "call *%%r8\n\t"
      "hlt\n"
      "1:"
      : "+a"(result)
      : "D"(&args), "S"(sizeof args), "r"(entry), "r"(argument)
      : "rcx", "r11", "memory", "cc");
  return result;
#else
  (void)args;
  (void)plan;
  return -ENOSYS;
#endif
}

// The child becomes PID 1. group: where it is born; "" for where we are. -1 when the kernel
// refuses, or does not know groups yet (before 5.7).
pid_t Clone(std::uint64_t flags, const env::Path& group, InitPlan& plan) {
  clone_args args{};
  args.flags = flags;
  args.exit_signal = SIGCHLD;
  env::UniqueFd directory;
  if (!group.empty()) {
    auto opened = env::OpenFile(group, O_RDONLY | O_DIRECTORY);
    if (!opened) return -1;
    directory = std::move(*opened);
    args.flags |= kIntoCgroup;
    args.cgroup = static_cast<std::uint64_t>(directory.get());
  }
  if (!kSharesMemory) {
    const auto pid = static_cast<pid_t>(::syscall(SYS_clone3, &args, sizeof args));
    if (pid == 0) RunInit(plan);
    return pid;
  }
  args.flags |= CLONE_VM | CLONE_VFORK;
  const auto pid = static_cast<pid_t>(CloneOnStack(args, plan));
  if (pid >= 0) return pid;
  errno = -pid;
  return -1;
}

// The program of PID 1, without a name that anybody could find.
Result<env::UniqueFd> InitProgram() {
  constexpr unsigned kExecutable = 0x10;  // MFD_EXEC, since Linux 6.3
  env::UniqueFd fd(::memfd_create("sabia-init", MFD_CLOEXEC | kExecutable));
  if (!fd) fd.Reset(::memfd_create("sabia-init", MFD_CLOEXEC));
  if (!fd) return FailErrno(errno, "failed to make a place for PID 1");
  RETURN_IF_ERROR(env::WriteAll(fd.get(), kEmbeddedInit[0].Text()));
  // A file that is open for writing cannot be run.
  return env::OpenFile(fmt::format("/proc/self/fd/{}", fd.get()), O_RDONLY);
}

}  // namespace

NativeSandbox::NativeSandbox(std::unique_ptr<InitPlan> plan) : plan_(std::move(plan)) {}
NativeSandbox::NativeSandbox(NativeSandbox&&) noexcept = default;
NativeSandbox& NativeSandbox::operator=(NativeSandbox&&) noexcept = default;
NativeSandbox::~NativeSandbox() = default;

Result<NativeSandbox> NativeSandbox::Plan(std::vector<std::string> options,
                                          std::vector<std::string> command) {
  auto plan = std::make_unique<InitPlan>();
  plan->options = std::move(options);
  plan->command = std::move(command);
  RETURN_IF_ERROR(Parser(*plan).Run());

  const std::size_t variables = plan->texts.size();
  const std::string path = Variable(plan->texts, "PATH");
  const std::vector<std::string> candidates = Candidates(plan->command.front(), path);
  plan->init_words = {"sabia-init", std::to_string(candidates.size())};
  plan->texts.insert(plan->texts.end(), candidates.begin(), candidates.end());
  // Outside, we are root, or mapped to it (channels/mounts.h).
  const std::string map = fmt::format("0 {} 1", ::geteuid());
  const std::string group_map = fmt::format("0 {} 1", ::getegid());
  plan->texts.insert(plan->texts.end(), {map, group_map});

  for (std::size_t i = 0; i < variables; ++i) plan->environment.push_back(plan->texts[i].data());
  plan->environment.push_back(nullptr);
  plan->gid_map = plan->texts.back().c_str();
  plan->uid_map = plan->texts[plan->texts.size() - 2].c_str();
  for (std::string& word : plan->init_words) plan->init_argv.push_back(word.data());
  for (std::size_t i = 0; i < candidates.size(); ++i)
    plan->init_argv.push_back(plan->texts[variables + i].data());
  for (std::string& word : plan->command) plan->init_argv.push_back(word.data());
  plan->init_argv.push_back(nullptr);
  return NativeSandbox(std::move(plan));
}

Result<pid_t> NativeSandbox::Start(const SandboxStart& start) {
  std::vector<env::UniqueFd> opened;
  const auto add_join = [&](const env::Path& file) {
    auto fd = env::OpenFile(file, O_WRONLY);
    if (!fd) return;
    plan_->joins.push_back(fd->get());
    opened.push_back(std::move(*fd));
  };
  for (const env::Path& tasks : start.v1_tasks) add_join(tasks);
  const env::UniqueFd self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  if (!self) return FailErrno(errno, "failed to watch ourselves");
  plan_->null_fd = start.null_fd;
  plan_->output_fd = start.output_fd;
  plan_->status_fd = start.status_fd;
  plan_->parent_fd = self.get();
  ASSIGN_OR_RETURN(const env::UniqueFd init, InitProgram());
  plan_->init_fd = init.get();

  std::uint64_t flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;
  if (plan_->new_network) flags |= CLONE_NEWNET;
  pid_t pid = start.v2_group.empty() ? -1 : Clone(flags, start.v2_group, *plan_);
  if (pid < 0) {
    if (!start.v2_group.empty()) add_join(start.v2_group / "cgroup.procs");
    pid = Clone(flags, {}, *plan_);
  }
  if (pid < 0) return FailErrno(errno, "failed to make the namespaces of a sandbox");
  return pid;
}

}  // namespace sabia::agent
