// The content of a stored file, sealed or not.
//
// Threading: thread-compatible; the descriptor must outlive it. Errors: kNotFound when a master key
// is gone, kCorrupt when the bytes are not what was sealed or too few, kIo.
#pragma once

#include <optional>
#include <span>

#include "objects/key_ring.h"

namespace sabia::objects {

class ObjectContent {
 public:
  // Of a file that is not sealed, and of one that is.
  explicit ObjectContent(int fd) : fd_(fd) {}
  explicit ObjectContent(Unsealer unsealer) : unsealer_(std::move(unsealer)) {}
  static Result<ObjectContent> Open(KeyRing& keys, const ObjectInfo& info, int fd);
  // Fills out, which must lie within the content.
  Status Read(std::uint64_t offset, std::span<char> out);

 private:
  std::optional<Unsealer> unsealer_;
  int fd_ = -1;
};

}  // namespace sabia::objects
