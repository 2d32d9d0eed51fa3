// What requests of all kinds of jobs have in common: tags, and the members of List actions.
//
// Pure; any thread. REQUIRES: the request passed the service schema.
#pragma once

#include <string>

#include "base/json.h"
#include "store/resources.h"

namespace sabia::api {

// Tags of a Create request.
store::Tags TagsOf(const json::object& request);

// What a List action does when the request does not say it.
struct ListDefaults {
  std::string sort_by;
  std::string sort_order;
};
// StatusEquals, NameContains, the four times, SortBy (Name, Status, CreationTime), SortOrder,
// MaxResults and NextToken.
store::ListQuery ListQueryOf(store::Kind kind, const json::object& request,
                             const ListDefaults& defaults);

}  // namespace sabia::api
