// Objects of S3 endpoints outside, brought onto this machine's disk for channels that need files.
//
// They come through the cache that all instances share (channels/object_cache.h), and are linked
// below scratch/ for as long as the instance lives. Objects of the embedded store that are no files
// of this machine are encrypted there: what is opened of them is kept below scratch/ only. What
// they take is checked before anything is fetched: against VolumeSizeInGB, and against the room on
// the disk.
//
// Threading: as hooks. Errors: kInvalidArgument when VolumeSizeInGB is too small, else as the
// cache.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/hook.h"
#include "channels/listing.h"

namespace sabia::agent {

class RemoteData {
 public:
  // The same objects, all of them files.
  Result<std::vector<channels::ListedObject>> Bring(
      Instance& instance, const std::vector<channels::ListedObject>& objects);

  // What was opened of encrypted objects; removed with the links.
  static Path OpenedDirectory(const Layout& layout);

  // After the links are gone: keeps the cache within its limit.
  static void Release(const model::InstanceSpec& spec);

 private:
  std::uint64_t volume_used_ = 0;  // by the channels so far
};

}  // namespace sabia::agent
