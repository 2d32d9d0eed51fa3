#include "fleet/posix/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>

namespace sabia::fleet {
namespace {

constexpr int kPassedAs = 3;

// The attributes and file actions of posix_spawn, destroyed together.
class Setup {
 public:
  Setup() {
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawn_file_actions_init(&actions_);
  }
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;
  ~Setup() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  // 0 or an errno value.
  int Fill(const SpawnOptions& options) {
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    int error = ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (error == 0) error = ::posix_spawnattr_setsigmask(&attributes_, &none);
    if (error == 0) error = ::posix_spawnattr_setsigdefault(&attributes_, &all);
    return error == 0 ? FillDescriptors(options) : error;
  }

  const posix_spawnattr_t* attributes() const { return &attributes_; }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  int FillDescriptors(const SpawnOptions& options) {
    int error = ::posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    if (error == 0)
      error = ::posix_spawn_file_actions_addopen(&actions_, 1, "/dev/null", O_WRONLY, 0);
    if (error == 0) {
      error = ::posix_spawn_file_actions_addopen(&actions_, 2, options.error_file.c_str(),
                                                 O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
    }
    const bool passes = options.pass_fd >= 0;
    if (error == 0 && passes)
      error = ::posix_spawn_file_actions_adddup2(&actions_, options.pass_fd, kPassedAs);
    if (error == 0) {
      error =
          ::posix_spawn_file_actions_addclosefrom_np(&actions_, passes ? kPassedAs + 1 : kPassedAs);
    }
    return error;
  }

  posix_spawnattr_t attributes_;
  posix_spawn_file_actions_t actions_;
};

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

Result<int> Spawn(const SpawnOptions& options) {
  Setup setup;
  int error = setup.Fill(options);
  int pid = 0;
  std::vector<std::string> arguments = options.command;
  std::vector<std::string> environment = options.environment;
  if (error == 0) {
    error =
        ::posix_spawn(&pid, options.command.front().c_str(), setup.actions(), setup.attributes(),
                      Pointers(arguments).data(), Pointers(environment).data());
  }
  if (error != 0) return FailErrno(error, "failed to start '{}'", options.command.front());
  return pid;
}

}  // namespace sabia::fleet
