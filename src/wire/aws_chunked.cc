#include "wire/aws_chunked.h"

#include <algorithm>
#include <cstring>

#include "base/encoding.h"

namespace sabia::wire {
namespace {

constexpr std::string_view kSignatureTag = "chunk-signature=";
constexpr std::string_view kTrailerSignature = "x-amz-trailer-signature";
constexpr std::size_t kTrailersMax = 16;
constexpr std::size_t kSizeDigitsMax = 15;  // a chunk of more than an exbibyte is not meant

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<std::uint64_t> ParseHexSize(std::string_view text) {
  if (text.empty() || text.size() > kSizeDigitsMax) return std::nullopt;
  std::uint64_t size = 0;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    const bool lower = c >= 'a' && c <= 'f';
    const bool upper = c >= 'A' && c <= 'F';
    if (!digit && !lower && !upper) return std::nullopt;
    const int value = digit ? c - '0' : lower ? c - 'a' + 10 : c - 'A' + 10;
    size = size * 16 + static_cast<unsigned>(value);
  }
  return size;
}

}  // namespace

AwsChunkedReader::AwsChunkedReader(BodyReader& inner, AwsChunkedOptions options)
    : inner_(inner), options_(std::move(options)) {
  if (options_.signing) previous_signature_ = options_.signing->seed_signature;
}

Result<bool> AwsChunkedReader::Fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) {
    return Fail(ErrorCode::kInvalidArgument, "a line of the aws-chunked body is too long");
  }
  ASSIGN_OR_RETURN(const std::size_t n,
                   inner_.Read(std::span<char>(buffer_.data() + end_, buffer_.size() - end_)));
  end_ += n;
  return n > 0;
}

Result<std::string> AwsChunkedReader::ReadLine(bool& at_end) {
  at_end = false;
  std::size_t searched = 0;
  for (;;) {
    const std::string_view held(buffer_.data() + begin_, end_ - begin_);
    const std::size_t newline = held.find('\n', searched);
    if (newline != std::string_view::npos) {
      std::string line(held.substr(0, newline));
      begin_ += newline + 1;
      if (line.ends_with('\r')) line.pop_back();
      return line;
    }
    searched = held.size();
    ASSIGN_OR_RETURN(const bool more, Fill());
    if (more) continue;
    at_end = true;
    if (begin_ == end_) return std::string();
    return Fail(ErrorCode::kInvalidArgument, "the aws-chunked body ends inside a line");
  }
}

Result<std::size_t> AwsChunkedReader::Read(std::span<char> out) {
  if (out.empty()) return 0;
  while (state_ != State::kDone) {
    if (state_ == State::kFailed) {
      return Fail(ErrorCode::kInvalidArgument, "the aws-chunked body has already failed");
    }
    auto got = Step(out);
    if (!got) {
      state_ = State::kFailed;
      return got;
    }
    if (*got > 0) return got;
  }
  return 0;
}

Result<std::size_t> AwsChunkedReader::Step(std::span<char> out) {
  switch (state_) {
    case State::kHeader:
      RETURN_IF_ERROR(ReadHeader());
      return 0;
    case State::kData:
      return ReadData(out);
    case State::kDataEnd: {
      bool at_end = false;
      ASSIGN_OR_RETURN(const std::string rest, ReadLine(at_end));
      if (at_end || !rest.empty()) {
        return Fail(ErrorCode::kInvalidArgument, "a chunk is not followed by an empty line");
      }
      state_ = State::kHeader;
      return 0;
    }
    case State::kTrailer:
      RETURN_IF_ERROR(ReadTrailer());
      return 0;
    case State::kDone:
    case State::kFailed:
      break;
  }
  return 0;
}

Status AwsChunkedReader::ReadHeader() {
  bool at_end = false;
  ASSIGN_OR_RETURN(const std::string line, ReadLine(at_end));
  if (at_end) return Fail(ErrorCode::kInvalidArgument, "the aws-chunked body has no last chunk");
  const std::size_t semicolon = std::min(line.find(';'), line.size());
  const auto size = ParseHexSize(Trim(std::string_view(line).substr(0, semicolon)));
  if (!size) return Fail(ErrorCode::kInvalidArgument, "a chunk does not start with its size");
  if (options_.signing) {
    const std::string_view extension =
        Trim(std::string_view(line).substr(std::min(semicolon + 1, line.size())));
    if (!extension.starts_with(kSignatureTag)) {
      return Fail(ErrorCode::kInvalidArgument, "a chunk carries no chunk-signature");
    }
    chunk_signature_ = extension.substr(kSignatureTag.size());
    chunk_hash_.emplace();
  }
  if (*size > options_.decoded_length - decoded_) {
    return Fail(ErrorCode::kCorrupt,
                "the body is longer than x-amz-decoded-content-length ({} bytes)",
                options_.decoded_length);
  }
  chunk_left_ = *size;
  last_chunk_ = *size == 0;
  if (!last_chunk_) {
    state_ = State::kData;
    return {};
  }
  RETURN_IF_ERROR(CheckChunk());
  state_ = State::kTrailer;
  return {};
}

Result<std::size_t> AwsChunkedReader::ReadData(std::span<char> out) {
  const std::size_t wanted = std::min<std::uint64_t>(out.size(), chunk_left_);
  std::size_t n = std::min(end_ - begin_, wanted);
  if (n > 0) {
    std::memcpy(out.data(), buffer_.data() + begin_, n);
    begin_ += n;
  } else {
    ASSIGN_OR_RETURN(n, inner_.Read(out.first(wanted)));
    if (n == 0)
      return Fail(ErrorCode::kInvalidArgument, "the aws-chunked body ends inside a chunk");
  }
  if (chunk_hash_) chunk_hash_->Update({out.data(), n});
  decoded_ += n;
  chunk_left_ -= n;
  if (chunk_left_ == 0) {
    RETURN_IF_ERROR(CheckChunk());
    state_ = State::kDataEnd;
  }
  return n;
}

Status AwsChunkedReader::CheckChunk() {
  if (!options_.signing) return {};
  const ChunkSigning& signing = *options_.signing;
  const std::string to_sign =
      fmt::format("AWS4-HMAC-SHA256-PAYLOAD\n{}\n{}\n{}\n{}\n{}", signing.amz_date, signing.scope,
                  previous_signature_, kEmptySha256, Hex(chunk_hash_->Finish()));
  chunk_hash_.reset();
  previous_signature_ = Hex(HmacSha256(signing.key, to_sign));
  if (EqualInConstantTime(previous_signature_, chunk_signature_)) return {};
  return Fail(ErrorCode::kDenied, "the signature of a chunk does not match");
}

Status AwsChunkedReader::ReadTrailer() {
  std::string canonical;
  std::string signature;
  std::size_t size = 0;
  for (;;) {
    bool at_end = false;
    ASSIGN_OR_RETURN(const std::string line, ReadLine(at_end));
    if (line.empty()) {
      // Some clients put an empty line between the trailing fields and their signature.
      const bool signature_to_come = options_.signing && options_.has_trailer && signature.empty();
      if (at_end || !signature_to_come) break;
      if (++size > kTrailersMax)
        return Fail(ErrorCode::kInvalidArgument, "the trailer is too long");
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || colon == 0 || ++size > kTrailersMax ||
        !options_.has_trailer) {
      return Fail(ErrorCode::kInvalidArgument, "the trailer of the aws-chunked body is malformed");
    }
    const std::string name = ToLower(std::string_view(line).substr(0, colon));
    const std::string_view value = Trim(std::string_view(line).substr(colon + 1));
    if (name == kTrailerSignature) {
      signature = value;
      continue;
    }
    canonical.append(name).append(":").append(value).append("\n");
    trailers_.Add(name, std::string(value));
  }
  if (options_.signing && options_.has_trailer) RETURN_IF_ERROR(CheckTrailer(canonical, signature));
  return FinishBody();
}

Status AwsChunkedReader::CheckTrailer(std::string_view canonical, std::string_view signature) {
  const ChunkSigning& signing = *options_.signing;
  const std::string to_sign =
      fmt::format("AWS4-HMAC-SHA256-TRAILER\n{}\n{}\n{}\n{}", signing.amz_date, signing.scope,
                  previous_signature_, Hex(Sha256Of(canonical)));
  if (EqualInConstantTime(Hex(HmacSha256(signing.key, to_sign)), signature)) return {};
  return Fail(ErrorCode::kDenied, "the signature of the trailer does not match");
}

Status AwsChunkedReader::FinishBody() {
  ASSIGN_OR_RETURN(const bool surplus, begin_ != end_ ? Result<bool>(true) : Fill());
  if (surplus)
    return Fail(ErrorCode::kInvalidArgument, "bytes follow the end of the aws-chunked body");
  if (decoded_ != options_.decoded_length) {
    return Fail(ErrorCode::kCorrupt,
                "the body has {} bytes, but x-amz-decoded-content-length is {}", decoded_,
                options_.decoded_length);
  }
  state_ = State::kDone;
  return {};
}

}  // namespace sabia::wire
