// The long operations of the S3 client: downloads that resume, uploads in parts.
//
// Threading: thread-compatible; errors as S3Client says.
#pragma once

#include <string>

#include "wire/s3_client.h"
#include "wire/signed_client.h"

namespace sabia::wire {

// "/bucket/some%20key", as S3 signs it.
std::string S3Path(const S3Location& where);

Status DownloadObject(SignedClient& client, const S3Location& from, const env::Path& target);

struct UploadSource {
  env::Path file;
  std::uint64_t multipart_threshold = 0;
  std::uint64_t part_size = 0;
};
Status UploadFile(SignedClient& client, const UploadSource& source, const S3Location& to);

}  // namespace sabia::wire
