// The seam between protocols and the API: one handler per action, JSON in, JSON out.
//
// The dispatcher (dispatcher.h) has authenticated the caller, found the action in the service's
// schema, decoded the request of whatever protocol into the schema's JSON form (JSON 1.1, JSON 1.0,
// query and REST-JSON all become the same object) and validated it against every constraint before
// a handler sees it. The handler's answer is encoded back. A handler may block on a commit; it
// returns only when what it acknowledges is durable.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/json.h"
#include "base/time.h"
#include "wire/aws_error.h"

namespace sabia::wire {

// Who signed the request.
struct Principal {
  std::string account;  // 12 digits
  std::string access_key_id;
  std::string
      arn;  // arn:aws:iam::<account>:root, or arn:aws:sts::<account>:assumed-role/<role>/<session>
  bool anonymous = false;  // an unsigned request: only S3 lets some of those through
};

struct CallContext {
  Principal principal;
  std::string region;
  std::string request_id;
  std::string endpoint;  // "http://127.0.0.1:9000": how the client reached us
  WallTime now;
};

using ActionHandler =
    std::function<AwsResult<json::object>(const CallContext&, const json::object& input)>;

// An answer that is already text in the schema's JSON form. JSON protocols send it as it is; it may
// be shared by many answers, so it is never changed.
using EncodedAnswer = std::shared_ptr<const std::string>;
using EncodedHandler =
    std::function<AwsResult<EncodedAnswer>(const CallContext&, const json::object& input)>;

// All implemented actions, filled explicitly by main through the Register functions of api/.
class ActionTable {
 public:
  // service is the schema's name ("sagemaker", "logs"); registering the same action twice is a bug
  // (CHECK).
  void Add(const std::string& service, const std::string& action, ActionHandler handler);
  // For hot reads whose answer can be kept as text. Find gives the action too, for the protocols
  // that are not JSON.
  void AddEncoded(const std::string& service, const std::string& action, EncodedHandler handler);
  // nullptr when the action has no encoded form.
  const EncodedHandler* FindEncoded(const std::string& service, const std::string& action) const;
  // nullptr when the action is not implemented.
  const ActionHandler* Find(const std::string& service, const std::string& action) const;

 private:
  std::map<std::string, std::map<std::string, ActionHandler>> handlers_;
  std::map<std::string, std::map<std::string, EncodedHandler>> encoded_;
};

}  // namespace sabia::wire
