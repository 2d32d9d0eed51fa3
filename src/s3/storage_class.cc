#include "s3/storage_class.h"

#include <algorithm>
#include <array>

namespace sabia::s3 {
namespace {

constexpr std::string_view kStandard = "STANDARD";
constexpr std::array<std::string_view, 6> kReadable = {
    "STANDARD",   "REDUCED_REDUNDANCY",  "STANDARD_IA",
    "ONEZONE_IA", "INTELLIGENT_TIERING", "GLACIER_IR"};
constexpr std::array<std::string_view, 2> kArchives = {"GLACIER", "DEEP_ARCHIVE"};

template <std::size_t n>
bool Has(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

wire::AwsResult<std::string> ReadStorageClass(const wire::Headers& headers) {
  const std::string_view name = headers.Get("x-amz-storage-class");
  if (name.empty() || name == kStandard) return std::string();
  if (Has(kReadable, name)) return std::string(name);
  if (Has(kArchives, name)) {
    return wire::Refuse("NotImplemented", 501,
                        "The storage class {} is not implemented: nothing is archived here.", name);
  }
  return wire::Refuse("InvalidStorageClass", 400, "The storage class you specified is not valid");
}

std::string_view ShownClass(std::string_view storage_class) {
  return storage_class.empty() ? kStandard : storage_class;
}

void AddStorageClass(std::string_view storage_class, wire::Headers& headers) {
  if (!storage_class.empty()) headers.Add("x-amz-storage-class", std::string(storage_class));
}

}  // namespace sabia::s3
