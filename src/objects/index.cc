#include "objects/index.h"

#include <algorithm>
#include <charconv>

#include "base/encoding.h"
#include "base/json.h"

namespace sabia::objects::index {
namespace {

using store::BlobView;
using store::Connection;
using store::Statement;

// A table of current objects only, clustered by key: listing reads neighbours. Older versions, when
// there are any, belong in a table of their own, so that they never slow this one down.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE buckets (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  region TEXT NOT NULL,
  created INTEGER NOT NULL
) STRICT;
CREATE TABLE objects (
  bucket INTEGER NOT NULL,
  key BLOB NOT NULL,
  size INTEGER NOT NULL,
  etag TEXT NOT NULL,
  modified INTEGER NOT NULL,
  blob TEXT NOT NULL,
  checksums TEXT NOT NULL,
  metadata TEXT NOT NULL,
  parts TEXT NOT NULL,
  origin TEXT NOT NULL,
  PRIMARY KEY (bucket, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE uploads (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  token TEXT NOT NULL UNIQUE,
  bucket INTEGER NOT NULL,
  key BLOB NOT NULL,
  initiated INTEGER NOT NULL,
  algorithm TEXT NOT NULL,
  full_object INTEGER NOT NULL,
  metadata TEXT NOT NULL
) STRICT;
CREATE INDEX uploads_by_key ON uploads (bucket, key, token);
CREATE TABLE parts (
  upload INTEGER NOT NULL,
  number INTEGER NOT NULL,
  size INTEGER NOT NULL,
  etag TEXT NOT NULL,
  modified INTEGER NOT NULL,
  blob TEXT NOT NULL,
  checksums TEXT NOT NULL,
  PRIMARY KEY (upload, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE garbage (blob TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
)sql";

BucketInfo BucketFrom(const Statement& row) {
  return {row.String(0), FromUnixMillis(row.Int(2)), row.String(1)};
}

tl::unexpected<Error> NoKey(std::string_view key) {
  return Fail(ErrorCode::kNotFound, "key '{}' does not exist", key);
}

struct Current {
  std::string blob;
  std::string etag;
};

Result<std::optional<Current>> ReadCurrent(Connection& connection, BucketId bucket,
                                           std::string_view key) {
  ASSIGN_OR_RETURN(
      Statement find,
      connection.Prepare("SELECT blob, etag FROM objects WHERE bucket = ? AND key = ?"));
  ASSIGN_OR_RETURN(const bool found, find.BindAll(bucket, BlobView{key}).Step());
  if (!found) return std::nullopt;
  return Current{find.String(0), find.String(1)};
}

Status CheckConditions(const std::optional<Current>& current, std::string_view key,
                       const PutOptions& conditions) {
  if (conditions.if_none_match && current) {
    return Fail(ErrorCode::kAlreadyExists, "key '{}' exists", key);
  }
  if (conditions.if_match) {
    if (!current) return NoKey(key);
    if (*conditions.if_match != "*" && current->etag != *conditions.if_match) {
      return Fail(ErrorCode::kConflict, "key '{}' has ETag {}", key, current->etag);
    }
  }
  return {};
}

}  // namespace

std::vector<std::string> Migrations() { return {kVersion1}; }

Status InsertBucket(Connection& connection, const BucketInfo& bucket) {
  const Status inserted =
      connection.Run("INSERT INTO buckets (name, region, created) VALUES (?, ?, ?)", bucket.name,
                     bucket.region, ToUnixMillis(bucket.created));
  if (!inserted && inserted.error().code == ErrorCode::kAlreadyExists) {
    return Fail(ErrorCode::kAlreadyExists, "bucket '{}' exists", bucket.name);
  }
  return inserted;
}

Status DeleteBucket(Connection& connection, std::string_view name) {
  ASSIGN_OR_RETURN(const BucketId id, FindBucket(connection, name));
  {
    ASSIGN_OR_RETURN(Statement any,
                     connection.Prepare("SELECT 1 FROM objects WHERE bucket = ? LIMIT 1"));
    ASSIGN_OR_RETURN(const bool found, any.BindAll(id).Step());
    if (found) return Fail(ErrorCode::kConflict, "bucket '{}' is not empty", name);
  }
  RETURN_IF_ERROR(connection.Run(
      "INSERT OR IGNORE INTO garbage (blob) SELECT p.blob FROM parts p JOIN uploads u ON "
      "p.upload = u.id WHERE u.bucket = ?",
      id));
  RETURN_IF_ERROR(connection.Run(
      "DELETE FROM parts WHERE upload IN (SELECT id FROM uploads WHERE bucket = ?)", id));
  RETURN_IF_ERROR(connection.Run("DELETE FROM uploads WHERE bucket = ?", id));
  return connection.Run("DELETE FROM buckets WHERE id = ?", id);
}

Result<BucketInfo> ReadBucket(Connection& connection, std::string_view name) {
  ASSIGN_OR_RETURN(Statement find,
                   connection.Prepare("SELECT name, region, created FROM buckets WHERE name = ?"));
  ASSIGN_OR_RETURN(const bool found, find.BindAll(name).Step());
  if (!found) return Fail(ErrorCode::kNotFound, "bucket '{}' does not exist", name);
  return BucketFrom(find);
}

Result<std::vector<BucketInfo>> ReadBuckets(Connection& connection) {
  ASSIGN_OR_RETURN(Statement all,
                   connection.Prepare("SELECT name, region, created FROM buckets ORDER BY name"));
  std::vector<BucketInfo> out;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, all.Step());
    if (!row) return out;
    out.push_back(BucketFrom(all));
  }
}

Result<BucketId> FindBucket(Connection& connection, std::string_view name) {
  ASSIGN_OR_RETURN(Statement find, connection.Prepare("SELECT id FROM buckets WHERE name = ?"));
  ASSIGN_OR_RETURN(const bool found, find.BindAll(name).Step());
  if (!found) return Fail(ErrorCode::kNotFound, "bucket '{}' does not exist", name);
  return find.Int(0);
}

Result<ObjectInfo> ReadObject(Connection& connection, BucketId bucket, std::string_view key) {
  ASSIGN_OR_RETURN(Statement find,
                   connection.Prepare("SELECT size, etag, modified, blob, checksums, metadata, "
                                      "parts FROM objects WHERE bucket = ? AND key = ?"));
  ASSIGN_OR_RETURN(const bool found, find.BindAll(bucket, BlobView{key}).Step());
  if (!found) return NoKey(key);
  ObjectInfo out;
  out.key = key;
  out.size = static_cast<std::uint64_t>(find.Int(0));
  out.etag = find.String(1);
  out.modified = FromUnixMillis(find.Int(2));
  out.blob_id = find.String(3);
  ASSIGN_OR_RETURN(out.checksums, DecodeChecksums(find.Text(4)));
  ASSIGN_OR_RETURN(out.metadata, DecodeMap(find.Text(5)));
  ASSIGN_OR_RETURN(out.parts, DecodeSizes(find.Text(6)));
  return out;
}

Status WriteObject(Connection& connection, BucketId bucket, const ObjectInfo& object,
                   const PutOptions& conditions, std::string_view origin) {
  ASSIGN_OR_RETURN(const std::optional<Current> current,
                   ReadCurrent(connection, bucket, object.key));
  RETURN_IF_ERROR(CheckConditions(current, object.key, conditions));
  if (current) RETURN_IF_ERROR(AddGarbage(connection, current->blob));
  ASSIGN_OR_RETURN(const std::string metadata, EncodeMap(object.metadata));
  return connection.Run(
      "INSERT OR REPLACE INTO objects (bucket, key, size, etag, modified, blob, checksums, "
      "metadata, parts, origin) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      bucket, BlobView{object.key}, object.size, object.etag, ToUnixMillis(object.modified),
      object.blob_id, EncodeChecksums(object.checksums), metadata, EncodeSizes(object.parts),
      origin);
}

Status DeleteObject(Connection& connection, BucketId bucket, std::string_view key,
                    const std::optional<std::string>& if_match) {
  ASSIGN_OR_RETURN(const std::optional<Current> current, ReadCurrent(connection, bucket, key));
  RETURN_IF_ERROR(CheckConditions(current, key, {.if_match = if_match}));
  if (!current) return {};
  RETURN_IF_ERROR(AddGarbage(connection, current->blob));
  return connection.Run("DELETE FROM objects WHERE bucket = ? AND key = ?", bucket, BlobView{key});
}

Result<std::string> ReadOrigin(Connection& connection, BucketId bucket, std::string_view key) {
  ASSIGN_OR_RETURN(Statement find,
                   connection.Prepare("SELECT origin FROM objects WHERE bucket = ? AND key = ?"));
  ASSIGN_OR_RETURN(const bool found, find.BindAll(bucket, BlobView{key}).Step());
  return found ? find.String(0) : std::string();
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
  for (const char* sql : {"SELECT blob FROM objects", "SELECT blob FROM parts"}) {
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

Result<std::string> EncodeMap(const std::map<std::string, std::string>& map) {
  if (map.empty()) return std::string();
  json::object out;
  for (const auto& [name, value] : map) {
    if (!IsUtf8(name) || !IsUtf8(value)) {
      return Fail(ErrorCode::kInvalidArgument, "metadata '{}' is not UTF-8", name);
    }
    out[name] = value;
  }
  return json::serialize(out);
}

Result<std::map<std::string, std::string>> DecodeMap(std::string_view text) {
  std::map<std::string, std::string> out;
  if (text.empty()) return out;
  ASSIGN_OR_RETURN(const json::object object, ParseJsonObject(text));
  for (const auto& member : object) {
    if (!member.value().is_string()) return Fail(ErrorCode::kCorrupt, "index holds a bad map");
    out.emplace(member.key(), View(member.value().get_string()));
  }
  return out;
}

std::string EncodeChecksums(const std::map<std::string, std::string>& checksums) {
  std::string out;
  for (const auto& [name, value] : checksums) {
    out += fmt::format("{}{} {}", out.empty() ? "" : " ", name, value);
  }
  return out;
}

Result<std::map<std::string, std::string>> DecodeChecksums(std::string_view text) {
  std::map<std::string, std::string> out;
  while (!text.empty()) {
    const std::size_t name_end = text.find(' ');
    if (name_end == std::string_view::npos)
      return Fail(ErrorCode::kCorrupt, "index holds bad checksums");
    const std::size_t value_end = std::min(text.find(' ', name_end + 1), text.size());
    out.emplace(text.substr(0, name_end), text.substr(name_end + 1, value_end - name_end - 1));
    text.remove_prefix(std::min(value_end + 1, text.size()));
  }
  return out;
}

std::string EncodeSizes(const std::vector<std::uint64_t>& sizes) {
  std::string out;
  for (std::size_t i = 0; i < sizes.size();) {
    std::size_t end = i;
    while (end < sizes.size() && sizes[end] == sizes[i]) ++end;
    out += fmt::format("{}{}x{}", out.empty() ? "" : " ", sizes[i], end - i);
    i = end;
  }
  return out;
}

Result<std::vector<std::uint64_t>> DecodeSizes(std::string_view text) {
  std::vector<std::uint64_t> out;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    std::uint64_t size = 0;
    std::size_t count = 0;
    const auto [x, size_error] = std::from_chars(at, end, size);
    if (size_error != std::errc() || x == end || *x != 'x') {
      return Fail(ErrorCode::kCorrupt, "index holds bad sizes of parts");
    }
    const auto [next, count_error] = std::from_chars(x + 1, end, count);
    if (count_error != std::errc() || count > static_cast<std::size_t>(kPartNumberMax)) {
      return Fail(ErrorCode::kCorrupt, "index holds bad sizes of parts");
    }
    out.insert(out.end(), count, size);
    at = next == end ? end : next + 1;
  }
  return out;
}

}  // namespace sabia::objects::index
