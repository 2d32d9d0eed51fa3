#include "objects/fsck_repair.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "base/encoding.h"
#include "base/json.h"
#include "env/posix/posix_files.h"
#include "objects/bucket_index.h"
#include "objects/fsck_rows.h"
#include "objects/object_index.h"

namespace sabia::objects {
namespace {

using store::BlobView;
using store::Connection;
using store::Statement;
using Table = RowName::Table;

constexpr std::size_t kIdDigits = 32;

// The columns that a report keeps of a row, as they are.
constexpr std::string_view kPartColumns[] = {"size", "etag", "modified", "blob", "checksums"};
constexpr std::string_view kObjectColumns[] = {"size",  "etag",     "modified", "blob", "checksums",
                                               "class", "metadata", "parts",    "tags", "version",
                                               "seq",   "origin",   "envelope"};

void SetKey(json::object& out, const std::string& key) {
  if (IsUtf8(key)) {
    out["Key"] = key;
  } else {
    out["KeyHex"] = HexEncode(key);
  }
}

json::object Described(const Finding& finding) {
  json::object out{{"Kind", Name(finding.kind)}, {"Detail", finding.detail}};
  if (!finding.path.empty()) out["Path"] = finding.path;
  if (!finding.blob_id.empty()) out["Blob"] = finding.blob_id;
  if (finding.row.table == Table::kNone) return out;
  if (!finding.row.bucket.empty()) out["Bucket"] = finding.row.bucket;
  out["BucketNumber"] = finding.row.bucket_id;
  SetKey(out, finding.row.key);
  if (finding.row.table == Table::kParts) {
    out["UploadId"] = finding.row.upload_id;
    out["PartNumber"] = finding.row.part;
  } else {
    out["VersionId"] = finding.row.version_id.empty() ? "null" : finding.row.version_id;
  }
  return out;
}

// The directory for what leaves its place; made with the first thing that does.
class LostAndFound {
 public:
  LostAndFound(const RepairTools& tools, FsckReport& report) : tools_(tools), report_(report) {}

  // One line, on the disk when this returns.
  Status Note(const json::object& line) {
    RETURN_IF_ERROR(Open());
    RETURN_IF_ERROR(env::WriteAll(report_file_.get(), json::serialize(line) + "\n"));
    if (::fsync(report_file_.get()) != 0) {
      return FailErrno(errno, "failed to sync '{}'", directory_.native());
    }
    return {};
  }

  // A second name for the file, so that the first may go.
  Status Keep(const env::Path& file) {
    RETURN_IF_ERROR(Open());
    const env::Path to = directory_ / file.filename();
    if (::link(file.c_str(), to.c_str()) != 0 && errno != EEXIST) {
      return FailErrno(errno, "failed to keep '{}' in '{}'", file.native(), directory_.native());
    }
    return env::SyncDirectory(directory_);
  }

  // Takes a file or directory away from its place.
  Status Take(const env::Path& file) {
    RETURN_IF_ERROR(Open());
    std::string name = file.filename();
    std::error_code error;
    while (std::filesystem::exists(std::filesystem::symlink_status(directory_ / name, error))) {
      name = fmt::format("{}.{}", file.filename().native(), tools_.random.Hex(8));
    }
    if (::rename(file.c_str(), (directory_ / name).c_str()) != 0) {
      return FailErrno(errno, "failed to move '{}' to '{}'", file.native(), directory_.native());
    }
    RETURN_IF_ERROR(env::SyncDirectory(directory_));
    return env::SyncDirectory(file.parent_path());
  }

 private:
  Status Open() {
    if (report_file_) return {};
    const env::Path root = tools_.paths.lost_and_found();
    directory_ = root / FormatBasicIso8601(tools_.clock.Wall());
    std::error_code error;
    if (std::filesystem::exists(directory_, error)) directory_ += "-" + tools_.random.Hex(8);
    RETURN_IF_ERROR(env::PosixFiles().MakeDirectories(directory_));
    RETURN_IF_ERROR(env::SyncDirectory(root));
    RETURN_IF_ERROR(env::SyncDirectory(tools_.paths.home()));
    ASSIGN_OR_RETURN(report_file_, env::OpenFile(directory_ / "report.jsonl",
                                                 O_WRONLY | O_CREAT | O_APPEND, 0600));
    report_.lost_and_found = directory_.native();
    return env::SyncDirectory(directory_);
  }

  const RepairTools& tools_;
  FsckReport& report_;
  env::Path directory_;
  env::UniqueFd report_file_;
};

class Repairer {
 public:
  Repairer(const RepairTools& tools, FsckReport& report)
      : tools_(tools), connection_(tools.connection), lost_(tools, report) {}

  // What was done; "" when there is nothing that could be.
  Result<std::string> Put(const Finding& finding) {
    switch (finding.kind) {
      case FindingKind::kIndexDamaged:
      case FindingKind::kUnreadable:  // a disk that fails today may answer tomorrow
        return std::string();
      case FindingKind::kBadRow:
      case FindingKind::kMissing:
      case FindingKind::kWrongSize:
      case FindingKind::kDamaged:
      case FindingKind::kStrayRow:
        return RemoveRow(finding);
      case FindingKind::kShared:
        return GiveOwnFile(finding);
      case FindingKind::kCondemned:
        RETURN_IF_ERROR(connection_.Run("DELETE FROM garbage WHERE blob = ?", finding.blob_id));
        return std::string("taken off the list");
      case FindingKind::kOrphan:
      case FindingKind::kStranger:
        RETURN_IF_ERROR(lost_.Note(Described(finding)));
        RETURN_IF_ERROR(lost_.Take(Path(finding)));
        return std::string("moved to lost+found");
      case FindingKind::kLeftOver:
        if (::unlink(Path(finding).c_str()) != 0 && errno != ENOENT) {
          return FailErrno(errno, "failed to remove '{}'", finding.path);
        }
        return std::string("removed");
      case FindingKind::kNotMoved:
        return MoveToPlace(finding);
    }
    return std::string();
  }

 private:
  env::Path Path(const Finding& finding) const { return tools_.paths.home() / finding.path; }

  Status InTransaction(const std::function<Status()>& work) {
    RETURN_IF_ERROR(connection_.Execute("BEGIN IMMEDIATE"));
    Status done = work();
    if (done) done = connection_.Execute("COMMIT");
    if (!done) (void)connection_.Execute("ROLLBACK");
    return done;
  }

  Result<std::string> RemoveRow(const Finding& finding) {
    ASSIGN_OR_RETURN(json::object line, ReadRow(finding));
    for (const auto& member : Described(finding)) line[member.key()] = member.value();
    RETURN_IF_ERROR(lost_.Note(line));
    bool kept = false;
    if (IsBlobId(finding.blob_id)) {
      for (const env::Path& path :
           {tools_.paths.blob(finding.blob_id), tools_.paths.blobs_tmp() / finding.blob_id}) {
        const Status linked = lost_.Keep(path);
        if (!linked && linked.error().code != ErrorCode::kNotFound) {
          return tl::make_unexpected(linked.error());
        }
        if (linked) kept = true;
      }
    }
    RETURN_IF_ERROR(InTransaction([&] { return DeleteRow(finding); }));
    return fmt::format("taken out of the index{}", kept ? ", its bytes kept in lost+found" : "");
  }

  Status DeleteRow(const Finding& finding) {
    const RowName& row = finding.row;
    // What the writer does with a version, it does here too: the newest of the others becomes the
    // current one.
    if (row.table != Table::kParts && finding.kind != FindingKind::kStrayRow &&
        IsBlobId(finding.blob_id)) {
      ASSIGN_OR_RETURN(const index::BucketRow bucket, index::FindBucket(connection_, row.bucket));
      DeleteOptions options;
      options.version = row.version_id;
      options.if_blob = finding.blob_id;
      const auto deleted = index::ObjectWriter(connection_, bucket, tools_.random)
                               .Delete(row.key, options, tools_.clock.Wall());
      if (!deleted) return tl::make_unexpected(deleted.error());
      return {};
    }
    // Other parts have their places in a joint file; it goes with the upload.
    if (IsBlobId(finding.blob_id) && !row.place) {
      RETURN_IF_ERROR(index::AddGarbage(connection_, finding.blob_id));
    }
    switch (row.table) {
      case Table::kObjects:
        return connection_.Run("DELETE FROM objects WHERE bucket = ? AND key = ?", row.bucket_id,
                               BlobView{row.key});
      case Table::kVersions:
        return connection_.Run("DELETE FROM versions WHERE bucket = ? AND key = ? AND seq = ?",
                               row.bucket_id, BlobView{row.key}, row.sequence);
      case Table::kParts:
        return connection_.Run("DELETE FROM parts WHERE upload = ? AND number = ?", row.upload_row,
                               row.part);
      case Table::kNone:
        break;
    }
    return {};
  }

  Result<Statement> Find(const RowName& row, std::string_view columns) {
    const std::string_view table = row.table == Table::kParts     ? "parts"
                                   : row.table == Table::kObjects ? "objects"
                                                                  : "versions";
    const std::string_view where = row.table == Table::kParts ? "upload = ? AND number = ?"
                                   : row.table == Table::kObjects
                                       ? "bucket = ? AND key = ?"
                                       : "bucket = ? AND key = ? AND seq = ?";
    ASSIGN_OR_RETURN(Statement find, connection_.Prepare(fmt::format("SELECT {} FROM {} WHERE {}",
                                                                     columns, table, where)));
    if (row.table == Table::kParts) {
      find.BindAll(row.upload_row, row.part);
    } else if (row.table == Table::kObjects) {
      find.BindAll(row.bucket_id, BlobView{row.key});
    } else {
      find.BindAll(row.bucket_id, BlobView{row.key}, row.sequence);
    }
    return find;
  }

  Result<json::object> ReadRow(const Finding& finding) {
    const bool part = finding.row.table == Table::kParts;
    const std::span<const std::string_view> columns =
        part ? std::span<const std::string_view>(kPartColumns) : kObjectColumns;
    ASSIGN_OR_RETURN(Statement find,
                     Find(finding.row, fmt::format("{}", fmt::join(columns, ", "))));
    ASSIGN_OR_RETURN(const bool found, find.Step());
    json::object row;
    for (std::size_t i = 0; found && i < columns.size(); ++i) {
      const std::string_view text = find.Text(static_cast<int>(i));
      row[columns[i]] = IsUtf8(text) ? std::string(text) : HexEncode(text);
    }
    return json::object{{"Row", std::move(row)}};
  }

  Result<std::string> GiveOwnFile(const Finding& finding) {
    const std::string id = tools_.random.Hex(kIdDigits);
    const env::Path to = tools_.paths.blob(id);
    RETURN_IF_ERROR(env::PosixFiles().MakeDirectories(to.parent_path()));
    if (::link(tools_.paths.blob(finding.blob_id).c_str(), to.c_str()) != 0) {
      return FailErrno(errno, "failed to link '{}'", finding.path);
    }
    RETURN_IF_ERROR(env::SyncDirectory(to.parent_path()));
    RETURN_IF_ERROR(env::SyncDirectory(tools_.paths.blobs()));
    RETURN_IF_ERROR(InTransaction([&] { return Rename(finding, id); }));
    return std::string("given a file of its own");
  }

  Status Rename(const Finding& finding, const std::string& id) {
    const RowName& row = finding.row;
    switch (row.table) {
      case Table::kObjects:
        return connection_.Run("UPDATE objects SET blob = ? WHERE bucket = ? AND key = ?", id,
                               row.bucket_id, BlobView{row.key});
      case Table::kVersions:
        return connection_.Run(
            "UPDATE versions SET blob = ? WHERE bucket = ? AND key = ? AND seq = ?", id,
            row.bucket_id, BlobView{row.key}, row.sequence);
      default:
        return connection_.Run("UPDATE parts SET blob = ? WHERE upload = ? AND number = ?", id,
                               row.upload_row, row.part);
    }
  }

  Result<std::string> MoveToPlace(const Finding& finding) {
    const env::Path to = tools_.paths.blob(finding.blob_id);
    RETURN_IF_ERROR(env::PosixFiles().MakeDirectories(to.parent_path()));
    if (::rename(Path(finding).c_str(), to.c_str()) != 0) {
      return FailErrno(errno, "failed to move '{}' to its place", finding.path);
    }
    return std::string("moved to its place");
  }

  const RepairTools& tools_;
  Connection& connection_;
  LostAndFound lost_;
};

}  // namespace

Status Repair(const RepairTools& tools, FsckReport& report) {
  for (const Finding& finding : report.findings) {
    if (finding.kind != FindingKind::kIndexDamaged) continue;
    return Fail(ErrorCode::kCorrupt,
                "objects.db itself is damaged ({}), so it cannot say what to repair: bring it back "
                "from a backup, then run this again",
                finding.detail);
  }
  Repairer repairer(tools, report);
  for (Finding& finding : report.findings) {
    Result<std::string> done = repairer.Put(finding);
    if (done) {
      finding.repair = std::move(*done);
    } else {
      finding.detail += "; not repaired: " + done.error().message;
    }
  }
  return {};
}

}  // namespace sabia::objects
