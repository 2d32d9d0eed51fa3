// A small S3 in memory behind the real front door, with faults: for tests of clients.
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include "base/encoding.h"
#include "wire/content_check.h"
#include "wire/s3_error.h"
#include "wire/s3_handler.h"

namespace sabia::wire {

// One bucket's worth of objects by "/bucket/key"; thread-safe.
class MemoryS3 final : public S3Handler {
 public:
  struct Faults {
    int answer_500 = 0;     // so many requests are answered 500
    int slow_down = 0;      // then so many 503 SlowDown
    int cut_get_after = 0;  // so many GETs end in the middle
    int wrong_bytes = 0;    // so many GETs deliver a flipped byte
    int lose_complete = 0;  // so many CompleteMultipartUploads take effect and answer 500
  };

  void Handle(Exchange& exchange, const CallContext& context, S3Body& body) override {
    const std::scoped_lock lock(mutex_);
    ++requests;
    auto content = ReadAll(body, 1 << 30);
    if (!content) return Refuse(exchange, body.Refusal(content.error()));
    last_host = exchange.head().headers.Get("Host");
    if (context.principal.anonymous && !anonymous_may_read)
      return Refuse(exchange, {"AccessDenied", 403, "no", {}});
    if (faults.answer_500 > 0 && faults.answer_500-- > 0)
      return Refuse(exchange, {"InternalError", 500, "", {}});
    if (faults.slow_down > 0 && faults.slow_down-- > 0) return SlowDown(exchange);
    const std::string& method = exchange.head().method;
    const auto query = QueryParameters::Parse(exchange.head().raw_query);
    const std::string path = *UriDecode(exchange.head().raw_path);
    if (method == "GET" && query->Has("list-type")) return List(exchange, path, *query);
    if (method == "GET" || method == "HEAD") return Get(exchange, path);
    if (method == "DELETE") return Delete(exchange, path, *query);
    const std::string_view key =
        exchange.head().headers.Get("x-amz-server-side-encryption-aws-kms-key-id");
    if (!key.empty()) kms_keys[path] = key;
    if (method == "POST") return Multipart(exchange, path, *query);
    const std::string_view crc = body.trailers()
                                     .Find("x-amz-checksum-crc32")
                                     .value_or(exchange.head().headers.Get("x-amz-checksum-crc32"));
    if (crc != Crc32Text(Crc32(0, *content)))
      return Refuse(exchange, {"BadDigest", 400, "checksum", {}});
    if (query->Has("partNumber")) {
      parts[std::stoi(std::string(*query->Find("partNumber")))] = *content;
    } else {
      objects[path] = *content;
    }
    Answer(exchange, 200, {}, {{"ETag", "\"etag\""}});
  }

  std::map<std::string, std::string> objects;
  std::map<int, std::string> parts;
  std::map<std::string, std::string> kms_keys;  // that an upload asked for, by "/bucket/key"
  Faults faults;
  std::atomic<int> requests = 0;
  int aborts = 0;
  std::size_t page_size = 2;
  std::string last_range;
  std::string retry_after;  // of SlowDown answers
  bool anonymous_may_read = false;
  std::string last_host;

  void SetEtag(const std::string& etag) { etag_of_gets_ = etag; }

 private:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  static void Answer(Exchange& exchange, unsigned status, std::string body, const Fields& fields) {
    Response response{status, {}, std::move(body)};
    for (const auto& [name, value] : fields) response.headers.Add(name, value);
    (void)exchange.Send(response);
  }
  static void Refuse(Exchange& exchange, const AwsError& error) {
    (void)exchange.Send(S3ErrorResponse(error, exchange.head().raw_path, "id"));
  }

  void SlowDown(Exchange& exchange) const {
    Response response = S3ErrorResponse({"SlowDown", 503, "", {}}, "/", "id");
    if (!retry_after.empty()) response.headers.Add("Retry-After", retry_after);
    (void)exchange.Send(response);
  }

  void Get(Exchange& exchange, const std::string& path) {
    const auto found = objects.find(path);
    if (found == objects.end())
      return Refuse(exchange, {"NoSuchKey", 404, "The specified key does not exist.", {}});
    const std::string& object = found->second;
    Headers headers;
    headers.Add("ETag", etag_of_gets_);
    last_range = exchange.head().headers.Get("Range");
    const auto if_match = exchange.head().headers.Find("If-Match");
    if (if_match && *if_match != etag_of_gets_)
      return Refuse(exchange, {"PreconditionFailed", 412, "", {}});
    std::size_t from = 0;
    std::size_t to = object.size();
    if (!last_range.empty()) {
      const std::size_t dash = last_range.find('-');
      from = std::stoul(last_range.substr(6));
      if (dash + 1 < last_range.size()) to = std::stoul(last_range.substr(dash + 1)) + 1;
      if (from >= object.size()) return Refuse(exchange, {"InvalidRange", 416, "", {}});
      to = std::min(to, object.size());
      headers.Add("Content-Range", fmt::format("bytes {}-{}/{}", from, to - 1, object.size()));
    } else {
      headers.Add("x-amz-checksum-crc32", Crc32Text(Crc32(0, object)));
    }
    (void)exchange.Begin(last_range.empty() ? 200 : 206, headers, to - from);
    if (exchange.head().method == "HEAD") return;
    std::string data = object.substr(from, to - from);
    if (faults.cut_get_after > 0 && faults.cut_get_after-- > 0) {
      (void)exchange.Write(data.substr(0, data.size() / 2));
      return;
    }
    if (faults.wrong_bytes > 0 && faults.wrong_bytes-- > 0) data[data.size() / 2] ^= 1;
    (void)exchange.Write(data);
  }

  void Delete(Exchange& exchange, const std::string& path, const QueryParameters& query) {
    if (query.Has("uploadId")) {
      ++aborts;
      parts.clear();
    } else {
      objects.erase(path);
    }
    Answer(exchange, 204, "", {});
  }

  void Multipart(Exchange& exchange, const std::string& path, const QueryParameters& query) {
    if (query.Has("uploads")) {
      return Answer(exchange, 200,
                    "<InitiateMultipartUploadResult><UploadId>up/1</UploadId></"
                    "InitiateMultipartUploadResult>",
                    {});
    }
    if (parts.empty()) return Refuse(exchange, {"NoSuchUpload", 404, "", {}});
    std::string& object = objects[path];
    object.clear();
    for (const auto& [number, part] : parts) object += part;
    etag_of_gets_ = "\"etag-" + std::to_string(parts.size()) + "\"";
    parts.clear();
    if (faults.lose_complete > 0 && faults.lose_complete-- > 0) {
      return Refuse(exchange, {"InternalError", 500, "", {}});
    }
    Answer(exchange, 200, "<CompleteMultipartUploadResult/>", {});
  }

  void List(Exchange& exchange, const std::string& path, const QueryParameters& query) {
    const std::string prefix = path + "/" + std::string(query.Find("prefix").value_or(""));
    std::string after(query.Find("continuation-token").value_or(""));
    if (const auto start = query.Find("start-after"); start && after.empty()) {
      after = path + "/" + std::string(*start);
    }
    std::string out = "<ListBucketResult>";
    std::size_t count = 0;
    bool truncated = false;
    for (const auto& [name, object] : objects) {
      if (!name.starts_with(prefix) || name <= after) continue;
      truncated = count == page_size;
      if (truncated) break;
      ++count;
      out += "<Contents><Key>" + UriEncode(name.substr(path.size() + 1)) +
             "</Key><LastModified>2024-01-02T03:04:05.000Z</LastModified><ETag>&quot;e&quot;</"
             "ETag><Size>" +
             std::to_string(object.size()) + "</Size></Contents>";
      last_listed_ = name;
    }
    if (truncated) out += "<NextContinuationToken>" + last_listed_ + "</NextContinuationToken>";
    out += std::string("<IsTruncated>") + (truncated ? "true" : "false") +
           "</IsTruncated></ListBucketResult>";
    Answer(exchange, 200, out, {});
  }

  std::mutex mutex_;
  std::string etag_of_gets_ = "\"e1\"";
  std::string last_listed_;
};

}  // namespace sabia::wire
