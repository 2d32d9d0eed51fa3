#include "wire/null_members.h"

#include <vector>

namespace sabia::wire {
namespace {

void DropIn(json::value& value) {
  if (json::object* object = value.if_object()) return DropNullMembers(*object);
  if (json::array* list = value.if_array()) {
    for (json::value& element : *list) DropIn(element);
  }
}

}  // namespace

void DropNullMembers(json::object& input) {
  for (auto member = input.begin(); member != input.end();) {
    if (member->value().is_null()) {
      member = input.stable_erase(member);
      continue;
    }
    DropIn(member->value());
    ++member;
  }
}

}  // namespace sabia::wire
