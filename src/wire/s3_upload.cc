#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "base/encoding.h"
#include "base/log.h"
#include "wire/content_check.h"
#include "wire/s3_transfers.h"
#include "wire/sha256.h"
#include "wire/sigv4.h"

namespace sabia::wire {
namespace {

constexpr std::uint64_t kPartsMax = 10'000;
constexpr std::uint64_t kPartMin = 5 << 20;

struct Part {
  std::string etag;
  std::string crc32;
};

Result<HttpAnswer> Accepted(Result<HttpAnswer> answer, std::string_view what) {
  if (!answer) return answer;
  // CompleteMultipartUpload may fail after its head has said 200.
  const bool late_error = answer->body.find("<Error>") != std::string::npos;
  if (answer->status < 300 && !late_error) return answer;
  return tl::unexpected<Error>(S3RefusalOf(*answer, what));
}

// The checksum travels in a signed field, so the body itself need not be hashed a second time.
Result<Part> PutSpan(S3Connection& client, const FileSpan& span, SignedCall call) {
  Part part;
  ASSIGN_OR_RETURN(const std::uint32_t crc, Crc32OfFile(span));
  part.crc32 = Crc32Text(crc);
  call.request.method = "PUT";
  call.request.payload_hash = kUnsignedPayload;
  call.request.headers.Add("x-amz-sdk-checksum-algorithm", "CRC32");
  call.request.headers.Add("x-amz-checksum-crc32", part.crc32);
  if (span.length > 0) call.file = span;
  ASSIGN_OR_RETURN(const HttpAnswer answer, Accepted(client.Call(call), "PUT"));
  part.etag = answer.headers.Get("ETag");
  return part;
}

void AskForEncryption(const S3Target& to, SignedCall& call) {
  if (to.kms_key.empty()) return;
  call.request.headers.Add("x-amz-server-side-encryption", "aws:kms");
  call.request.headers.Add("x-amz-server-side-encryption-aws-kms-key-id", to.kms_key);
}

class MultipartUpload {
 public:
  MultipartUpload(S3Connection& client, const S3Target& to, std::uint64_t size,
                  std::uint64_t part_size)
      : client_(client),
        to_(to),
        size_(size),
        part_size_(part_size),
        parts_(static_cast<std::size_t>((size + part_size - 1) / part_size)) {}

  std::size_t count() const { return parts_.size(); }

  Status Begin() {
    SignedCall call = Post("uploads=", "");
    call.request.headers.Add("x-amz-checksum-algorithm", "CRC32");
    AskForEncryption(to_, call);
    ASSIGN_OR_RETURN(const HttpAnswer answer,
                     Accepted(client_.Call(call), "CreateMultipartUpload"));
    id_ = XmlText(answer.body, "UploadId");
    if (id_.empty())
      return Fail(ErrorCode::kCorrupt, "the answer to CreateMultipartUpload names no upload");
    return {};
  }
  // Thread-safe for different parts over different connections.
  Status Send(S3Connection& client, int fd, std::size_t index) {
    SignedCall call;
    client.Address(call, to_);
    call.request.query = fmt::format("partNumber={}&uploadId={}", index + 1, UriEncode(id_));
    const std::uint64_t offset = index * part_size_;
    const FileSpan span{fd, offset, std::min(part_size_, size_ - offset)};
    ASSIGN_OR_RETURN(parts_[index], PutSpan(client, span, std::move(call)));
    return {};
  }
  Status Complete() {
    std::string body =
        "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      body += fmt::format(
          "<Part><PartNumber>{}</PartNumber><ETag>{}</ETag><ChecksumCRC32>{}</ChecksumCRC32></"
          "Part>",
          i + 1, parts_[i].etag, parts_[i].crc32);
    }
    body += "</CompleteMultipartUpload>";
    SignedCall call = Post("uploadId=" + UriEncode(id_), body);
    const std::uint64_t before = client_.attempts();
    auto completed = Accepted(client_.Call(call), "CompleteMultipartUpload");
    if (completed) return {};
    // An earlier attempt may have succeeded without its answer reaching us.
    const bool repeated = client_.attempts() - before > 1;
    if (completed.error().code == ErrorCode::kNotFound && repeated && IsThere()) return {};
    return tl::make_unexpected(std::move(completed).error());
  }
  void Abort() {
    SignedCall call;
    call.request.method = "DELETE";
    client_.Address(call, to_);
    call.request.query = "uploadId=" + UriEncode(id_);
    call.request.payload_hash = kEmptySha256;
    if (const auto answer = Accepted(client_.Call(call), "AbortMultipartUpload"); !answer) {
      LogWarn("failed to abort a multipart upload: {}", answer.error().message);
    }
  }

 private:
  SignedCall Post(std::string query, std::string_view body) {
    SignedCall call;
    call.request.method = "POST";
    client_.Address(call, to_);
    call.request.query = std::move(query);
    call.request.payload_hash = Hex(Sha256Of(body));
    call.body = body;
    return call;
  }
  bool IsThere() {
    SignedCall call;
    call.request.method = "HEAD";
    client_.Address(call, to_);
    call.request.payload_hash = kEmptySha256;
    const auto answer = client_.Call(call);
    return answer && answer->status == 200 &&
           answer->headers.Get("Content-Length") == std::to_string(size_) &&
           answer->headers.Get("ETag").ends_with(fmt::format("-{}\"", parts_.size()));
  }

  S3Connection& client_;
  const S3Target to_;
  const std::uint64_t size_;
  const std::uint64_t part_size_;
  std::string id_;
  std::vector<Part> parts_;
};

// Sends the parts over several connections at once.
class PartSender {
 public:
  PartSender(MultipartUpload& upload, int fd) : upload_(upload), fd_(fd) {}

  Status Run(S3Connection& first, const UploadSource& source) {
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < std::min(source.connections, upload_.count()); ++i) {
      threads.emplace_back([this, &source] {
        auto more = source.connect();
        if (more) Send(*more);  // without it there is one less
      });
    }
    Send(first);
    for (std::thread& thread : threads) thread.join();
    return std::move(status_);
  }

 private:
  void Send(S3Connection& client) {
    while (!failed_.load()) {
      const std::size_t index = next_.fetch_add(1);
      if (index >= upload_.count()) return;
      Status sent = upload_.Send(client, fd_, index);
      if (sent) continue;
      const std::lock_guard lock(mutex_);
      if (!failed_.exchange(true)) status_ = std::move(sent);
    }
  }

  MultipartUpload& upload_;
  const int fd_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  Status status_;
};

// The beginning and the end of a long key.
std::string Shortened(const std::string& key) {
  constexpr std::size_t kWhole = 200;
  constexpr std::size_t kHead = 120;
  constexpr std::size_t kTail = 60;
  if (key.size() <= kWhole) return key;
  std::size_t head = kHead;
  std::size_t tail = key.size() - kTail;
  const auto inside = [&](std::size_t at) {
    return (static_cast<unsigned char>(key[at]) & 0xC0) == 0x80;  // of a character of UTF-8
  };
  while (head > 0 && inside(head)) --head;
  while (tail < key.size() && inside(tail)) ++tail;
  return fmt::format("{}…({} bytes)…{}", key.substr(0, head), tail - head, key.substr(tail));
}

Status UploadInParts(S3Connection& client, const FileSpan& whole, const S3Target& to,
                     const UploadSource& source) {
  const std::uint64_t least = (whole.length + kPartsMax - 1) / kPartsMax;
  MultipartUpload upload(client, to, whole.length, std::max({source.part_size, kPartMin, least}));
  RETURN_IF_ERROR(upload.Begin());
  Status status = PartSender(upload, whole.fd).Run(client, source);
  if (status) status = upload.Complete();
  if (!status) upload.Abort();
  return status;
}

}  // namespace

Status UploadFile(S3Connection& client, const UploadSource& source, const S3Target& to) {
  // Where the file lies is nothing to the reader, and a long key must leave room for the cause.
  const std::string context =
      fmt::format("failed to upload to 's3://{}/{}'", to.bucket, Shortened(to.key));
  auto file = env::OpenFile(source.file, O_RDONLY);
  if (!file) return Wrap(file.error(), context);
  struct stat info {};
  if (::fstat(file->get(), &info) != 0) return FailErrno(errno, "{}", context);
  if (!S_ISREG(info.st_mode))
    return Fail(ErrorCode::kInvalidArgument, "{}: not a regular file", context);
  const FileSpan whole{file->get(), 0, static_cast<std::uint64_t>(info.st_size)};
  Status status;
  if (whole.length <= source.multipart_threshold) {
    SignedCall call;
    client.Address(call, to);
    AskForEncryption(to, call);
    status = PutSpan(client, whole, std::move(call)).map([](const Part&) {});
  } else {
    status = UploadInParts(client, whole, to, source);
  }
  if (!status) return Wrap(std::move(status).error(), context);
  return {};
}

}  // namespace sabia::wire
