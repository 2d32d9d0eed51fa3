// The head of a request, its signature's claim and a chunked body: what every client can send
// before it is known.
//
// A head that parses has a method and a path; whatever claims to be signed has a canonical form.
#include <array>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "wire/http_parser.h"
#include "wire/sigv4.h"

namespace sabia::wire {
namespace {

void CheckClaim(const RequestHead& head) {
  const auto query = QueryParameters::Parse(head.raw_query);
  if (!query) return;
  const auto claim = ParseClaim(head, *query);
  if (!claim || !*claim) return;
  const CanonicalInput input{head.method, head.raw_path, head.raw_query, head.headers};
  const std::string request = CanonicalRequest(input, **claim, kUnsignedPayload);
  CHECK(request.starts_with(head.method) && request.ends_with(kUnsignedPayload));
}

void CheckChunked(HttpParser& parser, std::string_view body) {
  std::array<char, 64> out{};
  while (true) {
    const auto step = parser.DecodeChunked(body, out);
    CHECK(step.consumed <= body.size() && step.produced <= out.size());
    body.remove_prefix(step.consumed);
    if (step.done || step.need_more || !step.error.empty()) return;
    CHECK_MSG(step.consumed > 0 || step.produced > 0, "no progress");
  }
}

void Check(std::string_view bytes) {
  const std::size_t end = FindHeadEnd(bytes, 0);
  if (end == std::string_view::npos) return;
  HttpParser parser(HeadLimits{});
  RequestHead head;
  Framing framing;
  if (const HeadError error = parser.ParseHead(bytes.substr(0, end), head, framing)) {
    CHECK(error.status >= 400 && !error.message.empty());
    return;
  }
  CHECK(!head.method.empty() && !head.raw_path.empty());
  CHECK(!(head.chunked && head.content_length));
  CheckClaim(head);
  if (head.chunked) CheckChunked(parser, bytes.substr(end));
}

}  // namespace
}  // namespace sabia::wire

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sabia::wire::Check(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
