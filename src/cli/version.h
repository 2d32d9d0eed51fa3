// What `sabia --version` prints.
#pragma once

namespace sabia::cli {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace sabia::cli
