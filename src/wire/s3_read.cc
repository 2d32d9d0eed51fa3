#include <charconv>

#include "wire/content_check.h"
#include "wire/s3_transfers.h"
#include "wire/sha256.h"

namespace sabia::wire {
namespace {

std::string_view Unquoted(std::string_view etag) {
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
    etag = etag.substr(1, etag.size() - 2);
  }
  return etag;
}

std::optional<std::uint64_t> Number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "bytes 5-9/20" → 5.
std::optional<std::uint64_t> RangeBegin(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  if (!text.starts_with(kUnit)) return std::nullopt;
  text.remove_prefix(kUnit.size());
  return Number(text.substr(0, text.find('-')));
}

// One range over any number of attempts: what has arrived is not asked for again.
class RangeRead {
 public:
  RangeRead(const S3Range& range, const S3Sink& sink)
      : range_(range), sink_(sink), etag_(range.etag) {}

  void Ask(OutgoingRequest& request) const {
    const std::uint64_t begin = range_.offset + received_;
    if (range_.whole) request.headers.Set("x-amz-checksum-mode", "ENABLED");
    if (!range_.whole || received_ > 0) {
      request.headers.Set("Range",
                          fmt::format("bytes={}-{}", begin, range_.offset + range_.length - 1));
    }
    // S3 compares entity tags with their quotes.
    if (!etag_.empty()) {
      request.headers.Set("If-Match", etag_.starts_with('"') ? etag_ : '"' + etag_ + '"');
    }
  }

  Status OnHead(unsigned status, const Headers& headers) {
    const std::string_view etag = headers.Get("ETag");
    if (!etag_.empty() && !etag.empty() && Unquoted(etag) != Unquoted(etag_)) {
      return Fail(ErrorCode::kConflict, "the object is another one by now: its ETag is {}, not {}",
                  etag, etag_);
    }
    if (etag_.empty()) etag_ = etag;
    const std::uint64_t begin = range_.offset + received_;
    const std::uint64_t wanted = range_.length - received_;
    const auto length = Number(headers.Get("Content-Length"));
    const bool whole = status == 200 && begin == 0;
    if (!whole && (status != 206 || RangeBegin(headers.Get("Content-Range")) != begin)) {
      return Fail(ErrorCode::kCorrupt, "the endpoint did not send the range that was asked for");
    }
    if (length && *length != wanted) {
      return Fail(ErrorCode::kConflict, "the answer has {} bytes, but {} were asked for", *length,
                  wanted);
    }
    if (whole && range_.whole) check_.Start(headers);
    return {};
  }

  Status OnData(std::string_view data) {
    if (data.size() > range_.length - received_) {
      return Fail(ErrorCode::kCorrupt, "more bytes arrived than were asked for");
    }
    RETURN_IF_ERROR(sink_(data));  // what the sink did not take has not arrived
    check_.Update(data);
    received_ += data.size();
    return {};
  }

  bool complete() const { return received_ == range_.length; }

  Status Finish() {
    if (!complete()) {
      return Fail(ErrorCode::kCorrupt, "{} bytes arrived, but {} were asked for", received_,
                  range_.length);
    }
    return check_.Finish();
  }

 private:
  const S3Range& range_;
  const S3Sink& sink_;
  std::string etag_;
  std::uint64_t received_ = 0;
  ContentCheck check_;
};

}  // namespace

Status ReadRange(S3Connection& client, const S3Range& range, const S3Sink& sink) {
  const std::string context =
      fmt::format("failed to read 's3://{}/{}'", range.from.bucket, range.from.key);
  RangeRead read(range, sink);
  SignedCall call;
  client.Address(call, range.from);
  call.request.payload_hash = kEmptySha256;
  read.Ask(call.request);
  call.on_head = [&](unsigned status, const Headers& headers) {
    return read.OnHead(status, headers);
  };
  call.sink = [&](std::string_view data) { return read.OnData(data); };
  call.before_retry = [&](OutgoingRequest& request) -> Status {
    if (read.complete()) return Fail(ErrorCode::kAlreadyExists, "nothing is missing");
    read.Ask(request);
    return {};
  };
  auto answer = client.Call(call);
  if (!answer && !read.complete()) return Wrap(std::move(answer).error(), context);
  if (!answer) answer = HttpAnswer{.status = 206};
  if (answer->status == 412 || answer->status == 416) {
    return Fail(ErrorCode::kConflict, "{}: the object is another one by now", context);
  }
  if (answer->status >= 300) return Wrap(S3RefusalOf(*answer, "GET"), context);
  if (Status whole = read.Finish(); !whole) return Wrap(std::move(whole).error(), context);
  return {};
}

}  // namespace sabia::wire
