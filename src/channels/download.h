// Remote objects of a listing into a directory, several at a time, each whole or not at all.
//
// Threading: blocks; uses threads of its own, each with a client of its own. Errors: of the first
// object that failed, with its path; kTimeout when `cancelled` turned true.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "channels/local_view.h"
#include "wire/s3_client.h"

namespace sabia::channels {

using MakeClient = std::function<Result<std::unique_ptr<wire::S3Client>>()>;

// Local objects are skipped. `root` exists.
Status DownloadObjects(std::span<const ListedObject> objects, const env::Path& root,
                       const MakeClient& make_client, const Cancelled& cancelled);

}  // namespace sabia::channels
