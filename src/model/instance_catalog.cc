#include "model/instance_catalog.h"

#include <charconv>
#include <vector>

#include "base/check.h"
#include "base/csv.h"

namespace sabia::model {

extern const std::string_view kInstancesCsv;  // data/instances.csv

namespace {

template <typename T>
Status ReadNumber(std::string_view text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error == std::errc() && end == text.data() + text.size() && out >= 0) return {};
  return Fail(ErrorCode::kCorrupt, "'{}' is not a number", text);
}

}  // namespace

InstanceCatalog InstanceCatalog::BuiltIn() {
  Result<InstanceCatalog> parsed = Parse(kInstancesCsv);
  CHECK_MSG(parsed.has_value(), parsed.error().message);
  return std::move(*parsed);
}

Result<InstanceCatalog> InstanceCatalog::Parse(std::string_view csv) {
  InstanceCatalog catalog;
  RETURN_IF_ERROR(ReadCsv(csv, "instance_type,vcpus,memory_mib,gpus",
                          [&](const std::vector<std::string_view>& fields) -> Status {
                            InstanceType type{.name = std::string(fields[0])};
                            std::int64_t mib = 0;
                            RETURN_IF_ERROR(ReadNumber(fields[1], type.vcpus));
                            RETURN_IF_ERROR(ReadNumber(fields[2], mib));
                            RETURN_IF_ERROR(ReadNumber(fields[3], type.gpus));
                            type.memory_bytes = mib << 20;
                            if (!catalog.types_.emplace(type.name, type).second) {
                              return Fail(ErrorCode::kCorrupt, "'{}' comes twice", type.name);
                            }
                            return {};
                          }));
  return catalog;
}

const InstanceType* InstanceCatalog::Find(std::string_view name) const {
  const auto found = types_.find(name);
  return found == types_.end() ? nullptr : &found->second;
}

}  // namespace sabia::model
