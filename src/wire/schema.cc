#include "wire/schema.h"

#include <algorithm>
#include <mutex>

#include "base/check.h"
#include "wire/embedded.h"

namespace sabia::wire {
namespace {

template <typename T>
const T* FindByName(const std::vector<T>& sorted, std::string_view name) {
  const auto found = std::ranges::lower_bound(sorted, name, {}, &T::name);
  return found != sorted.end() && found->name == name ? &*found : nullptr;
}

struct Slot {
  std::once_flag once;
  std::unique_ptr<ServiceSchema> schema;
};

}  // namespace

const Member* Shape::FindMember(std::string_view member_name) const {
  const auto found = std::ranges::find(members, member_name, &Member::name);
  return found == members.end() ? nullptr : &*found;
}

bool ServiceSchema::Speaks(Protocol protocol) const {
  return std::ranges::find(protocols, protocol) != protocols.end();
}

const Operation* ServiceSchema::FindOperation(std::string_view operation) const {
  return FindByName(operations, operation);
}

const Shape* ServiceSchema::FindShape(std::string_view shape) const {
  return FindByName(shapes, shape);
}

const Shape* ServiceSchema::FindException(std::string_view code) const {
  const Shape* named = FindShape(code);
  if (named != nullptr && named->is_exception) return named;
  const auto found = std::ranges::find_if(
      shapes, [&](const Shape& shape) { return shape.is_exception && shape.error_code == code; });
  return found == shapes.end() ? nullptr : &*found;
}

const ServiceSchema* FindService(std::string_view name) {
  static std::vector<Slot> slots(EmbeddedSchemas().size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (EmbeddedSchemas()[i].name != name) continue;
    std::call_once(slots[i].once, [&] {
      auto loaded = LoadServiceSchema(EmbeddedSchemas()[i].Text());
      CHECK_MSG(loaded.has_value(), loaded.error().message);
      slots[i].schema = std::move(*loaded);
    });
    return slots[i].schema.get();
  }
  return nullptr;
}

std::vector<std::string> ServiceNames() {
  std::vector<std::string> names;
  for (const auto& embedded : EmbeddedSchemas()) names.emplace_back(embedded.name);
  return names;
}

}  // namespace sabia::wire
