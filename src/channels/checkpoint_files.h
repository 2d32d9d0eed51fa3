// What a checkpoint directory holds right now, seen from outside while a program writes to it.
//
// Not listed: marker files and what their names ask to leave out (".sagemaker-uploading",
// ".sagemaker-uploaded",
// ".sagemaker-ignore", ".sabia-unfinished-…"), hidden temporary files, links, anything that is no
// regular file. Links are not followed.
//
// Errors: kIo and kNotFound when the directory cannot be read; files that vanish meanwhile are left
// out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sabia::channels {

inline constexpr std::string_view kUploadingSuffix = ".sagemaker-uploading";
inline constexpr std::string_view kUploadedSuffix = ".sagemaker-uploaded";
inline constexpr std::string_view kIgnoreSuffix = ".sagemaker-ignore";

// Two equal identities mean the same bytes, as far as a file system tells.
struct FileIdentity {
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

struct CheckpointFile {
  std::string path;  // relative
  FileIdentity identity;
  bool being_written = false;  // some process holds it open for writing
};

// Whether a file with this base name never leaves the machine.
bool IsLeftOut(std::string_view name);

// Sorted by time of modification: what a program wrote last comes last. At most `limit` files, else
// kResourceExhausted. no_files: what S3 cannot keep, "latest (symbolic link)"; at most `limit`.
Result<std::vector<CheckpointFile>> ScanCheckpoints(int directory, std::size_t limit,
                                                    std::vector<std::string>* no_files = nullptr);

Result<FileIdentity> IdentityOf(int fd);

// Whether some process has the file open for writing; false where the file system cannot tell. fd:
// open for reading.
bool HasWriter(int fd);

// Marker files beside `path`. Failures do not matter: they are hints to the program.
void MarkUploading(int directory, const std::string& path);
void MarkUploaded(int directory, const std::string& path);
void RemoveMarkers(int directory, const std::string& path);

}  // namespace sabia::channels
