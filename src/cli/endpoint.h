// How clients reach the running daemon: endpoint.json in the home, written by `sabia serve` once it
// listens.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "env/files.h"
#include "store/paths.h"

namespace sabia::cli {

struct EndpointFile {
  int pid = 0;
  std::string http;   // "http://127.0.0.1:8642"
  std::string https;  // "https://127.0.0.1:8643"
  std::string region;

  // Ports of the addresses; 0 when there is none.
  std::uint16_t http_port() const;
  std::uint16_t https_port() const;
};

Status WriteEndpoint(env::Files& files, const store::Paths& paths, const EndpointFile& endpoint);

// What the last daemon of this home wrote, whether or not it still runs. kNotFound: none ever
// listened.
Result<EndpointFile> LastEndpoint(env::Files& files, const store::Paths& paths);

// kUnavailable, with a sentence that says how to start one, when no daemon is running on this home.
Result<EndpointFile> ReadEndpoint(env::Files& files, const store::Paths& paths);

}  // namespace sabia::cli
