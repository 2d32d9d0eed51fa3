#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
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

class MultipartUpload {
 public:
  MultipartUpload(S3Connection& client, const S3Location& to) : client_(client), to_(to) {}

  Status Begin() {
    SignedCall call = Post("uploads=", "");
    call.request.headers.Add("x-amz-checksum-algorithm", "CRC32");
    ASSIGN_OR_RETURN(const HttpAnswer answer,
                     Accepted(client_.Call(call), "CreateMultipartUpload"));
    id_ = XmlText(answer.body, "UploadId");
    if (id_.empty())
      return Fail(ErrorCode::kCorrupt, "the answer to CreateMultipartUpload names no upload");
    return {};
  }
  Status Add(const FileSpan& span) {
    SignedCall call;
    client_.Address(call, to_);
    call.request.query =
        fmt::format("partNumber={}&uploadId={}", parts_.size() + 1, UriEncode(id_));
    ASSIGN_OR_RETURN(Part part, PutSpan(client_, span, std::move(call)));
    parts_.push_back(std::move(part));
    size_ += span.length;
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
  const S3Location to_;
  std::string id_;
  std::vector<Part> parts_;
  std::uint64_t size_ = 0;
};

Status UploadInParts(S3Connection& client, const FileSpan& whole, const S3Location& to,
                     std::uint64_t part_size) {
  MultipartUpload upload(client, to);
  RETURN_IF_ERROR(upload.Begin());
  Status status;
  for (std::uint64_t offset = 0; status && offset < whole.length; offset += part_size) {
    status = upload.Add({whole.fd, offset, std::min(part_size, whole.length - offset)});
  }
  if (status) status = upload.Complete();
  if (!status) upload.Abort();
  return status;
}

}  // namespace

Status UploadFile(S3Connection& client, const UploadSource& source, const S3Location& to) {
  const std::string context =
      fmt::format("failed to upload '{}' to 's3://{}/{}'", source.file.native(), to.bucket, to.key);
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
    status = PutSpan(client, whole, std::move(call)).map([](const Part&) {});
  } else {
    const std::uint64_t least = (whole.length + kPartsMax - 1) / kPartsMax;
    status = UploadInParts(client, whole, to, std::max({source.part_size, kPartMin, least}));
  }
  if (!status) return Wrap(std::move(status).error(), context);
  return {};
}

}  // namespace sabia::wire
