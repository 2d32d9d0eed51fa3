#include "wire/http_client.h"

#include <curl/curl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/check.h"
#include "wire/idle_connections.h"

namespace sabia::wire {
namespace {

constexpr long kBufferSize = 512 << 10;
constexpr std::size_t kHeadersMax = 256;
constexpr std::size_t kErrorBodyMax = 64 << 10;

struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, ListDeleter>;

HeaderList MakeHeaders(const Headers& headers) {
  HeaderList list;
  const auto append = [&list](const std::string& line) {
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    CHECK(longer != nullptr);
    (void)list.release();
    list.reset(longer);
  };
  for (const auto& [name, value] : headers.fields()) {
    append(value.empty() ? name + ";" : name + ": " + value);
  }
  // What libcurl would add on its own: unsigned, and a round trip for the expectation.
  for (const char* own : {"Accept", "Content-Type", "User-Agent", "Expect"}) {
    if (!headers.Has(own)) append(std::string(own) + ":");
  }
  return list;
}

// A proxy of the environment is for the world outside, not for this machine.
bool IsLoopback(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return false;
  const std::string_view host = url.substr(scheme + 3);
  return host.starts_with("127.") || host.starts_with("localhost") || host.starts_with("[::1]");
}

// OpenSSL raises SIGPIPE when the other side has gone. Blocked for the calling thread only, and one
// that is pending is taken away, so that the process and its children keep their own disposition.
class SigpipeGuard {
 public:
  SigpipeGuard() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~SigpipeGuard() {
    const timespec now{};
    if (!sigismember(&before_, SIGPIPE)) ::sigtimedwait(&pipe_, nullptr, &now);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SigpipeGuard(const SigpipeGuard&) = delete;
  SigpipeGuard& operator=(const SigpipeGuard&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
};

// The state of one Perform, shared with libcurl's callbacks.
struct Transfer {
  const HttpCall& call;
  CURL* handle = nullptr;
  HttpAnswer answer;
  std::uint64_t file_position = 0;
  bool head_seen = false;
  Status failure;

  bool Succeeded() const { return answer.status >= 200 && answer.status < 300; }
  std::size_t Fail(Status status) {
    failure = std::move(status);
    return 0;
  }
};

std::size_t OnHeader(char* data, std::size_t, std::size_t size, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  std::string_view line(data, size);
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {  // also after "100 Continue": the last head counts
    transfer.answer.headers = Headers();
    return size;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size;
  if (transfer.answer.headers.fields().size() >= kHeadersMax) return 0;
  transfer.answer.headers.Add(std::string(line.substr(0, colon)),
                              std::string(line.substr(colon + 1)));
  return size;
}

Status BeginBody(Transfer& transfer) {
  if (std::exchange(transfer.head_seen, true)) return {};
  long status = 0;
  curl_easy_getinfo(transfer.handle, CURLINFO_RESPONSE_CODE, &status);
  transfer.answer.status = static_cast<unsigned>(status);
  if (!transfer.Succeeded() || !transfer.call.on_head) return {};
  return transfer.call.on_head(transfer.answer.status, transfer.answer.headers);
}

std::size_t OnBody(char* data, std::size_t, std::size_t size, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  if (Status begun = BeginBody(transfer); !begun) return transfer.Fail(std::move(begun));
  if (transfer.Succeeded() && transfer.call.sink) {
    if (Status taken = transfer.call.sink({data, size}); !taken)
      return transfer.Fail(std::move(taken));
    return size;
  }
  std::string& body = transfer.answer.body;
  if (!transfer.Succeeded()) {  // an error document: its beginning says enough
    body.append(data, std::min(size, kErrorBodyMax - std::min(kErrorBodyMax, body.size())));
    return size;
  }
  if (body.size() + size > transfer.call.body_max) {
    return transfer.Fail(sabia::Fail(ErrorCode::kResourceExhausted,
                                     "the answer is longer than {} bytes", transfer.call.body_max));
  }
  body.append(data, size);
  return size;
}

std::size_t OnRead(char* out, std::size_t, std::size_t room, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const FileSpan& file = transfer.call.file;
  const std::size_t wanted = std::min<std::uint64_t>(room, file.length - transfer.file_position);
  if (wanted == 0) return 0;
  const ssize_t n =
      ::pread(file.fd, out, wanted, static_cast<off_t>(file.offset + transfer.file_position));
  if (n > 0) {
    transfer.file_position += static_cast<std::uint64_t>(n);
    return static_cast<std::size_t>(n);
  }
  transfer.failure =
      n < 0 ? Status(FailErrno(errno, "failed to read what is uploaded"))
            : sabia::Fail(ErrorCode::kIo, "the file became shorter while it was uploaded");
  return CURL_READFUNC_ABORT;
}

int OnSeek(void* user, curl_off_t offset, int origin) {
  if (origin != SEEK_SET || offset < 0) return CURL_SEEKFUNC_FAIL;
  static_cast<Transfer*>(user)->file_position = static_cast<std::uint64_t>(offset);
  return CURL_SEEKFUNC_OK;
}

void SetMethod(CURL* handle, Transfer& transfer) {
  const HttpCall& call = transfer.call;
  if (call.file.fd >= 0) {
    curl_easy_setopt(handle, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(handle, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(call.file.length));
    curl_easy_setopt(handle, CURLOPT_READFUNCTION, OnRead);
    curl_easy_setopt(handle, CURLOPT_READDATA, &transfer);
    curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, OnSeek);
    curl_easy_setopt(handle, CURLOPT_SEEKDATA, &transfer);
  } else if (call.method == "HEAD") {
    curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
  } else if (call.method == "POST" || call.method == "PUT") {
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, call.body.empty() ? "" : call.body.data());
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(call.body.size()));
  } else {
    curl_easy_setopt(handle, CURLOPT_HTTPGET, 1L);
  }
  if (call.method != "HEAD") curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, call.method.c_str());
}

// Handles of clients that have ended, with the connections that they keep.
class IdleHandles {
 public:
  static IdleHandles& Ours() {
    static auto* const handles = new IdleHandles;  // processes end without clearing up
    return *handles;
  }
  void KeepAtMost(std::size_t count) {
    const std::lock_guard lock(mutex_);
    most_ = count;
  }
  CURL* Take() {
    const std::lock_guard lock(mutex_);
    if (handles_.empty()) return nullptr;
    CURL* handle = handles_.back();
    handles_.pop_back();
    return handle;
  }
  bool Give(CURL* handle) {
    curl_easy_reset(handle);
    const std::lock_guard lock(mutex_);
    if (handles_.size() >= most_) return false;
    handles_.push_back(handle);
    return true;
  }

 private:
  std::mutex mutex_;
  std::size_t most_ = 0;        // guarded by mutex_
  std::vector<CURL*> handles_;  // guarded by mutex_
};

}  // namespace

void KeepIdleConnections(std::size_t clients) { IdleHandles::Ours().KeepAtMost(clients); }

class HttpClient::Impl {
 public:
  explicit Impl(HttpClientOptions wanted) : options(std::move(wanted)) {
    static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
    CHECK(initialized == CURLE_OK);
    handle = IdleHandles::Ours().Take();
    if (handle == nullptr) handle = curl_easy_init();
    CHECK(handle != nullptr);
  }
  ~Impl() {
    if (!IdleHandles::Ours().Give(handle)) curl_easy_cleanup(handle);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void SetCommon(const HttpCall& call) const {
    curl_easy_setopt(handle, CURLOPT_URL, call.url.c_str());
    curl_easy_setopt(handle, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(handle, CURLOPT_BUFFERSIZE, kBufferSize);
    curl_easy_setopt(handle, CURLOPT_UPLOAD_BUFFERSIZE, kBufferSize);
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS,
                     static_cast<long>(options.connect_timeout.count()));
    const auto stall = std::chrono::ceil<Seconds>(options.stall_timeout).count();
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME,
                     static_cast<long>(std::max<std::int64_t>(1, stall)));
    if (options.direct || IsLoopback(call.url)) curl_easy_setopt(handle, CURLOPT_PROXY, "");
    if (!options.ca_bundle.empty()) {
      curl_easy_setopt(handle, CURLOPT_CAINFO, options.ca_bundle.c_str());
    }
  }

  HttpClientOptions options;
  CURL* handle = nullptr;
};

HttpClient::HttpClient(HttpClientOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
HttpClient::~HttpClient() = default;

Result<HttpAnswer> HttpClient::Perform(const HttpCall& call) {
  CURL* handle = impl_->handle;
  curl_easy_reset(handle);  // options only: connections stay
  impl_->SetCommon(call);
  Transfer transfer{call, handle, {}, 0, false, {}};
  SetMethod(handle, transfer);
  const HeaderList headers = MakeHeaders(call.headers);
  char text[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, OnHeader);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, OnBody);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, text);
  const SigpipeGuard guard;
  const CURLcode code = curl_easy_perform(handle);
  if (!transfer.failure) return tl::make_unexpected(std::move(transfer.failure).error());
  if (code == CURLE_OK) {
    RETURN_IF_ERROR(BeginBody(transfer));  // an answer without a body
    return std::move(transfer.answer);
  }
  const char* reason = text[0] != '\0' ? text : curl_easy_strerror(code);
  const bool timed_out = code == CURLE_OPERATION_TIMEDOUT;
  return Fail(timed_out ? ErrorCode::kTimeout : ErrorCode::kUnavailable, "{} {}: {}", call.method,
              call.url, reason);
}

}  // namespace sabia::wire
