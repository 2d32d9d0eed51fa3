// What the machine and the platform tell the program: CPUs it may use, and whether it was asked to
// end.
#pragma once

namespace sabia::algorithms {

// CPUs of the affinity mask, or fewer when a cgroup's quota allows fewer; at least 1.
int UsableCpus();

// A reader of our lines may go away; that must not end the training.
void IgnoreBrokenPipes();

// Watches SIGTERM from its construction on; before and after, SIGTERM ends the process at once.
// One at a time per process, as signals are.
class Termination {
 public:
  Termination();
  Termination(const Termination&) = delete;
  Termination& operator=(const Termination&) = delete;
  ~Termination();

  bool requested() const;
};

}  // namespace sabia::algorithms
