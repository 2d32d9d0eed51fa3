#include "objects/fsck_rows.h"

#include <algorithm>

#include "objects/columns.h"

namespace sabia::objects {
namespace {

using store::Connection;
using store::Statement;

constexpr std::size_t kIdDigits = 32;

// Columns of every table that VisitRows reads begin so.
void ReadCommon(const Statement& row, ObjectInfo& out) {
  out.size = static_cast<std::uint64_t>(row.Int(0));
  out.etag = row.String(1);
  out.blob_id = row.String(2);
}

Status Decode(const Statement& row, ObjectInfo& out) {
  if (row.Int(0) < 0) return Fail(ErrorCode::kCorrupt, "index holds a negative size");
  ASSIGN_OR_RETURN(out.checksums, index::DecodeChecksums(row.Text(3)));
  return {};
}

Status DecodeObject(const Statement& row, ObjectInfo& out) {
  RETURN_IF_ERROR(Decode(row, out));
  ASSIGN_OR_RETURN(out.parts, index::DecodeSizes(row.Text(8)));
  ASSIGN_OR_RETURN(out.metadata, index::DecodeMap(row.Text(9)));
  ASSIGN_OR_RETURN(out.tags, index::DecodeMap(row.Text(10)));
  out.part_checksums = row.Blob(11);
  out.envelope = row.String(13);
  return {};
}

void NameParent(const FsckParents& parents, FsckRow& row) {
  const auto bucket = parents.buckets.find(row.name.bucket_id);
  row.stray = bucket == parents.buckets.end();
  if (!row.stray) row.name.bucket = bucket->second;
}

FsckRow ObjectRow(const Statement& row, const FsckParents& parents, RowName::Table table) {
  FsckRow out;
  out.name.table = table;
  out.name.bucket_id = row.Int(4);
  out.name.key = std::string(row.Blob(5));
  out.name.version_id = row.String(6);
  out.name.sequence = row.Int(7);
  out.info.delete_marker = row.Int(12) != 0;
  ReadCommon(row, out.info);
  const Status decoded = DecodeObject(row, out.info);
  if (!decoded) out.fault = decoded.error().message;
  NameParent(parents, out);
  return out;
}

FsckRow PartRow(const Statement& row, const FsckParents& parents) {
  FsckRow out;
  out.name.table = RowName::Table::kParts;
  out.name.upload_row = row.Int(4);
  out.name.part = static_cast<int>(row.Int(5));
  if (row.Int(6) >= 0) out.name.place = static_cast<std::uint64_t>(row.Int(6));
  ReadCommon(row, out.info);
  const Status decoded = Decode(row, out.info);
  if (!decoded) out.fault = decoded.error().message;
  const auto upload = parents.uploads.find(out.name.upload_row);
  out.stray = upload == parents.uploads.end();
  if (out.stray) return out;
  out.name.bucket_id = upload->second.bucket_id;
  out.name.key = upload->second.key;
  out.name.upload_id = upload->second.token;
  out.info.envelope = upload->second.envelope;
  NameParent(parents, out);
  return out;
}

const char* Select(RowName::Table table) {
  switch (table) {
    case RowName::Table::kObjects:
      return "SELECT size, etag, blob, checksums, bucket, key, version, seq, parts, metadata, "
             "tags, part_checksums, 0, envelope FROM objects ORDER BY bucket, key";
    case RowName::Table::kVersions:
      return "SELECT size, etag, blob, checksums, bucket, key, version, seq, parts, metadata, "
             "tags, part_checksums, marker, envelope FROM versions ORDER BY bucket, key, seq DESC";
    case RowName::Table::kParts:
    case RowName::Table::kNone:
      break;
  }
  return "SELECT size, etag, blob, checksums, upload, number, place FROM parts ORDER BY upload, "
         "number";
}

}  // namespace

bool IsBlobId(std::string_view text) {
  return text.size() == kIdDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<FsckParents> ReadParents(Connection& connection) {
  FsckParents out;
  ASSIGN_OR_RETURN(Statement buckets, connection.Prepare("SELECT id, name FROM buckets"));
  while (true) {
    ASSIGN_OR_RETURN(const bool row, buckets.Step());
    if (!row) break;
    out.buckets[buckets.Int(0)] = buckets.String(1);
  }
  ASSIGN_OR_RETURN(
      Statement uploads,
      connection.Prepare("SELECT id, bucket, key, token, envelope, joint FROM uploads"));
  while (true) {
    ASSIGN_OR_RETURN(const bool row, uploads.Step());
    if (!row) return out;
    out.uploads[uploads.Int(0)] = {uploads.Int(1), std::string(uploads.Blob(2)), uploads.String(3),
                                   uploads.String(4)};
    if (std::string joint = uploads.String(5); !joint.empty()) {
      out.joints.insert(std::move(joint));
    }
  }
}

Result<std::map<std::string, std::string, std::less<>>> ReadFreshBytes(Connection& connection) {
  std::map<std::string, std::string, std::less<>> out;
  ASSIGN_OR_RETURN(Statement all, connection.Prepare("SELECT blob, data FROM fresh ORDER BY seq"));
  while (true) {
    ASSIGN_OR_RETURN(const bool row, all.Step());
    if (!row) return out;
    out[all.String(0)] = std::string(all.Blob(1));
  }
}

Status VisitRows(Connection& connection, const FsckParents& parents, RowName::Table table,
                 const FsckRowVisitor& visit) {
  ASSIGN_OR_RETURN(Statement rows, connection.Prepare(Select(table)));
  while (true) {
    ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return {};
    RETURN_IF_ERROR(visit(table == RowName::Table::kParts ? PartRow(rows, parents)
                                                          : ObjectRow(rows, parents, table)));
  }
}

}  // namespace sabia::objects
