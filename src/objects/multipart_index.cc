#include "objects/multipart_index.h"

namespace sabia::objects::index {
namespace {

using store::BlobView;
using store::Connection;
using store::Statement;

Result<MultipartInfo> UploadFrom(const Statement& row) {
  MultipartInfo out;
  out.upload_id = row.String(0);
  out.key = std::string(row.Blob(1));
  out.initiated = FromUnixMillis(row.Int(2));
  out.options.algorithm = ParseChecksumAlgorithm(row.Text(3));
  out.options.full_object = row.Int(4) != 0;
  ASSIGN_OR_RETURN(out.options.metadata, DecodeMap(row.Text(5)));
  return out;
}

}  // namespace

Status InsertUpload(Connection& connection, BucketId bucket, const MultipartInfo& upload) {
  const auto& options = upload.options;
  ASSIGN_OR_RETURN(const std::string metadata, EncodeMap(options.metadata));
  return connection.Run(
      "INSERT INTO uploads (token, bucket, key, initiated, algorithm, full_object, metadata) "
      "VALUES (?, ?, ?, ?, ?, ?, ?)",
      upload.upload_id, bucket, BlobView{upload.key}, ToUnixMillis(upload.initiated),
      options.algorithm ? Name(*options.algorithm) : std::string_view(),
      options.full_object ? 1 : 0, metadata);
}

Result<UploadRow> FindUpload(Connection& connection, const UploadName& name) {
  ASSIGN_OR_RETURN(const BucketId bucket, FindBucket(connection, name.bucket));
  ASSIGN_OR_RETURN(Statement find,
                   connection.Prepare("SELECT token, key, initiated, algorithm, full_object, "
                                      "metadata, id FROM uploads WHERE token = ? AND bucket = ? "
                                      "AND key = ?"));
  ASSIGN_OR_RETURN(const bool found,
                   find.BindAll(name.upload_id, bucket, BlobView{name.key}).Step());
  if (!found) {
    return Fail(ErrorCode::kNotFound, "upload '{}' of key '{}' does not exist", name.upload_id,
                name.key);
  }
  ASSIGN_OR_RETURN(MultipartInfo info, UploadFrom(find));
  return UploadRow{find.Int(6), bucket, std::move(info)};
}

Result<MultipartListing> ListUploads(Connection& connection, BucketId bucket,
                                     const ListMultipartsOptions& options) {
  // With an empty upload id, a marker leaves out all uploads of its key; no token is greater than
  // "~".
  const std::string token = options.key_marker.empty() || !options.upload_id_marker.empty()
                                ? options.upload_id_marker
                                : "~";
  ASSIGN_OR_RETURN(Statement rows,
                   connection.Prepare("SELECT token, key, initiated, algorithm, full_object, "
                                      "metadata FROM uploads WHERE bucket = ? AND key >= ? AND "
                                      "(key, token) > (?, ?) ORDER BY key, token"));
  rows.BindAll(bucket, BlobView{options.prefix}, BlobView{options.key_marker}, token);
  MultipartListing out;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row || !rows.Blob(1).starts_with(options.prefix)) return out;
    if (out.uploads.size() == options.limit) {
      out.truncated = true;
      return out;
    }
    ASSIGN_OR_RETURN(MultipartInfo info, UploadFrom(rows));
    out.uploads.push_back(std::move(info));
  }
}

Status WritePart(Connection& connection, UploadId upload, const PartRow& part) {
  RETURN_IF_ERROR(connection.Run(
      "INSERT OR IGNORE INTO garbage (blob) SELECT blob FROM parts WHERE upload = ? AND number = ?",
      upload, part.info.number));
  return connection.Run(
      "INSERT OR REPLACE INTO parts (upload, number, size, etag, modified, blob, checksums) "
      "VALUES (?, ?, ?, ?, ?, ?, ?)",
      upload, part.info.number, part.info.size, part.info.etag, ToUnixMillis(part.info.modified),
      part.blob_id, EncodeChecksums(part.info.checksums));
}

Result<std::vector<PartRow>> ReadParts(Connection& connection, UploadId upload) {
  ASSIGN_OR_RETURN(Statement rows,
                   connection.Prepare("SELECT number, size, etag, modified, blob, checksums FROM "
                                      "parts WHERE upload = ? ORDER BY number"));
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
    out.push_back(std::move(part));
  }
}

Status DeleteUpload(Connection& connection, UploadId upload) {
  RETURN_IF_ERROR(connection.Run(
      "INSERT OR IGNORE INTO garbage (blob) SELECT blob FROM parts WHERE upload = ?", upload));
  RETURN_IF_ERROR(connection.Run("DELETE FROM parts WHERE upload = ?", upload));
  return connection.Run("DELETE FROM uploads WHERE id = ?", upload);
}

}  // namespace sabia::objects::index
