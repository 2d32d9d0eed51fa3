// The verifier of signatures: "METHOD path?query", then "Name: value" lines.
//
// Nobody who does not know the secret gets in, and what our own client signs does, as header and as
// presigned URL, unless its time or its scope is wrong.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "env/testing/manual_clock.h"
#include "wire/request_signer.h"
#include "wire/sigv4_verifier.h"

namespace sabia::wire {
namespace {

constexpr char kId[] = "AKIAROOTROOTROOTROOT";
constexpr char kSecret[] = "a secret that no input can hold, for it is longer than any of them";

struct Line {
  std::string_view text;
  std::string_view rest;
};

Line TakeLine(std::string_view text) {
  const auto end = std::min(text.find('\n'), text.size());
  return {text.substr(0, end), text.substr(std::min(end + 1, text.size()))};
}

RequestHead ReadHead(std::string_view text) {
  RequestHead head;
  auto [first, rest] = TakeLine(text);
  const auto blank = std::min(first.find(' '), first.size());
  head.method = first.substr(0, blank);
  const std::string_view target = first.substr(std::min(blank + 1, first.size()));
  const auto question = std::min(target.find('?'), target.size());
  head.raw_path = "/" + std::string(target.substr(0, question));
  head.raw_query = target.substr(std::min(question + 1, target.size()));
  while (!rest.empty()) {
    const Line line = TakeLine(rest);
    rest = line.rest;
    const auto colon = line.text.find(": ");
    if (colon == std::string_view::npos || colon == 0) continue;
    head.headers.Add(std::string(line.text.substr(0, colon)),
                     std::string(line.text.substr(colon + 2)));
  }
  return head;
}

class Gate {
 public:
  AuthResult<VerifiedSignature> Verify(const RequestHead& head, std::string_view payload_hash) {
    const auto query = QueryParameters::Parse(head.raw_query);
    if (!query) return NotAuthentic(AuthProblem::kIncomplete);
    auto claim = ParseClaim(head, *query);
    if (!claim) return tl::make_unexpected(claim.error());
    if (!*claim) return NotAuthentic(AuthProblem::kMissing);
    return verifier_.Verify(head, **claim, payload_hash);
  }
  WallTime now() { return clock_.Wall(); }

 private:
  env::ManualClock clock_;
  CredentialAuthority authority_{{kId, kSecret}, "123456789012"};
  SigV4Verifier verifier_{authority_, clock_};
};

void CheckOwnSignature(Gate& gate, const RequestHead& head) {
  if (!QueryParameters::Parse(head.raw_query) || head.method.empty()) return;
  OutgoingRequest request;
  request.method = head.method;
  request.path = head.raw_path;
  request.query = head.raw_query;
  for (const auto& [name, value] : head.headers.fields()) {
    if (name == "x-custom") request.headers.Add(name, value);
  }
  request.headers.Set("Host", "127.0.0.1");
  request.payload_hash = std::string(kEmptySha256);
  SignRequest(request, {kId, kSecret, "", "us-west-2", "s3"}, gate.now());
  RequestHead sent;
  sent.method = request.method;
  sent.raw_path = request.path;
  sent.raw_query = request.query;
  sent.headers = request.headers;
  const auto verified = gate.Verify(sent, kEmptySha256);
  const bool query_signs = head.raw_query.find("X-Amz-") != std::string::npos;
  CHECK_MSG(verified || query_signs, sent.raw_path + "?" + sent.raw_query);
  if (!verified) return;
  sent.method += "X";
  CHECK(!gate.Verify(sent, kEmptySha256));
}

}  // namespace
}  // namespace sabia::wire

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sabia::wire;
  if (size > 4096) return 0;
  static Gate gate;
  const RequestHead head = ReadHead({reinterpret_cast<const char*>(data), size});
  CHECK(!gate.Verify(head, kEmptySha256));
  CheckOwnSignature(gate, head);
  return 0;
}
