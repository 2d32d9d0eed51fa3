// Compares the index with the disk, and the bytes of every version and part with what the index
// says of them; puts right what can be.
//
// Checking changes nothing. Repairing never destroys bytes that somebody may want: what leaves its
// place goes to a directory of its own below lost+found, with a line of JSON in its report.jsonl
// that holds all that the index said. A crash in the middle loses nothing; running it again goes
// on. What is repaired, and how: docs/formats/objects.md.
//
// REQUIRES: nobody else works in the home (store::Home::LockForCheck). Memory: 16 bytes for each
// version and part, and the findings. Threading: blocks; uses threads of its own. Errors: kCorrupt
// when the index cannot be read at all, kInvalidArgument when its format is not ours, and those of
// the disk. What is wrong with single rows and files is a finding, not an error.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/clock.h"
#include "env/random.h"
#include "objects/key_ring.h"
#include "store/paths.h"

namespace sabia::objects {

enum class FindingKind {
  kIndexDamaged,  // SQLite's own check of the file fails
  kBadRow,        // a row whose columns are not what we write
  kMissing,       // a row without a file
  kWrongSize,     // the file is longer or shorter than its row says
  kDamaged,       // the bytes do not match ETag or checksum
  kUnreadable,    // the disk does not give the bytes
  kShared,        // two rows name one file, so that removing one object would break the other
  kCondemned,     // a row's file is listed for removal
  kStrayRow,      // the row of a bucket or an upload that does not exist
  kOrphan,        // a file that no row names
  kStranger,      // something among the files that we did not make
  // What a killed daemon leaves and the next start tidies; nothing is wrong.
  kLeftOver,  // bytes of an upload that was never acknowledged
  kNotMoved,  // a committed file that waits among the uploads for its place
};

// "wrong-size"
std::string_view Name(FindingKind kind);
bool IsHarmless(FindingKind kind);

// Which row is meant.
struct RowName {
  enum class Table { kNone, kObjects, kVersions, kParts };
  Table table = Table::kNone;
  std::int64_t bucket_id = 0;
  std::string bucket;  // "" when it does not exist
  std::string key;
  std::string version_id;
  std::int64_t sequence = 0;
  std::int64_t upload_row = 0;
  std::string upload_id;
  int part = 0;
  // Of a part in the joint file of its upload, which other parts have their places in too.
  std::optional<std::uint64_t> place = std::nullopt;
};

struct Finding {
  FindingKind kind = FindingKind::kOrphan;
  RowName row;
  std::string blob_id;  // "" when no file with a good name is meant
  std::string path;     // of the file, below the home
  std::string detail;   // "has the ETag …, not …"
  std::string repair;   // what was done about it; "" when nothing was
};

struct FsckReport {
  std::uint64_t objects = 0;  // current ones
  std::uint64_t versions = 0;
  std::uint64_t parts = 0;
  std::uint64_t bytes = 0;  // that were read and hashed
  std::uint64_t files = 0;
  std::uint64_t waiting = 0;  // files that are listed for removal
  std::vector<Finding> findings;
  std::string lost_and_found;  // the directory that was made; "" when nothing was moved

  std::size_t Harmless() const;
  std::size_t Problems() const;  // the others
  std::size_t Left() const;      // problems that were not repaired
};

// Read by another thread while the check runs.
struct FsckProgress {
  std::atomic<std::uint64_t> rows{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> rows_in_all{0};
  std::atomic<std::uint64_t> bytes_in_all{0};
};

struct FsckOptions {
  store::Paths paths;
  KeyRing& keys;  // of the home
  bool repair = false;
  bool contents = true;  // false: sizes only
  unsigned threads = 2;
  FsckProgress* progress = nullptr;
};

Result<FsckReport> Fsck(const FsckOptions& options, env::Clock& clock, env::Random& random);

}  // namespace sabia::objects
