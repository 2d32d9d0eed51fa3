// TLS for the server: OpenSSL on non-blocking sockets.
//
// TLS 1.2 and 1.3, HTTP/1.1 only (ALPN). Threading: TlsContext is thread-safe; a transport belongs
// to one worker.
#pragma once

#include <memory>

#include "env/files.h"
#include "wire/http_server.h"

namespace sabia::wire {

struct TlsIdentity {
  env::Path certificate;  // PEM: the server's, then those of its issuers
  env::Path key;          // PEM
};

// kInvalidArgument: OpenSSL cannot use the files; the message has its reason.
Result<std::shared_ptr<TransportFactory>> MakeTlsTransports(const TlsIdentity& identity);

}  // namespace sabia::wire
