// Paths inside the file system of a job's program that a request may name, such as
// CheckpointConfig.LocalPath.
//
// One rule for who refuses a job at create and who lays the path out at start. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sabia::model {

// "/a//b/" → "/a/b": slashes at the end and doubled ones mean nothing.
std::string NormalProgramPath(std::string_view path);

// kInvalidArgument: not absolute, not normal, a "." or ".." component, or a place that belongs to
// the system or to the container contract (/opt/ml itself, /opt/ml/input/config).
Status CheckProgramPath(std::string_view path);

}  // namespace sabia::model
