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
  std::string role_arn;    // of a session: the role as it was named when it was assumed
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

// For actions that commit: the handler hands its work on and returns, so that no thread waits for
// the disk, and calls reply, exactly once, when the outcome is known: before it returns, or later
// from any thread. reply may be copied; it never blocks on the client.
using LaterReply = std::function<void(AwsResult<json::object>)>;
using LaterHandler =
    std::function<void(const CallContext&, json::object input, const LaterReply& reply)>;

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
  // Find gives an action that waits, for where no answer can be given later.
  void AddLater(const std::string& service, const std::string& action, LaterHandler handler);
  // nullptr when the action answers before it returns.
  const LaterHandler* FindLater(const std::string& service, const std::string& action) const;
  // nullptr when the action is not implemented.
  const ActionHandler* Find(const std::string& service, const std::string& action) const;

 private:
  template <typename T>
  using Table = std::map<std::string, std::map<std::string, T>>;
  template <typename T>
  static const T* FindIn(const Table<T>& table, const std::string& service,
                         const std::string& action) {
    const auto actions = table.find(service);
    if (actions == table.end()) return nullptr;
    const auto found = actions->second.find(action);
    return found == actions->second.end() ? nullptr : &found->second;
  }

  Table<ActionHandler> handlers_;
  Table<EncodedHandler> encoded_;
  Table<LaterHandler> later_;
};

}  // namespace sabia::wire
