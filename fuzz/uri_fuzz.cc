// Request lines of REST-JSON services: "METHOD path?query". A match has every label that its
// operation's URI names.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "wire/protocol.h"
#include "wire/uri_matcher.h"

namespace sabia::wire {
namespace {

void Check(const ServiceSchema& schema, const UriMatcher& matcher, std::string_view line) {
  const auto blank = line.find(' ');
  if (blank == std::string_view::npos || blank + 1 == line.size()) return;
  RequestHead head;
  head.method = line.substr(0, blank);
  const auto question = line.find('?', blank);
  head.raw_path =
      line.substr(blank + 1, question == std::string_view::npos ? question : question - blank - 1);
  if (head.raw_path.empty()) return;
  if (question != std::string_view::npos) head.raw_query = line.substr(question + 1);
  const auto query = QueryParameters::Parse(head.raw_query);
  if (!query) return;
  auto match = matcher.Match(head);
  if (!match || match->operation == nullptr) return;
  for (const Member& member : match->operation->input->members) {
    if (member.location == Location::kUri) CHECK(match->labels.contains(member.WireName()));
  }
  const Call call{schema, *match->operation, Protocol::kRestJson};
  const auto input = DecodeRequest(call, {head.headers, *query, "", match->labels});
  if (input) (void)Validate(*match->operation->input, *input);
}

}  // namespace
}  // namespace sabia::wire

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sabia::wire;
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  for (const char* name : {"sagemaker-runtime", "sagemaker-metrics"}) {
    const ServiceSchema& schema = *FindService(name);
    Check(schema, UriMatcher(schema), line);
  }
  return 0;
}
