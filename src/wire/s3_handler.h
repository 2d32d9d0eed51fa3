// The seam between the dispatcher and the S3 API: an authenticated request and the body that it
// vouches for.
#pragma once

#include <cstdint>
#include <optional>

#include "wire/action.h"
#include "wire/http.h"

namespace sabia::wire {

// The content as the client means it: aws-chunked framing is taken off, and hashes and chunk
// signatures are verified on the way. What was read is only vouched for once Read has returned 0:
// commit nothing before.
class S3Body : public BodyReader {
 public:
  // Announced size of the content (x-amz-decoded-content-length or Content-Length); nullopt when it
  // was not said.
  virtual std::optional<std::uint64_t> content_length() const = 0;
  // Trailing fields with lower-case names, such as "x-amz-checksum-crc32"; complete once Read has
  // returned 0.
  virtual const Headers& trailers() const = 0;
  // What to answer after Read has failed with this error.
  virtual AwsError Refusal(const Error& error) const = 0;
};

class S3Handler {
 public:
  virtual ~S3Handler() = default;
  // Answers on the exchange, errors too (rest-xml). context.principal.anonymous: the request is not
  // signed, which the handler allows or refuses. The body comes from `body`, never from
  // exchange.body(). The dispatcher has already set the request id in the context; the handler
  // sends it as x-amz-request-id.
  virtual void Handle(Exchange& exchange, const CallContext& context, S3Body& body) = 0;
};

}  // namespace sabia::wire
