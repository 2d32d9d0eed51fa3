// What an ml.* instance type is made of.
//
// The table is data/instances.csv, compiled in: every type of the API whose hardware is known. A
// type that is not here does not exist for us and is refused by name.
//
// Pure; a value that copies freely; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sabia::model {

struct InstanceType {
  std::string name;  // "ml.m5.large"
  int vcpus = 0;
  std::int64_t memory_bytes = 0;
  int gpus = 0;
};

class InstanceCatalog {
 public:
  // The compiled-in table.
  static InstanceCatalog BuiltIn();
  // Lines of instance_type,vcpus,memory_mib,gpus below a header line. kCorrupt names the line.
  static Result<InstanceCatalog> Parse(std::string_view csv);

  // Null when there is no such type.
  const InstanceType* Find(std::string_view name) const;
  const std::map<std::string, InstanceType, std::less<>>& types() const { return types_; }

 private:
  std::map<std::string, InstanceType, std::less<>> types_;
};

}  // namespace sabia::model
