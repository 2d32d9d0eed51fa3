#include "wire/s3_body.h"

#include <algorithm>
#include <charconv>

#include "base/encoding.h"
#include "wire/aws_chunked.h"

namespace sabia::wire {
namespace {

constexpr std::string_view kStreaming = "STREAMING-";
constexpr std::string_view kSigned = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
constexpr std::string_view kSignedTrailer = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER";
constexpr std::string_view kUnsignedTrailer = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";

AwsError RefusalOf(const Error& error) {
  switch (error.code) {
    case ErrorCode::kDenied:
      return {"SignatureDoesNotMatch",
              403,
              "The request signature we calculated does not match the signature you provided. "
              "Check your key and signing method.",
              {}};
    case ErrorCode::kResourceExhausted:
      return {"EntityTooLarge",
              400,
              "Your proposed upload exceeds the maximum allowed object size",
              {}};
    case ErrorCode::kTimeout:
      return {"RequestTimeout",
              400,
              "Your socket connection to the server was not read from or written to within the "
              "timeout period.",
              {}};
    case ErrorCode::kUnavailable:
    case ErrorCode::kCorrupt:
      return {"IncompleteBody",
              400,
              "You did not provide the number of bytes specified by the Content-Length HTTP header",
              {}};
    case ErrorCode::kInvalidArgument:
      return {"InvalidRequest", 400, "The request body is malformed: " + error.message, {}};
    case ErrorCode::kNotFound:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kConflict:
    case ErrorCode::kIo:
    case ErrorCode::kUnimplemented:
    case ErrorCode::kInternal:
      break;
  }
  return {"InternalError", 500, "We encountered an internal error. Please try again.", {}};
}

class PlainBody final : public S3Body {
 public:
  // expected: hex SHA-256 of the whole, or "" for none.
  PlainBody(const S3BodyInput& input, std::string expected)
      : raw_(input.raw), length_(input.head.content_length), expected_(std::move(expected)) {
    if (!length_ && !input.head.chunked) length_ = 0;
  }

  Result<std::size_t> Read(std::span<char> out) override {
    if (done_) return 0;
    ASSIGN_OR_RETURN(const std::size_t n, raw_.Read(out));
    if (expected_.empty()) return n;
    if (n > 0) {
      hash_.Update({out.data(), n});
      return n;
    }
    done_ = true;
    computed_ = Hex(hash_.Finish());
    if (EqualInConstantTime(computed_, expected_)) return 0;
    mismatch_ = true;
    return Fail(ErrorCode::kCorrupt, "x-amz-content-sha256 is not the hash of the body");
  }
  std::optional<std::uint64_t> content_length() const override { return length_; }
  const Headers& trailers() const override { return trailers_; }
  AwsError Refusal(const Error& error) const override {
    if (!mismatch_) return RefusalOf(error);
    return {"XAmzContentSHA256Mismatch",
            400,
            "The provided 'x-amz-content-sha256' header does not match what was computed.",
            {{"ClientComputedContentSHA256", expected_}, {"S3ComputedContentSHA256", computed_}}};
  }

 private:
  BodyReader& raw_;
  std::optional<std::uint64_t> length_;
  std::string expected_;
  std::string computed_;
  Sha256 hash_;
  Headers trailers_;
  bool done_ = false;
  bool mismatch_ = false;
};

class ChunkedBody final : public S3Body {
 public:
  ChunkedBody(BodyReader& raw, AwsChunkedOptions options)
      : length_(options.decoded_length), reader_(raw, std::move(options)) {}

  Result<std::size_t> Read(std::span<char> out) override { return reader_.Read(out); }
  std::optional<std::uint64_t> content_length() const override { return length_; }
  const Headers& trailers() const override { return reader_.trailers(); }
  AwsError Refusal(const Error& error) const override { return RefusalOf(error); }

 private:
  std::uint64_t length_;
  AwsChunkedReader reader_;
};

bool IsHexHash(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
         });
}

AwsResult<std::unique_ptr<S3Body>> OpenChunked(const S3BodyInput& input, std::string_view mode) {
  AwsChunkedOptions options;
  const std::string_view length = input.head.headers.Get("x-amz-decoded-content-length");
  const auto [end, error] =
      std::from_chars(length.data(), length.data() + length.size(), options.decoded_length);
  if (length.empty() || error != std::errc() || end != length.data() + length.size()) {
    return Refuse("MissingContentLength", 411,
                  "You must provide the x-amz-decoded-content-length HTTP header.");
  }
  options.has_trailer = mode != kSigned;
  if (mode != kUnsignedTrailer && input.signature != nullptr) {
    options.signing = ChunkSigning{input.signature->signing_key, input.claim->amz_date,
                                   input.claim->scope.ToString(), input.claim->signature};
  }
  return std::make_unique<ChunkedBody>(input.raw, std::move(options));
}

}  // namespace

AuthResult<std::string> S3PayloadHash(const RequestHead& head, const SignatureClaim& claim) {
  if (const auto hash = head.headers.Find("x-amz-content-sha256")) {
    const bool covered =
        !claim.presigned || std::binary_search(claim.signed_fields.begin(),
                                               claim.signed_fields.end(), "x-amz-content-sha256");
    if (covered) return std::string(*hash);
  }
  if (claim.presigned) return std::string(kUnsignedPayload);
  return NotAuthentic(AuthProblem::kMissingContentHash);
}

AwsResult<std::unique_ptr<S3Body>> OpenS3Body(const S3BodyInput& input) {
  const std::string_view mode = input.head.headers.Get("x-amz-content-sha256");
  if (mode == kSigned || mode == kSignedTrailer || mode == kUnsignedTrailer) {
    return OpenChunked(input, mode);
  }
  if (mode.starts_with(kStreaming)) {
    return Refuse("NotImplemented", 501,
                  "x-amz-content-sha256 '{}' is not supported; supported are {}, {} and {}", mode,
                  kSigned, kSignedTrailer, kUnsignedTrailer);
  }
  if (mode.empty() || mode == kUnsignedPayload) return std::make_unique<PlainBody>(input, "");
  if (!IsHexHash(mode)) {
    return Refuse("InvalidArgument", 400,
                  "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, "
                  "STREAMING-UNSIGNED-PAYLOAD-TRAILER, STREAMING-AWS4-HMAC-SHA256-PAYLOAD, "
                  "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER or a valid sha256 value.");
  }
  return std::make_unique<PlainBody>(input, ToLower(mode));
}

}  // namespace sabia::wire
