// Calls a service with SigV4 and patience: whatever may pass is tried again until the time is over.
//
// Tried again: failed connections, stalls, 5xx, 429 and AWS's throttling codes; the waits double
// from 50 ms to 5 s, each drawn at random between zero and that (full jitter), so that many agents
// do not return together; never less than a Retry-After asks for, nor than a shared retry budget
// allows. Every attempt is signed afresh: with renewed keys when the old ones were refused, and by
// the service's clock when it says that ours is wrong. Threading: thread-compatible.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "env/clock.h"
#include "env/random.h"
#include "wire/http_client.h"
#include "wire/key_provider.h"
#include "wire/request_signer.h"
#include "wire/retry_budget.h"

namespace sabia::wire {

// Where a service is now. kUnavailable while it is away.
using Locate = std::function<Result<std::string>()>;

struct ServiceEndpoint {
  std::string url;  // "http://127.0.0.1:9000"
  SigningIdentity identity;
  std::shared_ptr<KeyProvider> keys;    // where set, instead of the identity's own
  std::shared_ptr<RetryBudget> budget;  // shared by all clients of an endpoint; may be null
  // Where the service is now, kUnavailable while it is away; asked before each attempt. Empty: at
  // url.
  std::function<Result<std::string>()> locate;
};

struct SignedCall {
  OutgoingRequest request;  // Host is added
  std::string host_prefix;  // "bucket.": in front of the endpoint's host
  std::string_view body;
  FileSpan file;  // or
  std::function<Status(unsigned status, const Headers& headers)> on_head;
  std::function<Status(std::string_view)> sink;  // its failure ends the call
  // Called before each attempt but the first: may change the request (a Range), or end the attempts
  // by failing.
  std::function<Status(OutgoingRequest&)> before_retry;
  std::size_t body_max = 64 << 20;
};

// kInvalidArgument: anything but "http[s]://host[:port][/]".
Status CheckEndpointUrl(std::string_view url);

class SignedClient {
 public:
  struct Options {
    Millis patience{0};  // total, over all attempts; zero: one attempt
    HttpClientOptions http;
  };
  // kInvalidArgument: the URL is not http:// or https://.
  static Result<std::unique_ptr<SignedClient>> Create(ServiceEndpoint endpoint, Options options,
                                                      env::Clock& clock);

  // The first answer that is not worth another attempt: 2xx, or a refusal. kUnavailable,
  // kTimeout: patience ran out.
  Result<HttpAnswer> Call(SignedCall& call);
  std::uint64_t attempts() const { return attempts_; }  // of all calls

 private:
  SignedClient(ServiceEndpoint endpoint, Options options, env::Clock& clock);
  Result<HttpAnswer> Attempt(SignedCall& call);
  Status Sign(OutgoingRequest& request);
  // Whether the refusal is about keys or clock, and the next attempt has others.
  bool Mended(const HttpAnswer& answer);
  bool WaitBefore(int retry, Millis least, MonoTime deadline);
  Status Find();  // where the service is

  ServiceEndpoint endpoint_;
  std::string scheme_;  // "http://"
  std::string host_;
  Millis skew_{0};  // of the service's clock against ours
  Options options_;
  env::Clock& clock_;
  env::SeededRandom jitter_;
  HttpClient http_;
  std::uint64_t attempts_ = 0;
  bool sink_failed_ = false;  // of the last attempt: the caller has had enough
};

// The text of the first element (or JSON member) of that name in an error document; "" when there
// is none.
std::string XmlText(std::string_view document, std::string_view element);
// A refusal (status 4xx or 5xx) of S3 as an Error: by code, else by status.
Error S3RefusalOf(const HttpAnswer& answer, std::string_view what);

}  // namespace sabia::wire
