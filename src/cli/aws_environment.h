// What AWS's clients would read of this process's environment, for endpoints outside.
#pragma once

#include "wire/key_source.h"

namespace sabia::cli {

wire::KeyEnvironment ReadKeyEnvironment();

}  // namespace sabia::cli
