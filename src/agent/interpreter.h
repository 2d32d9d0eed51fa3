// A Python interpreter of the host: which directories it needs, found without running it.
//
// Looks at the disk only. Any thread.
#pragma once

#include <vector>

#include "env/files.h"

namespace sabia::agent {

// Whether the interpreter belongs to a virtual environment (pyvenv.cfg beside its bin directory).
bool IsVirtualEnvironment(const env::Path& python);

// Directories outside /usr that the interpreter needs: its virtual environment, the installations
// that the links on the way to its binary lead through.
std::vector<env::Path> InterpreterTrees(const env::Path& python);

}  // namespace sabia::agent
