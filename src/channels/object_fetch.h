// One object on its way into a file: which piece comes next, what has arrived, whether it is right.
//
// Threading: thread-safe. Opened once, then any number of threads take pieces.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "channels/fetch.h"
#include "channels/piece_map.h"
#include "wire/object_checksum.h"

namespace sabia::channels {

class ObjectFetch {
 public:
  ObjectFetch(const FetchJob& job, const FetchOptions& options) : job_(job), options_(options) {}

  const FetchJob& job() const { return job_; }
  int fd() const { return fd_.get(); }
  bool is_small() const { return job_.object->size <= options_.piece_size; }

  // The whole of a small object.
  Status FetchSmall(wire::S3Client& client, const Cancelled& cancelled);

  // Of a longer one: asks the endpoint what it announces, and looks what is there already.
  Status Open(wire::S3Client& client);
  // The next piece to fetch; nothing when all are taken.
  std::optional<std::size_t> Take();
  Status FetchPiece(wire::S3Client& client, std::size_t index, const Cancelled& cancelled);
  // True once, for the thread that brought the last piece.
  bool TakeCompletion();
  // kCorrupt: forgotten, and every piece may be taken again.
  Status Verify();
  // Removes the journal of pieces: the file is whole.
  void Finish();

 private:
  Status OpenFile();
  std::string Combined() const;

  const FetchJob job_;
  const FetchOptions& options_;
  env::UniqueFd fd_;
  wire::ObjectChecksum announced_;
  std::mutex mutex_;
  std::optional<PieceMap> map_;
  std::size_t next_ = 0;
  bool completed_ = false;
};

}  // namespace sabia::channels
