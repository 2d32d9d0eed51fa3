// Messages in the program's own terms: its user knows /opt/ml and S3, not the directories that we
// keep an instance in, nor the sandbox that runs it. Pure but for resolving the instance directory.
#pragma once

#include <string>

#include "agent/layout.h"
#include "model/instance.h"

namespace sabia::agent {

// Paths of the instance as the program sees them; those that it cannot see lose what is ours.
std::string ContractText(const model::InstanceSpec& spec, const Layout& layout, std::string text);

// What the sandbox wrote when it could not run the command: "'train': No such file or directory".
struct StartProblem {
  std::string text;
  bool users = false;  // the sandbox stood, and the command of the request is not in it
};
StartProblem ReadStartProblem(std::string line);

}  // namespace sabia::agent
