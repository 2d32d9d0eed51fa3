// Takes the aws-chunked framing off a body: chunk signatures, trailing fields and the announced
// length are verified.
//
//   <hex size>[;chunk-signature=<64 hex>]\r\n<bytes>\r\n …
//   0[;chunk-signature=…]\r\n[<trailer>:<value>\r\n …]\r\n
//
// Bytes are handed out before their chunk's signature is known: they are vouched for once Read has
// returned 0. Errors: kDenied: a signature is wrong; kInvalidArgument: malformed; kCorrupt: not as
// long as announced; and those of the inner reader. Memory: one small buffer, whatever the chunk
// sizes. Threading: thread-compatible.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "wire/http.h"
#include "wire/sha256.h"

namespace sabia::wire {

struct ChunkSigning {
  Digest256 key;
  std::string amz_date;
  std::string scope;
  std::string seed_signature;  // of the request's head
};

struct AwsChunkedOptions {
  std::uint64_t decoded_length = 0;     // x-amz-decoded-content-length
  std::optional<ChunkSigning> signing;  // nullopt: chunks are not signed
  bool has_trailer = false;
};

class AwsChunkedReader final : public BodyReader {
 public:
  AwsChunkedReader(BodyReader& inner, AwsChunkedOptions options);

  Result<std::size_t> Read(std::span<char> out) override;
  const Headers& trailers() const { return trailers_; }

 private:
  enum class State { kHeader, kData, kDataEnd, kTrailer, kDone, kFailed };

  Result<std::size_t> Step(std::span<char> out);
  Status ReadHeader();
  Result<std::size_t> ReadData(std::span<char> out);
  Status ReadTrailer();
  Status FinishBody();
  Status CheckChunk();
  Status CheckTrailer(std::string_view canonical, std::string_view signature);
  // The next line without its end; "" with at_end when the body is over.
  Result<std::string> ReadLine(bool& at_end);
  Result<bool> Fill();  // false at the end of the inner body

  static constexpr std::size_t kBufferSize = 8 << 10;  // the longest line

  BodyReader& inner_;
  AwsChunkedOptions options_;
  std::string previous_signature_;
  std::string chunk_signature_;
  std::optional<Sha256> chunk_hash_;
  State state_ = State::kHeader;
  std::uint64_t chunk_left_ = 0;
  std::uint64_t decoded_ = 0;
  bool last_chunk_ = false;
  Headers trailers_;
  std::array<char, kBufferSize> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace sabia::wire
