#include "objects/object_index.h"

#include "objects/columns.h"

namespace sabia::objects::index {
namespace {

using store::BlobView;
using store::Connection;
using store::Statement;

// What both tables have, in the order that ObjectFrom reads and WriteRow writes.
constexpr std::string_view kColumns =
    "size, etag, modified, blob, checksums, class, metadata, parts, tags, version, seq, origin, "
    "envelope, part_checksums";

const std::string kReadCurrent =
    fmt::format("SELECT {} FROM objects WHERE bucket = ? AND key = ?", kColumns);
const std::string kReadOlder = fmt::format(
    "SELECT {}, marker FROM versions WHERE bucket = ? AND key = ? AND seq = ? AND version = ?",
    kColumns);
const std::string kReadNull = fmt::format(
    "SELECT {}, marker FROM versions WHERE bucket = ? AND key = ? AND version = ''", kColumns);
const std::string kReadNewest = fmt::format(
    "SELECT {}, marker FROM versions WHERE bucket = ? AND key = ? ORDER BY seq DESC LIMIT 1",
    kColumns);
const std::string kReadCurrentByOrigin = kReadCurrent + " AND origin = ?";
const std::string kReadOlderByOrigin = fmt::format(
    "SELECT {}, marker FROM versions WHERE bucket = ? AND key = ? AND origin = ?", kColumns);
const std::string kWrite = fmt::format(
    "INSERT OR REPLACE INTO objects (bucket, key, {}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
    "?, ?, ?, ?)",
    kColumns);
const std::string kDemote = fmt::format(
    "INSERT INTO versions (bucket, key, marker, {0}) SELECT bucket, key, 0, {0} FROM objects WHERE "
    "bucket = ? AND key = ?",
    kColumns);
const std::string kPromote = fmt::format(
    "INSERT INTO objects (bucket, key, {0}) SELECT bucket, key, {0} FROM versions WHERE bucket = ? "
    "AND key = ? AND seq = ?",
    kColumns);
const std::string kWriteMarker = fmt::format(
    "INSERT INTO versions (bucket, key, marker, {}) VALUES (?, ?, 1, 0, '', ?, '', '', '', '', '', "
    "'', ?, ?, '', '', x'')",
    kColumns);
constexpr int kMarkerColumn = 14;

tl::unexpected<Error> NoKey(std::string_view key) {
  return Fail(ErrorCode::kNotFound, "key '{}' does not exist", key);
}

tl::unexpected<Error> NoVersion(std::string_view key, std::string_view version) {
  return Fail(ErrorCode::kNotFound, "version '{}' of key '{}' does not exist", version, key);
}

Result<ObjectInfo> ObjectFrom(const Statement& row, std::string_view key) {
  ObjectInfo out;
  out.key = key;
  out.size = static_cast<std::uint64_t>(row.Int(0));
  out.etag = row.String(1);
  out.modified = FromUnixMillis(row.Int(2));
  out.blob_id = row.String(3);
  ASSIGN_OR_RETURN(out.checksums, DecodeChecksums(row.Text(4)));
  out.storage_class = row.String(5);
  ASSIGN_OR_RETURN(out.metadata, DecodeMap(row.Text(6)));
  ASSIGN_OR_RETURN(out.parts, DecodeSizes(row.Text(7)));
  ASSIGN_OR_RETURN(out.tags, DecodeMap(row.Text(8)));
  out.version_id = row.String(9);
  out.envelope = row.String(12);
  out.part_checksums = row.Blob(13);
  return out;
}

Result<ObjectInfo> OlderFrom(const Statement& row, std::string_view key) {
  ASSIGN_OR_RETURN(ObjectInfo out, ObjectFrom(row, key));
  out.delete_marker = row.Int(kMarkerColumn) != 0;
  return out;
}

// Binds and steps to the row of a version that is not current.
Result<bool> SeekOlder(Statement& find, const ObjectName& name, BucketId bucket) {
  if (name.version->empty()) return find.BindAll(bucket, BlobView{name.key}).Step();
  const auto sequence = SequenceOf(*name.version);
  if (!sequence) return false;
  return find.BindAll(bucket, BlobView{name.key}, *sequence, *name.version).Step();
}

}  // namespace

Result<ObjectInfo> ReadObject(Connection& connection, BucketId bucket, std::string_view key,
                              const VersionChoice& version) {
  {
    ASSIGN_OR_RETURN(Statement find, connection.Prepare(kReadCurrent));
    ASSIGN_OR_RETURN(const bool found, find.BindAll(bucket, BlobView{key}).Step());
    if (found && (!version || find.Text(9) == *version)) return ObjectFrom(find, key);
  }
  if (!version) return NoKey(key);
  ASSIGN_OR_RETURN(Statement find, connection.Prepare(version->empty() ? kReadNull : kReadOlder));
  ASSIGN_OR_RETURN(const bool found, SeekOlder(find, {"", std::string(key), version}, bucket));
  if (!found) return NoVersion(key, *version);
  return OlderFrom(find, key);
}

Result<std::optional<ObjectInfo>> ReadNewestMarker(Connection& connection, BucketId bucket,
                                                   std::string_view key) {
  {
    ASSIGN_OR_RETURN(Statement find, connection.Prepare(kReadCurrent));
    ASSIGN_OR_RETURN(const bool current, find.BindAll(bucket, BlobView{key}).Step());
    if (current) return std::nullopt;
  }
  ASSIGN_OR_RETURN(Statement find, connection.Prepare(kReadNewest));
  ASSIGN_OR_RETURN(const bool found, find.BindAll(bucket, BlobView{key}).Step());
  if (!found) return std::nullopt;
  ASSIGN_OR_RETURN(ObjectInfo out, OlderFrom(find, key));
  return out.delete_marker ? std::optional(std::move(out)) : std::nullopt;
}

Result<std::optional<ObjectInfo>> ReadByOrigin(Connection& connection, BucketId bucket,
                                               const UploadName& upload) {
  for (const bool current : {true, false}) {
    ASSIGN_OR_RETURN(Statement find,
                     connection.Prepare(current ? kReadCurrentByOrigin : kReadOlderByOrigin));
    ASSIGN_OR_RETURN(const bool found,
                     find.BindAll(bucket, BlobView{upload.key}, upload.upload_id).Step());
    if (!found) continue;
    ASSIGN_OR_RETURN(ObjectInfo out, ObjectFrom(find, upload.key));
    return out;
  }
  return std::nullopt;
}

// What a change must know of a row that exists.
struct ObjectWriter::Facts {
  std::string blob;
  std::string etag;
  std::int64_t modified_ms = 0;
  std::uint64_t size = 0;
  std::string version;
  std::int64_t sequence = 0;
  bool marker = false;

  // Of a row "blob, etag, modified, size, version, seq, marker".
  static Facts From(const Statement& row) {
    return {row.String(0), row.String(1), row.Int(2),     static_cast<std::uint64_t>(row.Int(3)),
            row.String(4), row.Int(5),    row.Int(6) != 0};
  }

  Status CheckEtag(const std::optional<std::string>& wanted, std::string_view key) const {
    if (!wanted || *wanted == "*" || *wanted == etag) return {};
    return Fail(ErrorCode::kConflict, "key '{}' has ETag {}", key, etag);
  }

  Status Check(const DeleteOptions& options, std::string_view key) const {
    RETURN_IF_ERROR(CheckEtag(options.if_match, key));
    const auto seconds = std::chrono::floor<Seconds>(FromUnixMillis(modified_ms));
    if (options.if_modified && std::chrono::floor<Seconds>(*options.if_modified) != seconds) {
      return Fail(ErrorCode::kConflict, "key '{}' was modified at another time", key);
    }
    if (options.if_size && *options.if_size != size) {
      return Fail(ErrorCode::kConflict, "key '{}' has {} bytes", key, size);
    }
    if (options.if_blob && *options.if_blob != blob) {
      return Fail(ErrorCode::kConflict, "key '{}' was replaced", key);
    }
    return {};
  }
};

namespace {

bool HasConditions(const DeleteOptions& options) {
  return options.if_match || options.if_modified || options.if_size || options.if_blob;
}

}  // namespace

Result<std::optional<ObjectWriter::Facts>> ObjectWriter::ReadCurrent(std::string_view key) {
  ASSIGN_OR_RETURN(Statement find,
                   connection_.Prepare("SELECT blob, etag, modified, size, version, seq, 0 FROM "
                                       "objects WHERE bucket = ? AND key = ?"));
  ASSIGN_OR_RETURN(const bool found, find.BindAll(bucket_.id, BlobView{key}).Step());
  if (!found) return std::nullopt;
  return Facts::From(find);
}

Result<std::optional<ObjectWriter::Facts>> ObjectWriter::ReadOlder(std::string_view key,
                                                                   std::string_view version) {
  ASSIGN_OR_RETURN(
      Statement find,
      connection_.Prepare(
          version.empty()
              ? "SELECT blob, etag, modified, size, version, seq, marker FROM versions WHERE "
                "bucket = ? AND key = ? AND version = ''"
              : "SELECT blob, etag, modified, size, version, seq, marker FROM versions WHERE "
                "bucket = ? AND key = ? AND seq = ? AND version = ?"));
  ASSIGN_OR_RETURN(const bool found,
                   SeekOlder(find, {"", std::string(key), std::string(version)}, bucket_.id));
  if (!found) return std::nullopt;
  return Facts::From(find);
}

Result<ObjectWriter::Version> ObjectWriter::NewVersion() {
  if (bucket_.versioning == Versioning::kOff) return Version{};
  Version out;
  ASSIGN_OR_RETURN(out.sequence, NextSequence(connection_, bucket_.id));
  if (bucket_.versioning == Versioning::kEnabled) {
    out.id = MakeVersionId(out.sequence, random_.Hex(16));
  }
  return out;
}

Status ObjectWriter::Demote(std::string_view key) {
  RETURN_IF_ERROR(connection_.Run(kDemote, bucket_.id, BlobView{key}));
  return connection_.Run("DELETE FROM objects WHERE bucket = ? AND key = ?", bucket_.id,
                         BlobView{key});
}

// After the current version went: the newest of the others takes its place, unless it is a marker.
Status ObjectWriter::Promote(std::string_view key) {
  std::int64_t sequence = 0;
  {
    ASSIGN_OR_RETURN(Statement newest,
                     connection_.Prepare("SELECT seq, marker FROM versions WHERE bucket = ? AND "
                                         "key = ? ORDER BY seq DESC LIMIT 1"));
    ASSIGN_OR_RETURN(const bool found, newest.BindAll(bucket_.id, BlobView{key}).Step());
    if (!found || newest.Int(1) != 0) return {};
    sequence = newest.Int(0);
  }
  RETURN_IF_ERROR(connection_.Run(kPromote, bucket_.id, BlobView{key}, sequence));
  return connection_.Run("DELETE FROM versions WHERE bucket = ? AND key = ? AND seq = ?",
                         bucket_.id, BlobView{key}, sequence);
}

Status ObjectWriter::RemoveOlder(std::string_view key, const Facts& version) {
  if (!version.marker) RETURN_IF_ERROR(AddGarbage(connection_, version.blob));
  return connection_.Run("DELETE FROM versions WHERE bucket = ? AND key = ? AND seq = ?",
                         bucket_.id, BlobView{key}, version.sequence);
}

// Before a new version, or a marker, becomes the newest: the current one steps back, and where a
// null version is to be written, the one there is goes.
Status ObjectWriter::MakeRoom(std::string_view key, const std::optional<Facts>& current) {
  const bool keeps = bucket_.versioning == Versioning::kEnabled;
  if (current && !keeps && current->version.empty()) {
    RETURN_IF_ERROR(AddGarbage(connection_, current->blob));
    return connection_.Run("DELETE FROM objects WHERE bucket = ? AND key = ?", bucket_.id,
                           BlobView{key});
  }
  if (current) RETURN_IF_ERROR(Demote(key));
  if (bucket_.versioning != Versioning::kSuspended) return {};
  ASSIGN_OR_RETURN(const std::optional<Facts> null_version, ReadOlder(key, ""));
  return null_version ? RemoveOlder(key, *null_version) : Status{};
}

Status ObjectWriter::Write(ObjectInfo& object, const PutOptions& conditions,
                           std::string_view origin) {
  ASSIGN_OR_RETURN(const std::optional<Facts> current, ReadCurrent(object.key));
  if (conditions.if_none_match && current) {
    return Fail(ErrorCode::kAlreadyExists, "key '{}' exists", object.key);
  }
  if (conditions.if_match) {
    if (!current) return NoKey(object.key);
    RETURN_IF_ERROR(current->CheckEtag(conditions.if_match, object.key));
  }
  RETURN_IF_ERROR(MakeRoom(object.key, current));
  ASSIGN_OR_RETURN(const Version version, NewVersion());
  object.version_id = version.id;
  ASSIGN_OR_RETURN(const std::string metadata, EncodeMap(object.metadata));
  ASSIGN_OR_RETURN(const std::string tags, EncodeMap(object.tags));
  return connection_.Run(kWrite, bucket_.id, BlobView{object.key}, object.size, object.etag,
                         ToUnixMillis(object.modified), object.blob_id,
                         EncodeChecksums(object.checksums), object.storage_class, metadata,
                         EncodeSizes(object.parts), tags, version.id, version.sequence, origin,
                         object.envelope, BlobView{object.part_checksums});
}

Status ObjectWriter::WriteMarker(std::string_view key, const Version& version, WallTime now) {
  return connection_.Run(kWriteMarker, bucket_.id, BlobView{key}, ToUnixMillis(now), version.id,
                         version.sequence);
}

Result<Deleted> ObjectWriter::Delete(std::string_view key, const DeleteOptions& options,
                                     WallTime now) {
  if (options.version) return DeleteVersion(key, options);
  ASSIGN_OR_RETURN(const std::optional<Facts> current, ReadCurrent(key));
  if (!current && HasConditions(options)) return NoKey(key);
  if (current) RETURN_IF_ERROR(current->Check(options, key));
  RETURN_IF_ERROR(MakeRoom(key, current));
  if (bucket_.versioning == Versioning::kOff) return Deleted{};
  ASSIGN_OR_RETURN(const Version version, NewVersion());
  RETURN_IF_ERROR(WriteMarker(key, version, now));
  return Deleted{true, version.id};
}

Result<Deleted> ObjectWriter::DeleteVersion(std::string_view key, const DeleteOptions& options) {
  ASSIGN_OR_RETURN(const std::optional<Facts> current, ReadCurrent(key));
  if (current && current->version == *options.version) {
    RETURN_IF_ERROR(current->Check(options, key));
    RETURN_IF_ERROR(AddGarbage(connection_, current->blob));
    RETURN_IF_ERROR(connection_.Run("DELETE FROM objects WHERE bucket = ? AND key = ?", bucket_.id,
                                    BlobView{key}));
    RETURN_IF_ERROR(Promote(key));
    return Deleted{false, *options.version};
  }
  ASSIGN_OR_RETURN(const std::optional<Facts> older, ReadOlder(key, *options.version));
  if (!older) {
    if (HasConditions(options)) return NoVersion(key, *options.version);
    return Deleted{false, *options.version};
  }
  RETURN_IF_ERROR(older->Check(options, key));
  RETURN_IF_ERROR(RemoveOlder(key, *older));
  if (!current) RETURN_IF_ERROR(Promote(key));
  return Deleted{older->marker, *options.version};
}

Result<ObjectInfo> ObjectWriter::SetTags(const ObjectName& name, const Tags& tags) {
  ASSIGN_OR_RETURN(ObjectInfo object, ReadObject(connection_, bucket_.id, name.key, name.version));
  if (object.delete_marker) return object;
  ASSIGN_OR_RETURN(const std::string text, EncodeMap(tags));
  // One of the two has it.
  for (const char* sql :
       {"UPDATE objects SET tags = ? WHERE bucket = ? AND key = ? AND version = ?",
        "UPDATE versions SET tags = ? WHERE bucket = ? AND key = ? AND version = "
        "?"}) {
    RETURN_IF_ERROR(connection_.Run(sql, text, bucket_.id, BlobView{name.key}, object.version_id));
  }
  object.tags = tags;
  return object;
}

Status AddGarbage(Connection& connection, std::string_view blob_id) {
  return connection.Run("INSERT OR IGNORE INTO garbage (blob) VALUES (?)", blob_id);
}

Result<std::vector<std::string>> ReadGarbage(Connection& connection, std::size_t limit) {
  ASSIGN_OR_RETURN(Statement all, connection.Prepare("SELECT blob FROM garbage LIMIT ?"));
  all.BindAll(limit);
  std::vector<std::string> out;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, all.Step());
    if (!row) return out;
    out.push_back(all.String(0));
  }
}

Status ForgetGarbage(Connection& connection, const std::vector<std::string>& blob_ids) {
  for (const std::string& id : blob_ids) {
    RETURN_IF_ERROR(connection.Run("DELETE FROM garbage WHERE blob = ?", id));
  }
  return {};
}

Result<std::set<std::string>> FindWanted(Connection& connection,
                                         const std::set<std::string>& candidates) {
  std::set<std::string> wanted;
  for (const char* sql : {"SELECT blob FROM objects", "SELECT blob FROM versions",
                          "SELECT blob FROM parts", "SELECT joint FROM uploads"}) {
    ASSIGN_OR_RETURN(Statement all, connection.Prepare(sql));
    while (true) {
      ASSIGN_OR_RETURN(const bool row, all.Step());
      if (!row) break;
      std::string id = all.String(0);
      if (candidates.contains(id)) wanted.insert(std::move(id));
    }
  }
  return wanted;
}

Result<ObjectInfo> ListedFrom(const Statement& row) {
  ObjectInfo out;
  out.key = std::string(row.Blob(0));
  out.size = static_cast<std::uint64_t>(row.Int(1));
  out.etag = row.String(2);
  out.modified = FromUnixMillis(row.Int(3));
  out.blob_id = row.String(4);
  ASSIGN_OR_RETURN(out.checksums, DecodeChecksums(row.Text(5)));
  out.storage_class = row.String(6);
  out.envelope = row.String(7);
  return out;
}

}  // namespace sabia::objects::index
