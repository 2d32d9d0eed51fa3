#include "wire/s3_client.h"

#include <cstdlib>
#include <iterator>
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
  using Connect = std::function<Result<S3Connection>()>;
  HttpS3Client(S3Connection client, Connect connect, S3ClientOptions options)
      : client_(std::move(client)), connect_(std::move(connect)), options_(std::move(options)) {}

  Result<std::vector<S3Object>> List(const std::string& bucket, const std::string& prefix) override;
  Result<S3Page> ListPage(const S3PageQuery& query) override;
  Result<S3Object> Head(const S3Location& what) override;
  Result<S3Details> Describe(const S3Location& what) override;
  Result<std::string> Get(const S3Location& from, std::size_t limit) override;
  Status Read(const S3Range& range, const S3Sink& sink) override {
    return ReadRange(client_, range, sink);
  }
  Status Download(const S3Location& from, const env::Path& target) override {
    return DownloadObject(client_, from, target);
  }
  Status Put(const S3Location& to, std::string_view content) override;
  Status Upload(const env::Path& source, const S3Target& to) override {
    return UploadFile(client_,
                      {source, options_.multipart_threshold, options_.part_size,
                       options_.upload_connections, connect_},
                      to);
  }
  Status Delete(const S3Location& what) override;

 private:
  Result<HttpAnswer> AskHead(const S3Location& what, const std::string& query);

  S3Connection client_;
  const Connect connect_;
  S3ClientOptions options_;
};

std::string FailedTo(std::string_view verb, const S3Location& where) {
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

Result<S3Page> ReadPage(const std::string& body) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(body.data(), body.size());
  const pugi::xml_node root = document.child("ListBucketResult");
  if (!parsed || !root) return Fail(ErrorCode::kCorrupt, "the answer is not a ListBucketResult");
  S3Page page;
  for (const pugi::xml_node& node : root.children("Contents")) {
    ASSIGN_OR_RETURN(S3Object object, ReadEntry(node));
    page.objects.push_back(std::move(object));
  }
  if (std::string_view(root.child_value("IsTruncated")) == "true") {
    page.next = root.child_value("NextContinuationToken");
    if (page.next.empty())
      return Fail(ErrorCode::kCorrupt, "a truncated listing does not say how to go on");
  }
  return page;
}

Result<S3Page> HttpS3Client::ListPage(const S3PageQuery& query) {
  const std::string context = FailedTo("list", {query.bucket, query.prefix});
  SignedCall call;
  client_.Address(call, {query.bucket, ""});
  if (!query.token.empty()) {
    call.request.query = "continuation-token=" + UriEncode(query.token) + "&";
  }
  call.request.query += fmt::format("encoding-type=url&list-type=2&max-keys={}&prefix={}",
                                    query.limit, UriEncode(query.prefix));
  if (query.token.empty() && !query.start_after.empty()) {
    call.request.query += "&start-after=" + UriEncode(query.start_after);
  }
  call.request.payload_hash = kEmptySha256;
  auto answer = client_.Call(call);
  if (!answer) return Wrap(std::move(answer).error(), context);
  if (answer->status != 200) return Wrap(S3RefusalOf(*answer, "ListObjectsV2"), context);
  auto page = ReadPage(answer->body);
  if (!page) return Wrap(std::move(page).error(), context);
  return page;
}

Result<std::vector<S3Object>> HttpS3Client::List(const std::string& bucket,
                                                 const std::string& prefix) {
  std::vector<S3Object> objects;
  S3PageQuery query{.bucket = bucket, .prefix = prefix};
  for (std::size_t number = 0; number < kPagesMax; ++number) {
    ASSIGN_OR_RETURN(S3Page page, ListPage(query));
    std::move(page.objects.begin(), page.objects.end(), std::back_inserter(objects));
    if (page.next.empty()) return objects;
    if (page.next == query.token) break;
    query.token = std::move(page.next);
  }
  return Fail(ErrorCode::kCorrupt, "{}: the listing does not end",
              FailedTo("list", {bucket, prefix}));
}

Result<HttpAnswer> HttpS3Client::AskHead(const S3Location& what, const std::string& query) {
  SignedCall call;
  call.request.method = "HEAD";
  client_.Address(call, what);
  call.request.query = query;
  call.request.payload_hash = kEmptySha256;
  if (!what.key.empty()) call.request.headers.Add("x-amz-checksum-mode", "ENABLED");
  auto answer = client_.Call(call);
  if (!answer) return Wrap(std::move(answer).error(), FailedTo("look at", what));
  if (answer->status >= 300) return Wrap(S3RefusalOf(*answer, "HEAD"), FailedTo("look at", what));
  return answer;
}

std::uint64_t LengthOf(const HttpAnswer& answer) {
  return std::strtoull(std::string(answer.headers.Get("Content-Length")).c_str(), nullptr, 10);
}

S3Object ObjectOf(const S3Location& what, const HttpAnswer& answer) {
  S3Object object;
  object.key = what.key;
  object.etag = answer.headers.Get("ETag");
  object.size = LengthOf(answer);
  if (const auto time = ParseRfc1123(answer.headers.Get("Last-Modified"))) object.modified = *time;
  return object;
}

Result<S3Object> HttpS3Client::Head(const S3Location& what) {
  ASSIGN_OR_RETURN(const HttpAnswer answer, AskHead(what, ""));
  return ObjectOf(what, answer);
}

Result<S3Details> HttpS3Client::Describe(const S3Location& what) {
  ASSIGN_OR_RETURN(const HttpAnswer answer, AskHead(what, ""));
  S3Details out{ObjectOf(what, answer), ChecksumOf(answer.headers)};
  if (out.checksum.kind != ObjectChecksum::Kind::kParts) return out;
  // How long the parts were tells the first one; parts of different lengths cannot be verified.
  const auto first = AskHead(what, "partNumber=1");
  if (!first) return out;
  const std::uint64_t length = LengthOf(*first);
  const bool fits = length > 0 && (out.object.size + length - 1) / length == out.checksum.parts;
  if (fits && first->headers.Get("ETag") == out.object.etag) out.checksum.part_size = length;
  return out;
}

Result<std::string> HttpS3Client::Get(const S3Location& from, std::size_t limit) {
  SignedCall call;
  ContentCheck check;
  client_.Address(call, from);
  call.request.payload_hash = kEmptySha256;
  call.request.headers.Add("x-amz-checksum-mode", "ENABLED");
  call.body_max = limit;
  auto answer = client_.Call(call);
  if (!answer) return Wrap(answer.error(), FailedTo("read", from));
  if (answer->status != 200) return Wrap(S3RefusalOf(*answer, "GET"), FailedTo("read", from));
  check.Start(answer->headers);
  check.Update(answer->body);
  if (Status whole = check.Finish(); !whole) return Wrap(whole.error(), FailedTo("read", from));
  return std::move(answer->body);
}

Status HttpS3Client::Put(const S3Location& to, std::string_view content) {
  SignedCall call;
  call.request.method = "PUT";
  client_.Address(call, to);
  call.request.payload_hash = Hex(Sha256Of(content));
  call.request.headers.Add("x-amz-sdk-checksum-algorithm", "CRC32");
  call.request.headers.Add("x-amz-checksum-crc32", Crc32Text(Crc32(0, content)));
  call.body = content;
  auto answer = client_.Call(call);
  if (!answer) return Wrap(answer.error(), FailedTo("write", to));
  if (answer->status >= 300) return Wrap(S3RefusalOf(*answer, "PUT"), FailedTo("write", to));
  return {};
}

Status HttpS3Client::Delete(const S3Location& what) {
  SignedCall call;
  call.request.method = "DELETE";
  client_.Address(call, what);
  call.request.payload_hash = kEmptySha256;
  auto answer = client_.Call(call);
  if (!answer) return Wrap(answer.error(), FailedTo("delete", what));
  if (answer->status >= 300) return Wrap(S3RefusalOf(*answer, "DELETE"), FailedTo("delete", what));
  return {};
}

}  // namespace

void S3Connection::Address(SignedCall& call, const S3Location& where) const {
  const std::string key = UriEncode(where.key, true);
  // A certificate for "*.host" does not cover a bucket with a dot.
  const bool in_host = bucket_in_host_ && where.bucket.find('.') == std::string::npos;
  call.host_prefix = in_host ? where.bucket + "." : "";
  call.request.path = in_host             ? "/" + key
                      : where.key.empty() ? "/" + UriEncode(where.bucket)
                                          : fmt::format("/{}/{}", UriEncode(where.bucket), key);
}

Result<std::unique_ptr<S3Client>> S3Client::Create(S3Endpoint endpoint, S3ClientOptions options,
                                                   env::Clock& clock) {
  ServiceEndpoint service;
  service.url = std::move(endpoint.url);
  service.identity = {std::move(endpoint.access_key_id), std::move(endpoint.secret_access_key),
                      std::move(endpoint.session_token), std::move(endpoint.region), "s3"};
  service.keys = std::move(endpoint.keys);
  service.budget = std::move(endpoint.budget);
  service.locate = std::move(endpoint.locate);
  SignedClient::Options calls;
  calls.patience = options.patience;
  calls.http.connect_timeout = options.connect_timeout;
  calls.http.stall_timeout = options.stall_timeout;
  calls.http.ca_bundle = endpoint.ca_bundle.empty() ? options.ca_bundle : endpoint.ca_bundle;
  const auto connect = [service, calls, in_host = endpoint.bucket_in_host,
                        &clock]() -> Result<S3Connection> {
    ASSIGN_OR_RETURN(auto client, SignedClient::Create(service, calls, clock));
    return S3Connection(std::move(client), in_host);
  };
  ASSIGN_OR_RETURN(S3Connection first, connect());
  return std::unique_ptr<S3Client>(
      std::make_unique<HttpS3Client>(std::move(first), connect, std::move(options)));
}

}  // namespace sabia::wire
