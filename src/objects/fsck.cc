#include "objects/fsck.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <thread>

#include "base/check.h"
#include "base/encoding.h"
#include "env/posix/posix_files.h"
#include "objects/content_check.h"
#include "objects/fsck_repair.h"
#include "objects/fsck_rows.h"
#include "objects/object_content.h"
#include "objects/schema.h"

namespace sabia::objects {
namespace {

using store::Connection;
using store::Statement;
using Table = RowName::Table;

constexpr std::size_t kBatch = 1024;  // rows that are checked side by side
constexpr std::size_t kReadStep = 1U << 20;
constexpr int kIntegrityLinesMax = 20;

// 16 bytes instead of 32 digits: all of them are in memory.
using Id = std::array<char, 16>;

Id PackedId(std::string_view blob_id) {
  const auto bytes = HexDecode(blob_id);
  CHECK(bytes && bytes->size() == std::tuple_size_v<Id>);
  Id out;
  std::copy(bytes->begin(), bytes->end(), out.begin());
  return out;
}

class Checker {
 public:
  Checker(const FsckOptions& options, Connection& connection)
      : options_(options), paths_(options.paths), connection_(connection) {}

  Result<FsckReport> Run() {
    RETURN_IF_ERROR(CheckIndexFile());
    ASSIGN_OR_RETURN(parents_, ReadParents(connection_));
    RETURN_IF_ERROR(ReadGarbage());
    ASSIGN_OR_RETURN(fresh_, ReadFreshBytes(connection_));
    RETURN_IF_ERROR(CountAll());
    for (const Table table : {Table::kObjects, Table::kVersions, Table::kParts}) {
      RETURN_IF_ERROR(CheckTable(table));
    }
    RETURN_IF_ERROR(FindShared());
    RETURN_IF_ERROR(CheckFiles());
    return std::move(report_);
  }

 private:
  Status CheckIndexFile() {
    ASSIGN_OR_RETURN(Statement check, connection_.Prepare("PRAGMA integrity_check"));
    for (int line = 0; line < kIntegrityLinesMax; ++line) {
      ASSIGN_OR_RETURN(const bool row, check.Step());
      if (!row || check.Text(0) == "ok") return {};
      Add({FindingKind::kIndexDamaged, {}, "", "objects.db", check.String(0), ""});
    }
    return {};
  }

  Status ReadGarbage() {
    ASSIGN_OR_RETURN(Statement all, connection_.Prepare("SELECT blob FROM garbage"));
    while (true) {
      ASSIGN_OR_RETURN(const bool row, all.Step());
      if (!row) return {};
      garbage_.insert(all.String(0));
    }
  }

  Status CountAll() {
    if (options_.progress == nullptr) return {};
    for (const char* sql :
         {"SELECT count(*), sum(size) FROM objects", "SELECT count(*), sum(size) FROM versions",
          "SELECT count(*), sum(size) FROM parts"}) {
      ASSIGN_OR_RETURN(Statement count, connection_.Prepare(sql));
      ASSIGN_OR_RETURN(const bool row, count.Step());
      if (!row) continue;
      options_.progress->rows_in_all += static_cast<std::uint64_t>(count.Int(0));
      options_.progress->bytes_in_all += static_cast<std::uint64_t>(count.Int(1));
    }
    return {};
  }

  Status CheckTable(Table table) {
    std::vector<FsckRow> batch;
    RETURN_IF_ERROR(VisitRows(connection_, parents_, table, [&](FsckRow row) -> Status {
      ++(table == Table::kObjects    ? report_.objects
         : table == Table::kVersions ? report_.versions
                                     : report_.parts);
      batch.push_back(std::move(row));
      if (batch.size() == kBatch) {
        CheckBatch(batch);
        batch.clear();
      }
      return {};
    }));
    CheckBatch(batch);
    return {};
  }

  void CheckBatch(const std::vector<FsckRow>& batch) {
    for (const FsckRow& row : batch) {
      if (IsBlobId(row.info.blob_id)) wanted_.push_back(PackedId(row.info.blob_id));
    }
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t at = next++; at < batch.size(); at = next++) {
        CheckRow(batch[at]);
        if (options_.progress != nullptr) ++options_.progress->rows;
      }
    };
    std::vector<std::jthread> helpers;
    const std::size_t threads = std::min<std::size_t>(options_.threads, batch.size());
    for (std::size_t i = 1; i < threads; ++i) helpers.emplace_back(work);
    work();
  }

  // On any thread.
  void CheckRow(const FsckRow& row) {
    const auto find = [&](FindingKind kind, std::string path, std::string detail) {
      Add({kind, row.name, row.info.blob_id, std::move(path), std::move(detail), ""});
    };
    if (row.stray) {
      return find(FindingKind::kStrayRow, "",
                  row.name.table == Table::kParts ? "its upload does not exist"
                                                  : "its bucket does not exist");
    }
    if (!row.fault.empty()) return find(FindingKind::kBadRow, "", row.fault);
    if (row.info.delete_marker) return;
    if (!IsBlobId(row.info.blob_id)) {
      return find(FindingKind::kBadRow, "", "index holds a bad name of a file");
    }
    if (garbage_.contains(row.info.blob_id)) {
      find(FindingKind::kCondemned, BelowHome(paths_.blob(row.info.blob_id)),
           "is listed for removal");
    }
    const auto fresh = fresh_.find(row.info.blob_id);
    if (fresh == fresh_.end()) return CheckBlob(row);
    // Whatever the file is now, the next start writes it from these bytes.
    ContentCheck check(row.info);
    check.Update(fresh->second);
    Hashed(fresh->second.size());
    if (const std::string differs = Joined(check.Finish()); !differs.empty()) {
      find(FindingKind::kDamaged, "objects.db", "its bytes in the index: " + differs);
    }
  }

  void Hashed(std::size_t bytes) {
    bytes_ += bytes;
    if (options_.progress != nullptr) options_.progress->bytes += bytes;
  }

  static std::string Joined(const std::vector<std::string>& lines) {
    std::string out;
    for (const std::string& line : lines) out += (out.empty() ? "" : "; ") + line;
    return out;
  }

  void CheckBlob(const FsckRow& row) {
    env::Path path = paths_.blob(row.info.blob_id);
    auto fd = env::OpenFile(path, O_RDONLY | O_NOFOLLOW);
    const bool absent = !fd && fd.error().code == ErrorCode::kNotFound;
    if (absent) {
      path = paths_.blobs_tmp() / row.info.blob_id;
      fd = env::OpenFile(path, O_RDONLY | O_NOFOLLOW);
    }
    const auto find = [&](FindingKind kind, std::string detail) {
      Add({kind, row.name, row.info.blob_id, BelowHome(path), std::move(detail), ""});
    };
    if (!fd && fd.error().code == ErrorCode::kNotFound) {
      path = paths_.blob(row.info.blob_id);
      return find(FindingKind::kMissing, "does not exist");
    }
    if (!fd) return find(FindingKind::kUnreadable, fd.error().message);
    // A joint file stays there for as long as its upload lasts.
    if (absent && !row.name.place) {
      find(FindingKind::kNotMoved, "waits among the uploads for its place");
    }
    struct stat about {};
    if (::fstat(fd->get(), &about) != 0 || !S_ISREG(about.st_mode)) {
      return find(FindingKind::kUnreadable, "is not a regular file");
    }
    const auto size = static_cast<std::uint64_t>(about.st_size);
    auto end = StoredSize(row);
    if (!end) return find(FindingKind::kBadRow, end.error().message);
    *end += row.name.place.value_or(0);
    if (row.name.place ? size < *end : size != *end) {
      return find(FindingKind::kWrongSize, fmt::format("is {} bytes long, not {}", size, *end));
    }
    if (!options_.contents) return;
    const Result<std::string> differs = CheckContent(fd->get(), row);
    if (!differs) {
      const bool damaged = differs.error().code == ErrorCode::kCorrupt;
      return find(damaged ? FindingKind::kDamaged : FindingKind::kUnreadable,
                  differs.error().message);
    }
    if (!differs->empty()) find(FindingKind::kDamaged, *differs);
  }

  static Result<std::vector<Segment>> Segments(const FsckRow& row) {
    if (row.name.table != Table::kParts) return SegmentsOf(row.info);
    return std::vector<Segment>{{row.info.size, row.name.part}};
  }

  static Result<std::uint64_t> StoredSize(const FsckRow& row) {
    if (row.info.envelope.empty()) return row.info.size;
    ASSIGN_OR_RETURN(const std::vector<Segment> segments, Segments(row));
    std::uint64_t out = 0;
    for (const Segment& segment : segments) out += SealedSize(segment.size);
    return out;
  }

  // "" when the content is right.
  Result<std::string> CheckContent(int fd, const FsckRow& row) {
    (void)::posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    ObjectContent content(fd);
    if (!row.info.envelope.empty()) {
      ASSIGN_OR_RETURN(const DataKey key, options_.keys.Open(row.info.envelope));
      ASSIGN_OR_RETURN(std::vector<Segment> segments, Segments(row));
      content = ObjectContent(Unsealer(key, std::move(segments), fd));
    }
    ASSIGN_OR_RETURN(const Encryption how, ReadEnvelope(row.info.envelope));
    // The ETag of SSE-KMS is no hash of anything.
    ContentCheck check(row.info, how.algorithm.empty() || how.algorithm == "AES256");
    const std::uint64_t start = row.name.place.value_or(0);
    std::string buffer(std::min<std::uint64_t>(kReadStep, row.info.size), '\0');
    for (std::uint64_t done = 0; done < row.info.size;) {
      const std::size_t n = std::min<std::uint64_t>(buffer.size(), row.info.size - done);
      RETURN_IF_ERROR(content.Read(start + done, {buffer.data(), n}));
      check.Update({buffer.data(), n});
      done += n;
      Hashed(n);
    }
    return Joined(check.Finish());
  }

  // The rows whose file another row names too. Reads the tables again, but only when there are any.
  Status FindShared() {
    report_.bytes = bytes_;
    std::sort(wanted_.begin(), wanted_.end());
    std::set<Id> shared;
    for (auto at = wanted_.begin(); at != wanted_.end(); ++at) {
      if (at + 1 != wanted_.end() && *at == *(at + 1)) shared.insert(*at);
    }
    if (shared.empty()) return {};
    std::set<Id> seen;
    for (const Table table : {Table::kObjects, Table::kVersions, Table::kParts}) {
      RETURN_IF_ERROR(VisitRows(connection_, parents_, table, [&](const FsckRow& row) -> Status {
        if (row.name.place) return {};
        if (!IsBlobId(row.info.blob_id) || !shared.contains(PackedId(row.info.blob_id))) return {};
        // The first one may keep the name.
        if (!seen.insert(PackedId(row.info.blob_id)).second) {
          Add({FindingKind::kShared, row.name, row.info.blob_id,
               BelowHome(paths_.blob(row.info.blob_id)), "is the file of another row too", ""});
        }
        return {};
      }));
    }
    return {};
  }

  bool Wanted(std::string_view blob_id) const {
    return std::binary_search(wanted_.begin(), wanted_.end(), PackedId(blob_id));
  }

  Status CheckFiles() {
    std::error_code error;
    std::filesystem::directory_iterator top(paths_.blobs(), error);
    if (error) return FailErrno(error.value(), "failed to list '{}'", paths_.blobs().native());
    for (const auto& entry : top) {
      const std::string name = entry.path().filename();
      const bool ours =
          name.size() == 2 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
      if (!entry.is_directory(error) || entry.is_symlink(error) || (!ours && name != "tmp")) {
        AddStranger(entry.path());
        continue;
      }
      RETURN_IF_ERROR(CheckDirectory(entry.path()));
    }
    return {};
  }

  Status CheckDirectory(const env::Path& directory) {
    std::error_code error;
    std::filesystem::directory_iterator files(directory, error);
    if (error) return FailErrno(error.value(), "failed to list '{}'", directory.native());
    const std::string place = directory.filename();
    const bool unfinished = place == "tmp";
    for (const auto& entry : files) {
      const std::string name = entry.path().filename();
      const bool ours = IsBlobId(name) && (unfinished || name.starts_with(place)) &&
                        entry.is_regular_file(error) && !entry.is_symlink(error);
      if (!ours) {
        AddStranger(entry.path());
        continue;
      }
      ++report_.files;
      CheckFile(entry.path(), unfinished);
    }
    return {};
  }

  void CheckFile(const env::Path& path, bool unfinished) {
    const std::string id = path.filename();
    if (Wanted(id)) {
      // Its row was checked with the file in its place; this is a second one. That of a fresh
      // object is written again anyway.
      std::error_code error;
      if (!unfinished || !std::filesystem::exists(paths_.blob(id), error)) return;
    } else if (parents_.joints.contains(id)) {
      return;
    } else if (garbage_.contains(id)) {
      ++report_.waiting;
      return;
    }
    Add({unfinished ? FindingKind::kLeftOver : FindingKind::kOrphan,
         {},
         id,
         BelowHome(path),
         unfinished ? "is of an upload that was never acknowledged" : "no row names it",
         ""});
  }

  void AddStranger(const env::Path& path) {
    Add({FindingKind::kStranger, {}, "", BelowHome(path), "was not made by sabia", ""});
  }

  std::string BelowHome(const env::Path& path) const {
    return path.lexically_relative(paths_.home()).native();
  }

  void Add(Finding finding) {
    const std::lock_guard lock(mutex_);
    report_.findings.push_back(std::move(finding));
  }

  const FsckOptions& options_;
  const store::Paths paths_;
  Connection& connection_;
  FsckParents parents_;
  std::set<std::string> garbage_;
  std::map<std::string, std::string, std::less<>> fresh_;
  std::vector<Id> wanted_;  // sorted once all rows are read
  std::atomic<std::uint64_t> bytes_{0};
  std::mutex mutex_;
  FsckReport report_;  // its findings are guarded by mutex_ while rows are checked
};

bool HasBlobs(const store::Paths& paths) {
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(paths.blobs(), error), end;
       !error && at != end; at.increment(error)) {
    if (at->is_regular_file(error)) return true;
  }
  return false;
}

Status CheckFormat(Connection& connection) {
  ASSIGN_OR_RETURN(Statement version, connection.Prepare("PRAGMA user_version"));
  ASSIGN_OR_RETURN(const bool row, version.Step());
  const auto ours = static_cast<std::int64_t>(index::Migrations().size());
  const std::int64_t found = row ? version.Int(0) : 0;
  if (found == ours) return {};
  if (found > ours) {
    return Fail(ErrorCode::kInvalidArgument,
                "objects.db has format {}, but this program knows formats up to {}: use a newer "
                "sabia",
                found, ours);
  }
  return Fail(ErrorCode::kInvalidArgument,
              "objects.db has the older format {}: start 'sabia serve' once, which brings it to "
              "format {}, then check",
              found, ours);
}

// The order of a person who reads: what is wrong first, then by place.
void Sort(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.kind, a.row.bucket, a.row.key, a.row.sequence, a.row.part, a.path) <
           std::tie(b.kind, b.row.bucket, b.row.key, b.row.sequence, b.row.part, b.path);
  });
}

}  // namespace

std::string_view Name(FindingKind kind) {
  switch (kind) {
    case FindingKind::kIndexDamaged:
      return "index-damaged";
    case FindingKind::kBadRow:
      return "bad-row";
    case FindingKind::kMissing:
      return "missing";
    case FindingKind::kWrongSize:
      return "wrong-size";
    case FindingKind::kDamaged:
      return "damaged";
    case FindingKind::kUnreadable:
      return "unreadable";
    case FindingKind::kShared:
      return "shared";
    case FindingKind::kCondemned:
      return "condemned";
    case FindingKind::kStrayRow:
      return "stray-row";
    case FindingKind::kOrphan:
      return "orphan";
    case FindingKind::kStranger:
      return "stranger";
    case FindingKind::kLeftOver:
      return "left-over";
    case FindingKind::kNotMoved:
      return "not-moved";
  }
  return "unknown";
}

bool IsHarmless(FindingKind kind) {
  return kind == FindingKind::kLeftOver || kind == FindingKind::kNotMoved;
}

std::size_t FsckReport::Harmless() const {
  return static_cast<std::size_t>(std::count_if(
      findings.begin(), findings.end(), [](const Finding& f) { return IsHarmless(f.kind); }));
}

std::size_t FsckReport::Problems() const { return findings.size() - Harmless(); }

std::size_t FsckReport::Left() const {
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(),
                    [](const Finding& f) { return !IsHarmless(f.kind) && f.repair.empty(); }));
}

Result<FsckReport> Fsck(const FsckOptions& options, env::Clock& clock, env::Random& random) {
  const store::Paths& paths = options.paths;
  ASSIGN_OR_RETURN(const bool indexed, env::PosixFiles().Exists(paths.objects_db()));
  if (!indexed) {
    if (!HasBlobs(paths)) return FsckReport{};
    return Fail(ErrorCode::kCorrupt,
                "'{}' is missing, and nothing else knows what the files in '{}' are: bring it back "
                "from a backup",
                paths.objects_db().native(), paths.blobs().native());
  }
  ASSIGN_OR_RETURN(auto connection,
                   Connection::Open({.path = paths.objects_db(),
                                     .mode = options.repair ? Connection::Mode::kReadWrite
                                                            : Connection::Mode::kReadOnly}));
  RETURN_IF_ERROR(CheckFormat(*connection));
  ASSIGN_OR_RETURN(FsckReport report, Checker(options, *connection).Run());
  Sort(report.findings);
  if (options.repair) RETURN_IF_ERROR(Repair({paths, *connection, clock, random}, report));
  return report;
}

}  // namespace sabia::objects
