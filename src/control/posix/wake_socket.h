// Where agents poke the daemon: a datagram socket whose messages are instance ids.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "env/posix/posix_files.h"

namespace sabia::control {

// Threading: the listener is called on a thread of the socket, once per datagram, and must be
// cheap.
class WakeSocket {
 public:
  using Listener = std::function<void(const std::string& instance_id)>;
  // Replaces a socket file that an earlier daemon left. The directory must exist; only its owner
  // may write there.
  static Result<std::unique_ptr<WakeSocket>> Open(const env::Path& path, Listener listener);
  ~WakeSocket();

 private:
  explicit WakeSocket(Listener listener) : listener_(std::move(listener)) {}
  void Receive();

  const Listener listener_;
  env::UniqueFd socket_;
  env::UniqueFd stop_;
  std::thread thread_;
};

}  // namespace sabia::control
