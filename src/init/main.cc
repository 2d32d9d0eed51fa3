// PID 1 of a sandbox: starts the program as PID 2, reaps, and ends with it, which ends every other
// process inside. The agent has made the sandbox around it (agent/native_init.h).
//
// A program of its own, so that nothing of the agent's memory is in the sandbox, and one without a
// C library: it is loaded in a tenth of the time that one would take to look at the processor.
//
// Arguments: how many candidates for the program's file, the candidates in the order of PATH, the
// program's own arguments from its name on. The environment is the program's. Descriptor 3 takes
// one line at the end, {"exit-code": N}; none when no candidate could be run, and then standard
// error says why.
#include <asm/unistd.h>
#include <fcntl.h>
#include <linux/errno.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <signal.h>

#include "init/system_call.h"

namespace sabia::init {
namespace {

constexpr int kStatusFd = 3;
constexpr int kStandardError = 2;
constexpr int kSignalMask = 0x7F;

class Line {
 public:
  Line& operator<<(const char* text) {
    while (*text != '\0' && used_ < sizeof buffer_) buffer_[used_++] = *text++;
    return *this;
  }
  Line& operator<<(int number) {
    char digits[12];
    int at = sizeof digits;
    digits[--at] = '\0';
    do {
      digits[--at] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    return *this << &digits[at];
  }
  void Write(int fd) {
    *this << "\n";
    Call(__NR_write, fd, Address(buffer_), static_cast<long>(used_));
  }

 private:
  char buffer_[4096 + 256];
  std::size_t used_ = 0;
};

[[noreturn]] void Exit(int status) {
  for (;;) Call(__NR_exit_group, status);
}

// As the C library names them: people look for these words.
const char* TextOf(int error) {
  switch (error) {
    case E2BIG:
      return "Argument list too long";
    case EACCES:
      return "Permission denied";
    case EINVAL:
      return "Invalid argument";
    case EIO:
      return "Input/output error";
    case EISDIR:
      return "Is a directory";
    case ELIBBAD:
      return "Accessing a corrupted shared library";
    case ELOOP:
      return "Too many levels of symbolic links";
    case ENAMETOOLONG:
      return "File name too long";
    case ENOENT:
      return "No such file or directory";
    case ENOEXEC:
      return "Exec format error";
    case ENOMEM:
      return "Cannot allocate memory";
    case ENOTDIR:
      return "Not a directory";
    case EPERM:
      return "Operation not permitted";
    case ETXTBSY:
      return "Text file busy";
    default:
      return nullptr;
  }
}

struct Program {
  char** files;  // argv points behind them
  int count;
  char** argv;
  char** environment;
};

// A file without #! is a shell script. The word before the arguments is free: a candidate lay
// there, or the program's name.
int RunByShell(const Program& program, char* file) {
  static char shell[] = "/bin/sh";
  char* name = program.argv[0];
  char** before = program.argv - 1;
  char* last = before[0];
  before[0] = shell;
  program.argv[0] = file;
  const auto error =
      -Call(__NR_execve, Address(shell), Address(before), Address(program.environment));
  before[0] = last;
  program.argv[0] = name;
  return static_cast<int>(error);
}

// As execvp: the errors that a later candidate may not have are passed over. Returns the error.
int Become(const Program& program) {
  bool denied = false;
  int error = ENOENT;
  for (int i = 0; i < program.count; ++i) {
    char* file = program.files[i];
    error = static_cast<int>(
        -Call(__NR_execve, Address(file), Address(program.argv), Address(program.environment)));
    if (error == ENOEXEC) error = RunByShell(program, file);
    denied = denied || error == EACCES;
    if (error != EACCES && error != ENOENT && error != ENOTDIR) break;
  }
  return denied && (error == ENOENT || error == ENOTDIR) ? EACCES : error;
}

// In our memory, which waits meanwhile, until the program's own takes its place.
[[noreturn, gnu::noinline]] void RunChild(const Program& program, volatile int* error) {
  *error = Become(program);
  Exit(127);
}

int Start(const Program& program) {
  volatile int error = 0;
  const auto pid = Call(__NR_clone, CLONE_VM | CLONE_VFORK | SIGCHLD);
  if (pid == 0) RunChild(program, &error);
  if (pid > 0 && error == 0) return static_cast<int>(pid);
  const int why = pid < 0 ? static_cast<int>(-pid) : error;
  Line line;
  line << "sabia: execvp " << program.argv[0] << ": ";
  if (const char* text = TextOf(why)) {
    line << text;
  } else {
    line << "error " << why;
  }
  line.Write(kStandardError);
  Exit(1);
}

[[noreturn]] void Reap(int program) {
  // What the program inherited is its own to close: a reader of the output must see the end.
  for (int fd = 0; fd <= kStandardError; ++fd) Call(__NR_close, fd);
  while (true) {
    int status = 0;
    const auto ended = Call(__NR_wait4, -1, Address(&status));
    if (ended < 0 && ended != -EINTR) Exit(1);
    if (ended != program) continue;
    const int signal = status & kSignalMask;
    Line line;
    line << "{\"exit-code\": " << (signal != 0 ? 128 + signal : (status >> 8) & 0xFF) << "}";
    line.Write(kStatusFd);
    Exit(0);
  }
}

int NumberIn(const char* text) {
  int out = 0;
  while (*text >= '0' && *text <= '9') out = 10 * out + (*text++ - '0');
  return out;
}

}  // namespace

// arguments: what the kernel lays on the stack: how many, each, null, the environment, null.
extern "C" [[noreturn]] void SabiaInit(char** arguments) {
  // What a process inside may not do to us, it could do to the program's end.
  Call(__NR_prctl, PR_SET_DUMPABLE, 0);
  Call(__NR_prctl, PR_SET_NAME, Address("sabia-init"));
  Call(__NR_fcntl, kStatusFd, F_SETFD, FD_CLOEXEC);
  const auto count = *reinterpret_cast<long*>(arguments);
  char** words = arguments + 1;
  const int candidates = count > 1 ? NumberIn(words[1]) : 0;
  if (candidates < 1 || count < candidates + 3) Exit(1);
  const Program program{words + 2, candidates, words + 2 + candidates, words + count + 1};
  Reap(Start(program));
}

}  // namespace sabia::init

#if defined(__x86_64__)
asm(".globl _start\n_start:\n  xor %ebp, %ebp\n  mov %rsp, %rdi\n  and $-16, %rsp\n  call "
    "SabiaInit\n");
#elif defined(__aarch64__)
asm(".globl _start\n_start:\n  mov x29, #0\n  mov x0, sp\n  bl SabiaInit\n");
#endif
