#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>

#include "base/encoding.h"
#include "wire/content_check.h"
#include "wire/s3_transfers.h"
#include "wire/sha256.h"

namespace sabia::wire {
namespace {

std::optional<std::uint64_t> ContentLength(const Headers& headers) {
  const std::string_view text = headers.Get("Content-Length");
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return length;
}

// One download over any number of attempts: bytes that have arrived are not asked for again as long
// as the object stays the same.
class Download {
 public:
  explicit Download(int fd) : fd_(fd) {}

  Status OnHead(unsigned status, const Headers& headers) {
    const std::string etag(headers.Get("ETag"));
    if (status == 206 && etag == etag_) return {};
    if (status == 206) return Fail(ErrorCode::kUnavailable, "the object changed while it was read");
    RETURN_IF_ERROR(StartOver());
    etag_ = etag;
    length_ = ContentLength(headers);
    check_.Start(headers);
    return {};
  }
  Status OnData(std::string_view data) {
    RETURN_IF_ERROR(env::WriteAll(fd_, data));
    check_.Update(data);
    received_ += data.size();
    return {};
  }
  // Asks for the rest, under the condition that it is the same object.
  Status BeforeRetry(OutgoingRequest& request) {
    if (received_ == 0 || etag_.empty()) return {};
    request.headers.Set("Range", fmt::format("bytes={}-", received_));
    request.headers.Set("If-Match", etag_);
    return {};
  }
  Status Finish() {
    if (length_ && received_ != *length_) {
      return Fail(ErrorCode::kCorrupt, "{} bytes arrived, but {} were announced", received_,
                  *length_);
    }
    return check_.Finish();
  }

 private:
  Status StartOver() {
    if (received_ == 0) return {};
    received_ = 0;
    if (::ftruncate(fd_, 0) != 0 || ::lseek(fd_, 0, SEEK_SET) != 0) {
      return FailErrno(errno, "failed to empty a partial download");
    }
    return {};
  }

  int fd_;
  std::string etag_;
  std::optional<std::uint64_t> length_;
  std::uint64_t received_ = 0;
  ContentCheck check_;
};

Status Fetch(S3Connection& client, const S3Location& from, Download& download) {
  SignedCall call;
  client.Address(call, from);
  call.request.payload_hash = kEmptySha256;
  call.request.headers.Add("x-amz-checksum-mode", "ENABLED");
  call.on_head = [&](unsigned status, const Headers& headers) {
    return download.OnHead(status, headers);
  };
  call.sink = [&](std::string_view data) { return download.OnData(data); };
  call.before_retry = [&](OutgoingRequest& request) { return download.BeforeRetry(request); };
  const OutgoingRequest whole = call.request;
  auto answer = client.Call(call);
  if (answer && (answer->status == 412 ||
                 answer->status == 416)) {  // another object by now: all of it, once more
    call.request = whole;
    answer = client.Call(call);
  }
  if (!answer) return tl::make_unexpected(std::move(answer).error());
  if (answer->status >= 300) return tl::unexpected<Error>(S3RefusalOf(*answer, "GET"));
  return download.Finish();
}

}  // namespace

// The new file is not synced: what was downloaded can be downloaded again.
Status DownloadObject(S3Connection& client, const S3Location& from, const env::Path& target) {
  env::Path partial = target;
  partial += ".sabia-part";
  const std::string context = fmt::format("failed to download 's3://{}/{}'", from.bucket, from.key);
  auto file = env::OpenFile(partial, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file) return Wrap(file.error(), context);
  Download download(file->get());
  Status done = Fetch(client, from, download);
  std::error_code error;
  if (done) {
    std::filesystem::rename(partial, target, error);
    if (!error) return {};
    done = FailErrno(error.value(), "failed to rename it to '{}'", target.native());
  }
  std::filesystem::remove(partial, error);
  return Wrap(std::move(done).error(), context);
}

}  // namespace sabia::wire
