// Script mode: where a user's code comes from and how it is started, as the SageMaker training
// toolkit does it.
//
// Pure but for HasFile. Errors: kInvalidArgument names the missing or bad hyperparameter.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/instance.h"

namespace sabia::agent {

// What the code directory holds, as far as the command depends on it.
struct CodeFacts {
  bool requirements = false;  // requirements.txt
  bool setup = false;         // setup.py
  bool program = false;       // the entry point itself
};

// The user's command alone, as error messages print it: "/usr/bin/python3 train.py --epochs 3".
Result<std::vector<std::string>> UserCommand(const model::InstanceSpec& spec,
                                             const CodeFacts& code);
std::string CommandText(const std::vector<std::string>& command);

// The command with pip in front when the code asks for it.
Result<std::vector<std::string>> ScriptCommand(const model::InstanceSpec& spec,
                                               const CodeFacts& code);

// The text of /opt/ml/output/failure after a script failed.
std::string ScriptFailureText(int exit_code, const std::string& message,
                              const std::vector<std::string>& command);

}  // namespace sabia::agent
