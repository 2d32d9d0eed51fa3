#include "objects/bucket_index.h"

namespace sabia::objects::index {
namespace {

using store::Connection;
using store::Statement;

tl::unexpected<Error> NoBucket(std::string_view name) {
  return Fail(ErrorCode::kNotFound, "bucket '{}' does not exist", name);
}

Result<Versioning> VersioningFrom(std::int64_t value) {
  if (value < 0 || value > static_cast<std::int64_t>(Versioning::kSuspended)) {
    return Fail(ErrorCode::kCorrupt, "index holds a bad state of versioning: {}", value);
  }
  return static_cast<Versioning>(value);
}

// Of a row "id, name, region, created, versioning".
Result<BucketInfo> BucketFrom(const Statement& row) {
  BucketInfo out;
  out.id = row.Int(0);
  out.name = row.String(1);
  out.region = row.String(2);
  out.created = FromUnixMillis(row.Int(3));
  ASSIGN_OR_RETURN(out.versioning, VersioningFrom(row.Int(4)));
  return out;
}

Result<Settings> ReadSettings(Connection& connection, BucketId bucket) {
  ASSIGN_OR_RETURN(Statement rows,
                   connection.Prepare("SELECT name, document FROM settings WHERE bucket = ?"));
  rows.BindAll(bucket);
  Settings out;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return out;
    out.emplace(rows.String(0), rows.String(1));
  }
}

Status CheckEmpty(Connection& connection, BucketId bucket, std::string_view name) {
  for (const char* sql : {"SELECT 1 FROM objects WHERE bucket = ? LIMIT 1",
                          "SELECT 1 FROM versions WHERE bucket = ? LIMIT 1"}) {
    ASSIGN_OR_RETURN(Statement any, connection.Prepare(sql));
    ASSIGN_OR_RETURN(const bool found, any.BindAll(bucket).Step());
    if (found) return Fail(ErrorCode::kConflict, "bucket '{}' is not empty", name);
  }
  return {};
}

}  // namespace

Status InsertBucket(Connection& connection, const BucketInfo& bucket) {
  const Status inserted =
      connection.Run("INSERT INTO buckets (name, region, created) VALUES (?, ?, ?)", bucket.name,
                     bucket.region, ToUnixMillis(bucket.created));
  if (!inserted && inserted.error().code == ErrorCode::kAlreadyExists) {
    return Fail(ErrorCode::kAlreadyExists, "bucket '{}' exists", bucket.name);
  }
  RETURN_IF_ERROR(inserted);
  const BucketId id = connection.LastInsertRowId();
  for (const auto& [name, document] : bucket.settings) {
    RETURN_IF_ERROR(WriteSetting(connection, id, name, document));
  }
  return {};
}

Status DeleteBucket(Connection& connection, std::string_view name) {
  ASSIGN_OR_RETURN(const BucketRow bucket, FindBucket(connection, name));
  RETURN_IF_ERROR(CheckEmpty(connection, bucket.id, name));
  RETURN_IF_ERROR(connection.Run(
      "INSERT OR IGNORE INTO garbage (blob) SELECT p.blob FROM parts p JOIN uploads u ON "
      "p.upload = u.id WHERE u.bucket = ?",
      bucket.id));
  RETURN_IF_ERROR(connection.Run(
      "INSERT OR IGNORE INTO garbage (blob) SELECT joint FROM uploads WHERE bucket = ? AND joint "
      "<> ''",
      bucket.id));
  RETURN_IF_ERROR(connection.Run(
      "DELETE FROM parts WHERE upload IN (SELECT id FROM uploads WHERE bucket = ?)", bucket.id));
  RETURN_IF_ERROR(connection.Run("DELETE FROM uploads WHERE bucket = ?", bucket.id));
  RETURN_IF_ERROR(connection.Run("DELETE FROM settings WHERE bucket = ?", bucket.id));
  return connection.Run("DELETE FROM buckets WHERE id = ?", bucket.id);
}

Result<BucketInfo> ReadBucket(Connection& connection, std::string_view name) {
  ASSIGN_OR_RETURN(Statement find,
                   connection.Prepare("SELECT id, name, region, created, versioning FROM buckets "
                                      "WHERE name = ?"));
  ASSIGN_OR_RETURN(const bool found, find.BindAll(name).Step());
  if (!found) return NoBucket(name);
  ASSIGN_OR_RETURN(BucketInfo out, BucketFrom(find));
  ASSIGN_OR_RETURN(out.settings, ReadSettings(connection, out.id));
  return out;
}

Result<std::vector<BucketInfo>> ReadBuckets(Connection& connection) {
  ASSIGN_OR_RETURN(Statement all,
                   connection.Prepare("SELECT id, name, region, created, versioning FROM buckets "
                                      "ORDER BY name"));
  std::vector<BucketInfo> out;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, all.Step());
    if (!row) break;
    ASSIGN_OR_RETURN(BucketInfo bucket, BucketFrom(all));
    out.push_back(std::move(bucket));
  }
  for (BucketInfo& bucket : out) {
    ASSIGN_OR_RETURN(bucket.settings, ReadSettings(connection, bucket.id));
  }
  return out;
}

Result<BucketRow> FindBucket(Connection& connection, std::string_view name) {
  ASSIGN_OR_RETURN(Statement find,
                   connection.Prepare("SELECT id, versioning FROM buckets WHERE name = ?"));
  ASSIGN_OR_RETURN(const bool found, find.BindAll(name).Step());
  if (!found) return NoBucket(name);
  BucketRow out;
  out.id = find.Int(0);
  ASSIGN_OR_RETURN(out.versioning, VersioningFrom(find.Int(1)));
  return out;
}

Status WriteVersioning(Connection& connection, std::string_view name, Versioning versioning) {
  RETURN_IF_ERROR(connection.Run("UPDATE buckets SET versioning = ? WHERE name = ?",
                                 static_cast<int>(versioning), name));
  if (connection.Changes() == 0) return NoBucket(name);
  return {};
}

Status WriteSetting(Connection& connection, BucketId bucket, std::string_view name,
                    const std::optional<std::string>& document) {
  if (!document) {
    return connection.Run("DELETE FROM settings WHERE bucket = ? AND name = ?", bucket, name);
  }
  return connection.Run("INSERT OR REPLACE INTO settings (bucket, name, document) VALUES (?, ?, ?)",
                        bucket, name, *document);
}

Result<std::int64_t> NextSequence(Connection& connection, BucketId bucket) {
  ASSIGN_OR_RETURN(Statement next,
                   connection.Prepare("UPDATE buckets SET sequence = sequence + 1 WHERE id = ? "
                                      "RETURNING sequence"));
  ASSIGN_OR_RETURN(const bool row, next.BindAll(bucket).Step());
  if (!row) return Fail(ErrorCode::kNotFound, "bucket {} does not exist", bucket);
  const std::int64_t out = next.Int(0);
  RETURN_IF_ERROR(next.Run());
  return out;
}

}  // namespace sabia::objects::index
