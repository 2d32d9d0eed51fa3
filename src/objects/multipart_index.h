// The rows of objects.db about multipart uploads in progress: uploads and their parts.
//
// Threading and errors as object_index.h; kNotFound with "upload" as first word.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "objects/bucket_index.h"

namespace sabia::objects::index {

using UploadId = std::int64_t;

struct UploadRow {
  UploadId id = 0;
  BucketRow bucket;
  MultipartInfo info;
  std::string joint;  // the blob for parts at their final offsets, which may not exist; or ""
};

struct PartRow {
  PartInfo info;
  std::string blob_id;
  // Where it lies in the upload's joint blob; nullopt: the blob is this part.
  std::optional<std::uint64_t> place = std::nullopt;
};

Status InsertUpload(store::Connection& connection, const UploadRow& upload);
// kNotFound unless token, bucket and key all agree.
Result<UploadRow> FindUpload(store::Connection& connection, const UploadName& name);
Result<MultipartListing> ListUploads(store::Connection& connection, BucketId bucket,
                                     const ListMultipartsOptions& options);
// Inserts or replaces; the replaced blob becomes garbage, unless it is the joint one.
Status WritePart(store::Connection& connection, UploadId upload, const PartRow& part);
// In order of numbers.
Result<std::vector<PartRow>> ReadParts(store::Connection& connection, UploadId upload);
// Forgets the upload and its parts; their blobs become garbage, except the one named by kept.
Status DeleteUpload(store::Connection& connection, const UploadRow& upload,
                    std::string_view kept = "");

}  // namespace sabia::objects::index
