// The front door: finds out who asks for what, and hands it to the one who answers.
//
//   /-/health, /-/metrics      answered here, unsigned
//   /-/<name>                  extensions: JSON in and out, signed with the root key for service
//   "sabia" X-Amz-Target, or the signature's scope, or a form   an action of the action table
//   everything else            S3
//
// Every request but the first two is authenticated before anyone else sees it, has an id in its
// answer, a line in the log (debug; 5xx at error) and a place in the metrics. An exception in a
// handler becomes InternalFailure.
//
// Threading: filled by one thread before the server starts, then immutable but for SetReady; Handle
// runs on many.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "wire/action.h"
#include "wire/prometheus.h"
#include "wire/request_id.h"
#include "wire/request_metrics.h"
#include "wire/s3_handler.h"
#include "wire/service_router.h"
#include "wire/sigv4_verifier.h"

namespace sabia::wire {

struct DispatcherOptions {
  std::string region = "us-west-2";     // of requests that name none
  std::size_t json_body_max = 6 << 20;  // bytes; longer requests are refused with 413
};

struct DispatcherParts {
  const ActionTable& actions;
  S3Handler& s3;
  const CredentialAuthority& authority;
  env::Clock& clock;
  env::Random& random;
};

class Dispatcher final : public Handler {
 public:
  // input: the JSON body of a POST, or the query parameters of a GET as strings.
  using Extension =
      std::function<AwsResult<json::object>(const CallContext&, const json::object& input)>;
  using MetricsWriter = std::function<void(PrometheusText&)>;

  Dispatcher(const DispatcherParts& parts, DispatcherOptions options);

  // path: "/-/spot/interrupt". Registering one twice is a bug (CHECK).
  void AddExtension(const std::string& path, Extension extension);
  // Called for each reading of /-/metrics, on the thread of the request.
  void AddMetrics(MetricsWriter writer) { metrics_writers_.push_back(std::move(writer)); }
  // Before: /-/health says 503, and so does everything but /-/.
  void SetReady(bool ready) { ready_.store(ready); }

  void Handle(Exchange& exchange) override;

 private:
  struct Request;
  struct Waiting;
  // What the log and the metrics say of a request.
  struct Trace {
    std::string_view id, peer, method, path, service, action, by;
    MonoTime start;
  };

  void Route(Request& request);
  static bool IsS3Url(const Request& request);
  void HandleInternal(Request& request);
  void HandleExtension(Request& request, const Extension& extension);
  void HandleS3(Request& request);
  std::function<void(unsigned status)> TraceLater(Request& request);
  void HandleService(Request& request);
  AwsResult<void> CallAction(Request& request, const std::string& body);
  AwsResult<void> CallEncoded(Request& request, const EncodedHandler& handler,
                              const json::object& input);
  // False: this request cannot be answered later.
  bool CallLater(Request& request, const LaterHandler& handler, json::object& input);
  void AnswerLater(Waiting& waiting, const AwsResult<json::object>& output);
  AwsResult<const Operation*> FindAction(Request& request, const std::string& body);
  AwsResult<void> Authenticate(Request& request, std::string_view service, std::string_view body);
  AwsResult<std::string> ReadBody(Request& request);
  void FillContext(Request& request);
  void SendError(Request& request, const AwsError& error);
  void SendJson(Request& request, unsigned status, const json::object& body);
  void Finish(const Trace& trace, unsigned status);

  const ActionTable& actions_;
  S3Handler& s3_;
  const CredentialAuthority& authority_;
  env::Clock& clock_;
  DispatcherOptions options_;
  ServiceRouter router_;
  SigV4Verifier verifier_;
  RequestIds ids_;
  RequestMetrics metrics_;
  std::map<std::string, Extension, std::less<>> extensions_;
  std::vector<MetricsWriter> metrics_writers_;
  std::atomic<bool> ready_{false};
};

}  // namespace sabia::wire
