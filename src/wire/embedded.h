// The files of schemas/ as bytes in the binary (cmake/embed.cmake). Immutable.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace sabia::wire {

struct EmbeddedFile {
  std::string_view name;  // "sagemaker-runtime"
  const char* begin;
  const char* end;
  std::string_view Text() const { return {begin, end}; }
};

extern const EmbeddedFile kEmbeddedSchemas[];
extern const std::size_t kEmbeddedSchemasCount;

inline std::span<const EmbeddedFile> EmbeddedSchemas() {
  return {kEmbeddedSchemas, kEmbeddedSchemasCount};
}

}  // namespace sabia::wire
