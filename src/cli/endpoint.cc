#include "cli/endpoint.h"

#include <charconv>
#include <cstdlib>

#include "base/json.h"
#include "cli/command.h"
#include "env/posix/posix_files.h"

namespace sabia::cli {
namespace {

std::uint16_t PortOf(const std::string& url) {
  const auto colon = url.rfind(':');
  if (colon == std::string::npos) return 0;
  unsigned port = 0;
  const char* end = url.data() + url.size();
  const auto parsed = std::from_chars(url.data() + colon + 1, end, port);
  return parsed.ptr == end && port <= 65535 ? static_cast<std::uint16_t>(port) : 0;
}

}  // namespace

std::uint16_t EndpointFile::http_port() const { return PortOf(http); }
std::uint16_t EndpointFile::https_port() const { return PortOf(https); }

Status WriteEndpoint(env::Files& files, const store::Paths& paths, const EndpointFile& endpoint) {
  const json::object document{{"pid", endpoint.pid},
                              {"http", endpoint.http},
                              {"https", endpoint.https},
                              {"region", endpoint.region}};
  return files.WriteAtomically(paths.endpoint(), json::serialize(document) + "\n",
                               {.mode = 0644, .durability = env::Durability::kVolatile});
}

Result<EndpointFile> LastEndpoint(env::Files& files, const store::Paths& paths) {
  constexpr std::size_t kFileMax = 64 << 10;
  ASSIGN_OR_RETURN(const std::string text, files.Read(paths.endpoint(), kFileMax));
  ASSIGN_OR_RETURN(const json::object document, ParseJsonObject(text));
  EndpointFile out;
  out.pid = static_cast<int>(GetInt(document, "pid"));
  out.http = GetString(document, "http");
  out.https = GetString(document, "https");
  out.region = GetString(document, "region");
  return out;
}

Result<EndpointFile> ReadEndpoint(env::Files& files, const store::Paths& paths) {
  auto endpoint = LastEndpoint(files, paths);
  if (!endpoint && endpoint.error().code != ErrorCode::kNotFound) return endpoint;
  if (!endpoint || !env::IsLocked(paths.lock())) {
    return Fail(ErrorCode::kUnavailable,
                "no daemon is running on '{}'; start one with: sabia --home {} serve",
                paths.home().native(), ShellQuote(paths.home().native()));
  }
  // While a daemon starts, the file is still its predecessor's.
  const auto holder = files.Read(paths.lock(), 64);
  if (holder && std::strtol(holder->c_str(), nullptr, 10) != endpoint->pid) {
    return Fail(ErrorCode::kUnavailable, "the daemon on '{}' is starting", paths.home().native());
  }
  return endpoint;
}

}  // namespace sabia::cli
