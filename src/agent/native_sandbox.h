// A sandbox that the agent makes itself, in one child, from the options that bubblewrap would get.
//
// The child makes the mounts, then becomes PID 1's own small program (init/main.cc), which starts
// the job's as PID 2, reaps, and ends with it. Compared to bubblewrap it saves the start of a
// program, a second process and hundreds of system calls (docs/adr). What the program sees and may
// do is the same; a test compares the two. Until the child has become PID 1 it runs in our memory
// and we wait: a copy would cost more than the rest of the sandbox.
//
// Promise: the kernel kills PID 1, and with it everything inside, when the starting thread dies.
// Nothing of the engine is readable from inside: PID 1 holds no memory and no descriptor of the
// agent. Threading: Start on the thread that lives as long as the agent. Errors: kUnimplemented
// for an option that only bubblewrap knows; others when the kernel refuses.
// Neighbours: sandbox.h writes the options, program.h chooses between this and bubblewrap.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "agent/sandbox_start.h"
#include "base/result.h"

namespace sabia::agent {

struct InitPlan;

class NativeSandbox {
 public:
  // options as bubblewrap takes them, command with at least one word.
  static Result<NativeSandbox> Plan(std::vector<std::string> options,
                                    std::vector<std::string> command);
  NativeSandbox(NativeSandbox&&) noexcept;
  NativeSandbox& operator=(NativeSandbox&&) noexcept;
  ~NativeSandbox();

  // The pid of PID 1, a child of the caller. What becomes of it is told in lines on the status
  // descriptor: "ready <inode of its pid namespace>" or "failed <why>", then {"exit-code": N}.
  // Neither failed nor an exit code: the program could not be run, and the output says why.
  Result<pid_t> Start(const SandboxStart& start);

 private:
  explicit NativeSandbox(std::unique_ptr<InitPlan> plan);

  std::unique_ptr<InitPlan> plan_;
};

}  // namespace sabia::agent
