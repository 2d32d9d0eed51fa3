// Checkpoints of several files, seen all or not at all by whoever restores them.
//
// The files of one directory below the checkpoint directory belong together: "checkpoint-500/",
// with the model, the optimizer and the state of the trainer. Before the first new file of one goes
// up, an object beside them, ".sabia-unfinished-<host>", names the files that are on their way; it
// goes when all are in S3 and the directory has come to rest. Restoring leaves out what such an
// object names, so that a machine that dies in between leaves the checkpoint before as the newest.
// The same holds for a directory that is being deleted. A file directly in the checkpoint directory
// is a checkpoint of its own; a file that replaces an older one of its name is not hidden.
//
// Threading: confined. Errors: those of S3Client.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "wire/s3_client.h"

namespace sabia::channels {

inline constexpr std::string_view kUnfinishedPrefix = ".sabia-unfinished-";

// "checkpoint-500" of "checkpoint-500/model/a.bin"; "" of a file of its own.
std::string_view SetOf(std::string_view path);
// What tells the checkpoints of one series from other files: their names differ in numbers only.
// "checkpoint-#/" of "checkpoint-500/model/a.bin", "model-#.pt" of "model-7.pt"; "" without a
// number.
std::string SeriesOf(std::string_view path);

class UnfinishedFiles {
 public:
  // prefix: of the checkpoints; key "" or with a trailing "/".
  UnfinishedFiles(wire::S3Location prefix, std::string_view host);

  // What all hosts have left unfinished, out of the listed keys below the prefix. Those of this
  // host stay unfinished until they are removed.
  Result<std::set<std::string>> Read(wire::S3Client& client,
                                     const std::vector<wire::S3Object>& objects);

  const std::set<std::string>& paths() const { return paths_; }
  // Changes are in S3 after Write.
  void Add(const std::string& path) { paths_.insert(path); }
  void Remove(const std::string& path) { paths_.erase(path); }
  // Writes or deletes the object when it is not what it should be.
  Status Write(wire::S3Client& client);

 private:
  std::string Content() const;

  const wire::S3Location prefix_;
  const std::string name_;
  std::set<std::string> paths_;
  std::string written_;  // the object's content; "": there is none
};

}  // namespace sabia::channels
