// Decompresses a gzip object as it streams: one member or several, in constant memory (some 64
// KiB).
//
// Zeros behind the last member are padding; an object without any bytes decompresses to none.
//
// Threading: thread-compatible. Errors: kInvalidArgument for what is no gzip data, ends early, or
// fails its checksum, naming the object; those of the stream.
#pragma once

#include <memory>
#include <string>

#include "channels/object_reader.h"

namespace sabia::channels {

class Gunzip {
 public:
  // `in` outlives this. name: for messages.
  Gunzip(ObjectStream& in, std::string name);
  ~Gunzip();

  // The next bytes, at most into.size(), at least one; 0 only at the end.
  Result<std::size_t> Read(std::span<char> into);

 private:
  struct State;
  Status Fill();
  // Before a member; false at the end of the object.
  Result<bool> BeginMember();

  ObjectStream& in_;
  const std::string name_;
  const std::unique_ptr<State> state_;
};

}  // namespace sabia::channels
