#include "wire/tls.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/check.h"

namespace sabia::wire {
namespace {

constexpr std::size_t kRecordMax = 16 << 10;

std::string LastError() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  char text[256] = "unknown error";
  if (code != 0) ERR_error_string_n(code, text, sizeof text);
  return text;
}

struct ContextDeleter {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using ContextPtr = std::unique_ptr<SSL_CTX, ContextDeleter>;

class TlsTransport final : public Transport {
 public:
  TlsTransport(SSL_CTX* context, env::UniqueFd socket)
      : socket_(std::move(socket)), ssl_(SSL_new(context)) {
    CHECK(ssl_ != nullptr && SSL_set_fd(ssl_, socket_.get()) == 1);
    SSL_set_accept_state(ssl_);
  }
  ~TlsTransport() override { SSL_free(ssl_); }
  TlsTransport(const TlsTransport&) = delete;
  TlsTransport& operator=(const TlsTransport&) = delete;

  int fd() const override { return socket_.get(); }
  bool tls() const override { return true; }
  bool HasBuffered() const override { return SSL_has_pending(ssl_) == 1; }

  IoResult Handshake() override {
    ERR_clear_error();
    return Outcome(SSL_do_handshake(ssl_), 0);
  }

  IoResult Read(std::span<char> out) override {
    ERR_clear_error();
    std::size_t n = 0;
    const int done = SSL_read_ex(ssl_, out.data(), out.size(), &n);
    return Outcome(done, n);
  }

  IoResult Write(std::string_view first, std::string_view second) override {
    const std::string_view data = first.empty() ? second : first;
    ERR_clear_error();
    std::size_t n = 0;
    const int done = SSL_write_ex(ssl_, data.data(), data.size(), &n);
    return Outcome(done, n);
  }

  IoResult SendFile(const FileSpan& file) override {
    std::array<char, kRecordMax> block;
    const std::size_t wanted = std::min<std::uint64_t>(block.size(), file.length);
    const ssize_t n = ::pread(file.fd, block.data(), wanted, static_cast<off_t>(file.offset));
    if (n < 0) return {IoStatus::kFailed, 0};
    if (n == 0) return {IoStatus::kEnd, 0};
    return Write({block.data(), static_cast<std::size_t>(n)}, {});
  }

  void FinishWriting() override {
    ERR_clear_error();
    if (SSL_is_init_finished(ssl_)) SSL_shutdown(ssl_);
    ::shutdown(fd(), SHUT_WR);
  }

 private:
  IoResult Outcome(int done, std::size_t bytes) {
    if (done == 1) return {IoStatus::kDone, bytes};
    switch (SSL_get_error(ssl_, done)) {
      case SSL_ERROR_WANT_READ:
        return {IoStatus::kWantRead, 0};
      case SSL_ERROR_WANT_WRITE:
        return {IoStatus::kWantWrite, 0};
      case SSL_ERROR_ZERO_RETURN:
        return {IoStatus::kEnd, 0};
      default:
        // Also a connection that ended without saying so: what was read until then may be cut
        // short.
        return {IoStatus::kFailed, 0};
    }
  }

  env::UniqueFd socket_;
  SSL* ssl_;
};

int ChooseProtocol(SSL*, const unsigned char** out, unsigned char* out_size,
                   const unsigned char* in, unsigned in_size, void*) {
  static constexpr unsigned char kHttp11[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  unsigned char* chosen = nullptr;
  const int found = SSL_select_next_proto(&chosen, out_size, kHttp11, sizeof kHttp11, in, in_size);
  *out = chosen;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

class TlsTransports final : public TransportFactory {
 public:
  explicit TlsTransports(ContextPtr context) : context_(std::move(context)) {}
  std::unique_ptr<Transport> Accept(env::UniqueFd socket) override {
    return std::make_unique<TlsTransport>(context_.get(), std::move(socket));
  }

 private:
  ContextPtr context_;
};

}  // namespace

Result<std::shared_ptr<TransportFactory>> MakeTlsTransports(const TlsIdentity& identity) {
  ERR_clear_error();
  ContextPtr context(SSL_CTX_new(TLS_server_method()));
  CHECK(context != nullptr);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  // Idle connections keep no record buffers; a retried write may come from another address.
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_RELEASE_BUFFERS |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_alpn_select_cb(context.get(), ChooseProtocol, nullptr);
  if (SSL_CTX_use_certificate_chain_file(context.get(), identity.certificate.c_str()) != 1) {
    return Fail(ErrorCode::kInvalidArgument, "failed to use the certificate '{}': {}",
                identity.certificate.native(), LastError());
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), identity.key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1) {
    return Fail(ErrorCode::kInvalidArgument, "failed to use the key '{}': {}",
                identity.key.native(), LastError());
  }
  return std::shared_ptr<TransportFactory>(std::make_shared<TlsTransports>(std::move(context)));
}

}  // namespace sabia::wire
