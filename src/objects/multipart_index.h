// The rows of objects.db about multipart uploads in progress: uploads and their parts.
//
// Threading and errors as object_index.h; kNotFound with "upload" as first word.
#pragma once

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
};

struct PartRow {
  PartInfo info;
  std::string blob_id;
};

Status InsertUpload(store::Connection& connection, BucketId bucket, const MultipartInfo& upload);
// kNotFound unless token, bucket and key all agree.
Result<UploadRow> FindUpload(store::Connection& connection, const UploadName& name);
Result<MultipartListing> ListUploads(store::Connection& connection, BucketId bucket,
                                     const ListMultipartsOptions& options);
// Inserts or replaces; the replaced blob becomes garbage.
Status WritePart(store::Connection& connection, UploadId upload, const PartRow& part);
// In order of numbers.
Result<std::vector<PartRow>> ReadParts(store::Connection& connection, UploadId upload);
// Forgets the upload and its parts; their blobs become garbage.
Status DeleteUpload(store::Connection& connection, UploadId upload);

}  // namespace sabia::objects::index
