// The daemon: every part of `sabia serve`, made and connected in one place.
//
// Start() reads as the bill of materials. Members are declared in the order in which they are made;
// each uses only those above it, so that destruction takes them down in reverse.
//
// Threading: Start, Stop and the destructor on one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "store/paths.h"
#include "wire/key_source.h"

namespace sabia::cli {

struct DaemonOptions {
  store::Paths paths{env::Path()};
  std::string executable;  // of this program: agents are started with it
  std::string address = "127.0.0.1";
  std::uint16_t port = 8642;      // 0: any free one
  std::uint16_t tls_port = 8643;  // 0: any free one
  std::string region;             // "": as the home was made with
  std::string python = "/usr/bin/python3";
  double overcommit = 4;             // CPUs and memory offered, as a multiple of the machine's
  bool refuse_larger = false;        // types larger than the machine are refused instead of run
  Millis spot_notice{120'000};       // between the notice of a reclaim and its end
  Millis stop_grace{120'000};        // between SIGTERM and SIGKILL
  std::string spot_market = "none";  // its short form, or the path of a document
  std::string imds;                  // URL of the machine's instance metadata; "": not asked
  wire::KeyEnvironment keys;         // for S3 endpoints outside
  double cache_gib = 20;             // of their objects, kept on the disk between jobs
  double fastfile_disk_gib = 0;      // of disk, for what they read again
  std::int64_t fastfile_mib = 256;   // of memory, for what FastFile channels fetch ahead
};

class Daemon {
 public:
  static Result<std::unique_ptr<Daemon>> Start(const DaemonOptions& options);
  // Stops without grace when Stop was not called.
  virtual ~Daemon() = default;

  virtual const std::string& http_url() const = 0;
  virtual const std::string& https_url() const = 0;
  // Answers what is under way, then stops listening. Jobs go on; the next daemon adopts them.
  virtual void Stop(Millis grace) = 0;
};

}  // namespace sabia::cli
