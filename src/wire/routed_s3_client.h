// One S3 client over several endpoints: each call goes where its bucket lives.
//
// Threading: thread-compatible. Errors: as S3Client.
#pragma once

#include <functional>
#include <memory>

#include "wire/s3_client.h"

namespace sabia::wire {

// Makes the client of a bucket. Called once per endpoint name that `name` gives.
struct S3Route {
  // Names the endpoint of a bucket: buckets of one name share a client.
  std::function<std::string(const std::string& bucket)> name;
  std::function<Result<std::unique_ptr<S3Client>>(const std::string& bucket)> connect;
};

std::unique_ptr<S3Client> MakeRoutedS3Client(S3Route route);

}  // namespace sabia::wire
