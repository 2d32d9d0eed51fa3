#include "wire/action.h"

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

const EncodedHandler* ActionTable::FindEncoded(const std::string& service,
                                               const std::string& action) const {
  const auto actions = encoded_.find(service);
  if (actions == encoded_.end()) return nullptr;
  const auto found = actions->second.find(action);
  return found == actions->second.end() ? nullptr : &found->second;
}

const ActionHandler* ActionTable::Find(const std::string& service,
                                       const std::string& action) const {
  const auto actions = handlers_.find(service);
  if (actions == handlers_.end()) return nullptr;
  const auto found = actions->second.find(action);
  return found == actions->second.end() ? nullptr : &found->second;
}

}  // namespace sabia::wire
