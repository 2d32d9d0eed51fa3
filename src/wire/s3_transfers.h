// The long operations of the S3 client: downloads that resume, uploads in parts.
//
// Threading: thread-compatible; errors as S3Client says.
#pragma once

#include <string>

#include "wire/s3_client.h"
#include "wire/signed_client.h"

namespace sabia::wire {

// A signed client that knows how the endpoint wants buckets to be addressed.
class S3Connection {
 public:
  S3Connection(std::unique_ptr<SignedClient> client, bool bucket_in_host)
      : client_(std::move(client)), bucket_in_host_(bucket_in_host) {}

  // Sets path and host of the call: "/bucket/some%20key", as S3 signs it.
  void Address(SignedCall& call, const S3Location& where) const;
  Result<HttpAnswer> Call(SignedCall& call) { return client_->Call(call); }
  std::uint64_t attempts() const { return client_->attempts(); }

 private:
  std::unique_ptr<SignedClient> client_;
  bool bucket_in_host_;
};

Status DownloadObject(S3Connection& client, const S3Location& from, const env::Path& target);
Status ReadRange(S3Connection& client, const S3Range& range, const S3Sink& sink);

struct UploadSource {
  env::Path file;
  std::uint64_t multipart_threshold = 0;
  std::uint64_t part_size = 0;
  std::size_t connections = 1;
  std::function<Result<S3Connection>()> connect;  // one more; with connections > 1
};
Status UploadFile(S3Connection& client, const UploadSource& source, const S3Target& to);

}  // namespace sabia::wire
