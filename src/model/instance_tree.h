// The directories that every instance has, below its own: what becomes /opt/ml, /tmp and /root of
// the program. An instance whose program left nothing has exactly these, and they are empty.
#pragma once

#include <array>
#include <string_view>

namespace sabia::model {

struct TreeDirectory {
  std::string_view path;
  unsigned mode;
};

// Parents first.
inline constexpr std::array<TreeDirectory, 14> kInstanceTree = {{
    {"root", 0755},
    {"root/input", 0755},
    {"root/input/config", 0755},
    {"root/input/data", 0755},
    {"root/model", 0755},
    {"root/output", 0755},
    {"root/output/data", 0755},
    {"root/output/metrics", 0755},
    {"root/output/metrics/sagemaker", 0755},
    {"root/checkpoints", 0755},
    {"root/code", 0755},
    {"scratch", 0755},
    {"scratch/tmp", 01777},
    {"scratch/home", 0700},
}};

}  // namespace sabia::model
