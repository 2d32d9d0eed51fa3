// Programs of ours as bytes in the binary (cmake/embed.cmake). Immutable.
#pragma once

#include <cstddef>
#include <string_view>

namespace sabia::agent {

struct EmbeddedFile {
  std::string_view name;
  const char* begin;
  const char* end;
  std::string_view Text() const { return {begin, end}; }
};

extern const EmbeddedFile kEmbeddedInit[];  // PID 1 of a sandbox (init/)
extern const std::size_t kEmbeddedInitCount;

}  // namespace sabia::agent
