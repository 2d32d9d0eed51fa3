#include "cli/endpoint.h"

#include <fcntl.h>
#include <sys/file.h>

#include "base/json.h"
#include "env/posix/posix_files.h"

namespace sabia::cli {
namespace {

// The daemon holds an flock on `lock` for as long as it lives.
bool DaemonRuns(const store::Paths& paths) {
  const auto lock = env::OpenFile(paths.lock(), O_RDONLY);
  if (!lock) return lock.error().code == ErrorCode::kDenied;
  return ::flock(lock->get(), LOCK_SH | LOCK_NB) != 0;
}

}  // namespace

Status WriteEndpoint(env::Files& files, const store::Paths& paths, const EndpointFile& endpoint) {
  const json::object document{{"pid", endpoint.pid},
                              {"http", endpoint.http},
                              {"https", endpoint.https},
                              {"region", endpoint.region}};
  return files.WriteAtomically(paths.endpoint(), json::serialize(document) + "\n",
                               {.mode = 0644, .durability = env::Durability::kVolatile});
}

Result<EndpointFile> ReadEndpoint(env::Files& files, const store::Paths& paths) {
  constexpr std::size_t kFileMax = 64 << 10;
  const auto text = files.Read(paths.endpoint(), kFileMax);
  if (!text && text.error().code != ErrorCode::kNotFound) {
    return tl::make_unexpected(text.error());
  }
  if (!text || !DaemonRuns(paths)) {
    return Fail(ErrorCode::kUnavailable,
                "no daemon is running on '{}'; start one with: sabia --home '{}' serve",
                paths.home().native(), paths.home().native());
  }
  ASSIGN_OR_RETURN(const json::object document, ParseJsonObject(*text));
  EndpointFile out;
  out.pid = static_cast<int>(GetInt(document, "pid"));
  out.http = GetString(document, "http");
  out.https = GetString(document, "https");
  out.region = GetString(document, "region");
  return out;
}

}  // namespace sabia::cli
