#include "wire/s3_client.h"

#include <cstdlib>
#include <pugixml.hpp>

#include "base/encoding.h"
#include "wire/content_check.h"
#include "wire/s3_transfers.h"
#include "wire/sha256.h"
#include "wire/sigv4.h"

namespace sabia::wire {
namespace {

constexpr std::size_t kPagesMax = 1'000'000;  // a listing of a billion keys

class HttpS3Client final : public S3Client {
 public:
  HttpS3Client(std::unique_ptr<SignedClient> client, S3ClientOptions options)
      : client_(std::move(client)), options_(std::move(options)) {}

  Result<std::vector<S3Object>> List(const std::string& bucket, const std::string& prefix) override;
  Result<std::string> Get(const S3Location& from, std::size_t limit) override;
  Status Download(const S3Location& from, const env::Path& target) override {
    return DownloadObject(*client_, from, target);
  }
  Status Put(const S3Location& to, std::string_view content) override;
  Status Upload(const env::Path& source, const S3Location& to) override {
    return UploadFile(*client_, {source, options_.multipart_threshold, options_.part_size}, to);
  }
  Status Delete(const S3Location& what) override;

 private:
  Result<std::string> ListPage(const std::string& bucket, const std::string& query);

  std::unique_ptr<SignedClient> client_;
  S3ClientOptions options_;
};

std::string Describe(std::string_view verb, const S3Location& where) {
  return fmt::format("failed to {} 's3://{}/{}'", verb, where.bucket, where.key);
}

Result<S3Object> ReadEntry(const pugi::xml_node& node) {
  S3Object object;
  ASSIGN_OR_RETURN(object.key, UriDecode(node.child_value("Key"), true));
  object.size = std::strtoull(node.child_value("Size"), nullptr, 10);
  object.etag = node.child_value("ETag");
  ASSIGN_OR_RETURN(object.modified, ParseIso8601(node.child_value("LastModified")));
  return object;
}

Status ReadPage(const std::string& body, std::vector<S3Object>& objects, std::string& next) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(body.data(), body.size());
  const pugi::xml_node root = document.child("ListBucketResult");
  if (!parsed || !root) return Fail(ErrorCode::kCorrupt, "the answer is not a ListBucketResult");
  for (const pugi::xml_node& node : root.children("Contents")) {
    ASSIGN_OR_RETURN(S3Object object, ReadEntry(node));
    objects.push_back(std::move(object));
  }
  next.clear();
  if (std::string_view(root.child_value("IsTruncated")) == "true") {
    next = root.child_value("NextContinuationToken");
    if (next.empty())
      return Fail(ErrorCode::kCorrupt, "a truncated listing does not say how to go on");
  }
  return {};
}

Result<std::string> HttpS3Client::ListPage(const std::string& bucket, const std::string& query) {
  SignedCall call;
  call.request.path = "/" + UriEncode(bucket);
  call.request.query = query;
  call.request.payload_hash = kEmptySha256;
  ASSIGN_OR_RETURN(HttpAnswer answer, client_->Call(call));
  if (answer.status != 200) return tl::unexpected<Error>(S3RefusalOf(answer, "ListObjectsV2"));
  return std::move(answer.body);
}

Result<std::vector<S3Object>> HttpS3Client::List(const std::string& bucket,
                                                 const std::string& prefix) {
  const std::string query =
      "encoding-type=url&list-type=2&max-keys=1000&prefix=" + UriEncode(prefix);
  const std::string context = Describe("list", {bucket, prefix});
  std::vector<S3Object> objects;
  std::string token;
  std::string next;
  for (std::size_t page = 0; page < kPagesMax; ++page) {
    auto body = ListPage(
        bucket, token.empty() ? query : "continuation-token=" + UriEncode(token) + "&" + query);
    if (!body) return Wrap(body.error(), context);
    if (Status read = ReadPage(*body, objects, next); !read) return Wrap(read.error(), context);
    if (next.empty()) return objects;
    if (next == token) break;
    token = next;
  }
  return Fail(ErrorCode::kCorrupt, "{}: the listing does not end", context);
}

Result<std::string> HttpS3Client::Get(const S3Location& from, std::size_t limit) {
  SignedCall call;
  ContentCheck check;
  call.request.path = S3Path(from);
  call.request.payload_hash = kEmptySha256;
  call.request.headers.Add("x-amz-checksum-mode", "ENABLED");
  call.body_max = limit;
  auto answer = client_->Call(call);
  if (!answer) return Wrap(answer.error(), Describe("read", from));
  if (answer->status != 200) return Wrap(S3RefusalOf(*answer, "GET"), Describe("read", from));
  check.Start(answer->headers);
  check.Update(answer->body);
  if (Status whole = check.Finish(); !whole) return Wrap(whole.error(), Describe("read", from));
  return std::move(answer->body);
}

Status HttpS3Client::Put(const S3Location& to, std::string_view content) {
  SignedCall call;
  call.request.method = "PUT";
  call.request.path = S3Path(to);
  call.request.payload_hash = Hex(Sha256Of(content));
  call.request.headers.Add("x-amz-sdk-checksum-algorithm", "CRC32");
  call.request.headers.Add("x-amz-checksum-crc32", Crc32Text(Crc32(0, content)));
  call.body = content;
  auto answer = client_->Call(call);
  if (!answer) return Wrap(answer.error(), Describe("write", to));
  if (answer->status >= 300) return Wrap(S3RefusalOf(*answer, "PUT"), Describe("write", to));
  return {};
}

Status HttpS3Client::Delete(const S3Location& what) {
  SignedCall call;
  call.request.method = "DELETE";
  call.request.path = S3Path(what);
  call.request.payload_hash = kEmptySha256;
  auto answer = client_->Call(call);
  if (!answer) return Wrap(answer.error(), Describe("delete", what));
  if (answer->status >= 300) return Wrap(S3RefusalOf(*answer, "DELETE"), Describe("delete", what));
  return {};
}

}  // namespace

std::string S3Path(const S3Location& where) {
  return fmt::format("/{}/{}", UriEncode(where.bucket), UriEncode(where.key, true));
}

Result<std::unique_ptr<S3Client>> S3Client::Create(S3Endpoint endpoint, S3ClientOptions options,
                                                   env::Clock& clock) {
  ServiceEndpoint service{std::move(endpoint.url),
                          {std::move(endpoint.access_key_id), std::move(endpoint.secret_access_key),
                           std::move(endpoint.session_token), std::move(endpoint.region), "s3"}};
  SignedClient::Options calls;
  calls.patience = options.patience;
  calls.http = {options.connect_timeout, options.stall_timeout, options.ca_bundle};
  ASSIGN_OR_RETURN(std::unique_ptr<SignedClient> client,
                   SignedClient::Create(std::move(service), std::move(calls), clock));
  return std::unique_ptr<S3Client>(
      std::make_unique<HttpS3Client>(std::move(client), std::move(options)));
}

}  // namespace sabia::wire
