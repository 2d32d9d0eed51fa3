// Log streams: the file of a crashed writer, read from both ends and from anywhere, and tokens that
// clients made up.
//
// The first byte chooses: a damaged file, lines that were written well, or tokens.
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/log_events.h"
#include "base/check.h"
#include "env/testing/manual_clock.h"
#include "env/testing/temporary_directory.h"
#include "store/log_format.h"
#include "store/log_reader.h"
#include "store/page_token.h"

namespace sabia {
namespace {

using store::LogStore;

env::UniqueFd FileOf(std::string_view bytes) {
  env::UniqueFd fd(::memfd_create("log", MFD_CLOEXEC));
  CHECK(env::WriteAll(fd.get(), bytes));
  return fd;
}

std::vector<std::string> Messages(const LogStore::ReadPage& page) {
  std::vector<std::string> out;
  for (const store::LogEvent& event : page.events) out.push_back(event.message);
  return out;
}

// Every page until there is none, from the given end.
std::vector<std::string> ReadAll(int fd, bool backward, std::size_t limit) {
  std::vector<std::string> all;
  LogStore::ReadQuery query;
  query.backward = backward;
  query.from_offset = backward ? store::kLogEnd : 0;
  query.limit = limit;
  while (true) {
    const auto page =
        backward ? store::ReadLogBackward(fd, query) : store::ReadLogForward(fd, query);
    if (!page) return {};
    const auto messages = Messages(*page);
    all.insert(backward ? all.begin() : all.end(), messages.begin(), messages.end());
    const std::uint64_t next = backward ? page->begin_offset : page->end_offset;
    if (next == query.from_offset) return all;
    CHECK(backward ? next < query.from_offset : next > query.from_offset);
    query.from_offset = next;
  }
}

void CheckDamaged(std::string_view bytes) {
  const env::UniqueFd fd = FileOf(bytes);
  auto scanner = store::LogScanner::Open(fd.get());
  CHECK(scanner.has_value());
  std::uint64_t end = 0;
  while (true) {
    const auto found = scanner->Next();
    if (!found || !*found) break;
    CHECK((*found)->begin >= end && (*found)->end > (*found)->begin);
    CHECK((*found)->end <= bytes.size());
    end = (*found)->end;
  }
  const auto forward = ReadAll(fd.get(), false, 3);
  CHECK(forward == ReadAll(fd.get(), true, 2));
  (void)store::ReadLogInfo(fd.get());
}

void CheckWritten(std::string_view text) {
  std::string file;
  std::vector<std::string> lines;
  store::EncodeLogRecord({store::LogRecordKind::kHead, {}, {}, ""}, 0, file);
  while (!text.empty() && lines.size() < 64) {
    const auto end = std::min(text.find('\n'), text.size());
    // Lines that fill blocks meet their edges.
    std::string line(text.substr(0, end));
    if (line.size() > 2 && line[0] == '*') {
      const auto times = static_cast<unsigned char>(line[1]) * std::size_t{300};
      std::string longer;
      while (longer.size() < times) longer += line;
      line = longer;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
    store::EncodeLogRecord({store::LogRecordKind::kEvent, FromUnixMillis(5), {}, line}, file.size(),
                           file);
    lines.push_back(std::move(line));
  }
  const env::UniqueFd fd = FileOf(file);
  CHECK(ReadAll(fd.get(), false, 3) == lines);
  CHECK(ReadAll(fd.get(), true, 2) == lines);
}

class Logs {
 public:
  Logs() {
    CHECK(store_.CreateGroup("g"));
    CHECK(store_.CreateStream("g", "s"));
    CHECK(store_.Append("g", "s", {{clock_.Wall(), clock_.Wall(), "one", 0}}));
  }

  void Ask(std::string_view token) {
    const wire::CallContext context{.now = clock_.Wall()};
    json::object request{{"logGroupName", "g"}, {"nextToken", token}};
    CheckAnswer(api::FilterLogEvents(store_, context, request));
    request["logStreamName"] = "s";
    CheckAnswer(api::GetLogEvents(store_, context, request));
  }

 private:
  static void CheckAnswer(const wire::AwsResult<json::object>& answer) {
    CHECK(answer || answer.error().code == "InvalidParameterException" ||
          answer.error().code == "ResourceNotFoundException");
  }

  env::TemporaryDirectory directory_;
  env::ManualClock clock_;
  LogStore store_{store::Paths(directory_.path()), clock_};
};

void CheckTokens(std::string_view token) {
  static Logs logs;
  logs.Ask(token);
  const store::TokenKey key{7, 3};
  const auto position = store::DecodePageToken(key, 42, token);
  CHECK(position || position.error().code == ErrorCode::kInvalidArgument);
  CHECK_MSG(!position, "a token was forged");
}

}  // namespace
}  // namespace sabia

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      sabia::CheckDamaged(rest);
      break;
    case 1:
      sabia::CheckWritten(rest);
      break;
    default:
      if (rest.size() < 2048) sabia::CheckTokens(rest);
  }
  return 0;
}
