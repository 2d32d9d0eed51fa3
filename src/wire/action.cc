#include "wire/action.h"

#include <future>
#include <utility>

#include "base/check.h"

namespace sabia::wire {

void ActionTable::Add(const std::string& service, const std::string& action,
                      ActionHandler handler) {
  const bool added = handlers_[service].emplace(action, std::move(handler)).second;
  CHECK_MSG(added, service + " " + action + " is registered twice");
}

void ActionTable::AddEncoded(const std::string& service, const std::string& action,
                             EncodedHandler handler) {
  Add(service, action,
      [handler](const CallContext& context, const json::object& input) -> AwsResult<json::object> {
        ASSIGN_OR_RETURN(const EncodedAnswer answer, handler(context, input));
        auto parsed = ParseJsonObject(*answer);
        if (!parsed) return tl::unexpected<AwsError>(ToAwsError(parsed.error()));
        return std::move(*parsed);
      });
  encoded_[service].emplace(action, std::move(handler));
}

void ActionTable::AddLater(const std::string& service, const std::string& action,
                           LaterHandler handler) {
  Add(service, action,
      [handler](const CallContext& context, const json::object& input) -> AwsResult<json::object> {
        // Shared: the one who sets it may still be at it when the one who waits goes on.
        const auto outcome = std::make_shared<std::promise<AwsResult<json::object>>>();
        handler(context, input, [outcome](AwsResult<json::object> result) {
          outcome->set_value(std::move(result));
        });
        return outcome->get_future().get();
      });
  later_[service].emplace(action, std::move(handler));
}

const EncodedHandler* ActionTable::FindEncoded(const std::string& service,
                                               const std::string& action) const {
  return FindIn(encoded_, service, action);
}

const LaterHandler* ActionTable::FindLater(const std::string& service,
                                           const std::string& action) const {
  return FindIn(later_, service, action);
}

const ActionHandler* ActionTable::Find(const std::string& service,
                                       const std::string& action) const {
  return FindIn(handlers_, service, action);
}

}  // namespace sabia::wire
