// How members, list elements and map entries are called in XML and in queries.
#pragma once

#include <string_view>

#include "wire/schema.h"

namespace sabia::wire {

inline bool IsFlattened(const Member& member) {
  const ShapeKind kind = member.shape->kind;
  return (kind == ShapeKind::kList || kind == ShapeKind::kMap) &&
         (member.flattened || member.shape->flattened);
}

inline std::string_view PartName(const Member& part, std::string_view fallback) {
  return part.location_name.empty() ? fallback : part.location_name;
}

inline std::string_view ElementName(const Shape& list) { return PartName(*list.element, "member"); }

// A flattened list's elements carry their own name, where they have one, in the place of the
// list's.
inline std::string_view XmlName(const Member& member) {
  if (IsFlattened(member) && member.shape->kind == ShapeKind::kList &&
      !member.shape->element->location_name.empty()) {
    return member.shape->element->location_name;
  }
  return member.WireName();
}

}  // namespace sabia::wire
