#include "objects/multipart_index.h"

#include "objects/columns.h"
#include "objects/key_scope.h"
#include "objects/object_index.h"

namespace sabia::objects::index {
namespace {

using store::BlobView;
using store::Connection;
using store::Statement;

// Of a row "token, key, initiated, algorithm, full_object, metadata, class, tags, envelope".
Result<MultipartInfo> UploadFrom(const Statement& row) {
  MultipartInfo out;
  out.upload_id = row.String(0);
  out.key = std::string(row.Blob(1));
  out.initiated = FromUnixMillis(row.Int(2));
  out.options.algorithm = ParseChecksumAlgorithm(row.Text(3));
  out.options.full_object = row.Int(4) != 0;
  ASSIGN_OR_RETURN(out.options.metadata, DecodeMap(row.Text(5)));
  out.options.storage_class = row.String(6);
  ASSIGN_OR_RETURN(out.options.tags, DecodeMap(row.Text(7)));
  out.options.envelope = row.String(8);
  return out;
}

}  // namespace

Status InsertUpload(Connection& connection, const UploadRow& row) {
  const MultipartInfo& upload = row.info;
  const auto& options = upload.options;
  ASSIGN_OR_RETURN(const std::string metadata, EncodeMap(options.metadata));
  ASSIGN_OR_RETURN(const std::string tags, EncodeMap(options.tags));
  return connection.Run(
      "INSERT INTO uploads (token, bucket, key, initiated, algorithm, full_object, metadata, "
      "class, tags, joint, envelope) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      upload.upload_id, row.bucket.id, BlobView{upload.key}, ToUnixMillis(upload.initiated),
      options.algorithm ? Name(*options.algorithm) : std::string_view(),
      options.full_object ? 1 : 0, metadata, options.storage_class, tags, row.joint,
      options.envelope);
}

Result<UploadRow> FindUpload(Connection& connection, const UploadName& name) {
  ASSIGN_OR_RETURN(const BucketRow bucket, FindBucket(connection, name.bucket));
  ASSIGN_OR_RETURN(
      Statement find,
      connection.Prepare(
          "SELECT token, key, initiated, algorithm, full_object, "
          "metadata, class, tags, envelope, id, joint FROM uploads WHERE token = ? AND "
          "bucket = ? AND key = ?"));
  ASSIGN_OR_RETURN(const bool found,
                   find.BindAll(name.upload_id, bucket.id, BlobView{name.key}).Step());
  if (!found) {
    return Fail(ErrorCode::kNotFound, "upload '{}' of key '{}' does not exist", name.upload_id,
                name.key);
  }
  ASSIGN_OR_RETURN(MultipartInfo info, UploadFrom(find));
  return UploadRow{find.Int(9), bucket, std::move(info), find.String(10)};
}

Result<MultipartListing> ListUploads(Connection& connection, BucketId bucket,
                                     const ListMultipartsOptions& options) {
  const KeyScope scope{options.prefix, options.delimiter};
  // Uploads of the marker's key with a greater id still belong to the page, unless the marker is,
  // or lies in, a common prefix.
  std::string token = options.upload_id_marker;
  std::optional<std::string> from = options.key_marker;
  if (token.empty() || !options.key_marker.starts_with(options.prefix) ||
      scope.CommonPrefixEnd(options.key_marker)) {
    token.clear();
    from = scope.FirstKey(options.key_marker);
  }
  ASSIGN_OR_RETURN(
      Statement rows,
      connection.Prepare("SELECT token, key, initiated, algorithm, full_object, "
                         "metadata, class, tags, envelope FROM uploads WHERE bucket = ? AND "
                         "(key, token) > (?, ?) ORDER BY key, token"));
  MultipartListing out;
  if (options.limit == 0) from.reset();
  while (from) {
    rows.Rewind();
    rows.BindAll(bucket, BlobView{*from}, token);
    from.reset();
    while (true) {
      ASSIGN_OR_RETURN(const bool row, rows.Step());
      const std::string_view key = row ? rows.Blob(1) : std::string_view();
      if (!row || !key.starts_with(options.prefix)) return out;
      if (out.uploads.size() + out.common_prefixes.size() == options.limit) {
        out.truncated = true;
        return out;
      }
      if (const auto end = scope.CommonPrefixEnd(key)) {
        out.next_key_marker = std::string(key.substr(0, *end));
        out.next_upload_id_marker.clear();
        out.common_prefixes.push_back(out.next_key_marker);
        from = AfterPrefix(out.next_key_marker);
        token.clear();
        break;
      }
      ASSIGN_OR_RETURN(MultipartInfo info, UploadFrom(rows));
      out.next_key_marker = info.key;
      out.next_upload_id_marker = info.upload_id;
      out.uploads.push_back(std::move(info));
    }
  }
  return out;
}

Status WritePart(Connection& connection, UploadId upload, const PartRow& part) {
  RETURN_IF_ERROR(connection.Run(
      "INSERT OR IGNORE INTO garbage (blob) SELECT blob FROM parts WHERE upload = ? AND number = ? "
      "AND place < 0",
      upload, part.info.number));
  return connection.Run(
      "INSERT OR REPLACE INTO parts (upload, number, size, etag, modified, blob, checksums, place) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      upload, part.info.number, part.info.size, part.info.etag, ToUnixMillis(part.info.modified),
      part.blob_id, EncodeChecksums(part.info.checksums),
      part.place ? static_cast<std::int64_t>(*part.place) : std::int64_t{-1});
}

Result<std::vector<PartRow>> ReadParts(Connection& connection, UploadId upload) {
  ASSIGN_OR_RETURN(Statement rows,
                   connection.Prepare("SELECT number, size, etag, modified, blob, checksums, place "
                                      "FROM parts WHERE upload = ? ORDER BY number"));
  rows.BindAll(upload);
  std::vector<PartRow> out;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return out;
    PartRow part;
    part.info.number = static_cast<int>(rows.Int(0));
    part.info.size = static_cast<std::uint64_t>(rows.Int(1));
    part.info.etag = rows.String(2);
    part.info.modified = FromUnixMillis(rows.Int(3));
    part.blob_id = rows.String(4);
    ASSIGN_OR_RETURN(part.info.checksums, DecodeChecksums(rows.Text(5)));
    if (rows.Int(6) >= 0) part.place = static_cast<std::uint64_t>(rows.Int(6));
    out.push_back(std::move(part));
  }
}

Status DeleteUpload(Connection& connection, const UploadRow& upload, std::string_view kept) {
  RETURN_IF_ERROR(connection.Run(
      "INSERT OR IGNORE INTO garbage (blob) SELECT blob FROM parts WHERE upload = ? AND blob <> ?",
      upload.id, kept));
  // Also when no part is in it any more, or its last writer has not said so yet.
  if (!upload.joint.empty() && upload.joint != kept) {
    RETURN_IF_ERROR(AddGarbage(connection, upload.joint));
  }
  RETURN_IF_ERROR(connection.Run("DELETE FROM parts WHERE upload = ?", upload.id));
  return connection.Run("DELETE FROM uploads WHERE id = ?", upload.id);
}

}  // namespace sabia::objects::index
