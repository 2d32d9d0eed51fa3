// Calls actions and the daemon's own extensions in JSON, for command-line tools.
//
// Threading: thread-compatible. Errors carry the service's code and sentence: kNotFound, kDenied,
// kInvalidArgument (any other 4xx), kUnavailable (no daemon, 5xx), kTimeout, kCorrupt (the answer
// is not JSON).
#pragma once

#include <memory>
#include <string>

#include "base/json.h"
#include "wire/signed_client.h"

namespace sabia::wire {

class JsonClient {
 public:
  // endpoint.identity.service is chosen per call.
  static Result<std::unique_ptr<JsonClient>> Create(ServiceEndpoint endpoint,
                                                    SignedClient::Options options,
                                                    env::Clock& clock);

  // POST to an extension: "/-/spot/interrupt".
  Result<json::object> CallExtension(const std::string& path, const json::object& input);

  // service is the signing name: {"sagemaker", "SageMaker.DescribeTrainingJob"}.
  struct Action {
    std::string service;
    std::string target;
  };
  Result<json::object> CallAction(const Action& action, const json::object& input);

 private:
  JsonClient(ServiceEndpoint endpoint, SignedClient::Options options, env::Clock& clock)
      : endpoint_(std::move(endpoint)), options_(std::move(options)), clock_(clock) {}
  Result<json::object> Post(const std::string& service, OutgoingRequest request,
                            const json::object& input);

  ServiceEndpoint endpoint_;
  SignedClient::Options options_;
  env::Clock& clock_;
  std::string client_service_;
  std::unique_ptr<SignedClient> client_;
};

}  // namespace sabia::wire
