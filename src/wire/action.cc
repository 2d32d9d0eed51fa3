#include "wire/action.h"

#include "base/check.h"

namespace sabia::wire {

void ActionTable::Add(const std::string& service, const std::string& action,
                      ActionHandler handler) {
  const bool added = handlers_[service].emplace(action, std::move(handler)).second;
  CHECK_MSG(added, service + " " + action + " is registered twice");
}

const ActionHandler* ActionTable::Find(const std::string& service,
                                       const std::string& action) const {
  const auto actions = handlers_.find(service);
  if (actions == handlers_.end()) return nullptr;
  const auto found = actions->second.find(action);
  return found == actions->second.end() ? nullptr : &found->second;
}

}  // namespace sabia::wire
