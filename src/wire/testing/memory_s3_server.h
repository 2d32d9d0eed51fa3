// A MemoryS3 behind a real server on a free port, and clients of it. For tests of other folders.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/check.h"
#include "env/posix/posix_clock.h"
#include "wire/dispatcher.h"
#include "wire/http_server.h"
#include "wire/s3_client.h"
#include "wire/testing/memory_s3.h"

namespace sabia::wire {

class MemoryS3Server {
 public:
  MemoryS3Server() {
    dispatcher_.SetReady(true);
    HttpServerOptions options;
    options.listeners.push_back({"127.0.0.1", 0, nullptr});
    auto server = HttpServer::Start(options, dispatcher_, clock_);
    CHECK_MSG(server.has_value(), server.error().message);
    server_ = std::move(*server);
  }

  S3Endpoint endpoint() const {
    S3Endpoint out;
    out.url = fmt::format("http://127.0.0.1:{}", server_->port(0));
    out.region = "us-west-2";
    out.access_key_id = "AKIAROOTROOTROOTROOT";
    out.secret_access_key = std::string(40, 's');
    return out;
  }
  Result<std::unique_ptr<S3Client>> Connect() {
    return S3Client::Create(endpoint(), {.patience = Millis(20'000)}, clock_);
  }

  MemoryS3 s3;

 private:
  env::PosixClock clock_;
  env::SeededRandom random_{5};
  CredentialAuthority authority_{{"AKIAROOTROOTROOTROOT", std::string(40, 's')}, "123456789012"};
  ActionTable actions_;
  Dispatcher dispatcher_{{actions_, s3, authority_, clock_, random_}, {}};
  std::unique_ptr<HttpServer> server_;
};

}  // namespace sabia::wire
