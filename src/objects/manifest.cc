#include "objects/manifest.h"

#include "base/json.h"
#include "objects/input_listing.h"

namespace sabia::objects {

Result<Manifest> ParseManifest(std::string_view text) {
  constexpr std::string_view kForm =
      "a manifest is [{\"prefix\": \"s3://bucket/…\"}, \"suffix\", …]";
  ASSIGN_OR_RETURN(const json::value document, ParseJson(text));
  if (!document.is_array() || document.get_array().empty()) {
    return Fail(ErrorCode::kInvalidArgument, "it is no JSON array: {}", kForm);
  }
  const json::array& array = document.get_array();
  Manifest manifest;
  const auto prefix =
      array[0].is_object() ? FindString(array[0].get_object(), "prefix") : std::nullopt;
  if (!prefix)
    return Fail(ErrorCode::kInvalidArgument, "its first element has no text 'prefix': {}", kForm);
  manifest.prefix = *prefix;
  for (std::size_t i = 1; i < array.size(); ++i) {
    if (!array[i].is_string()) {
      return Fail(ErrorCode::kInvalidArgument, "its element {} is no text: {}", i, kForm);
    }
    if (manifest.suffixes.size() == kChannelFilesMax) {
      return Fail(ErrorCode::kInvalidArgument, "it lists more than {} objects", kChannelFilesMax);
    }
    manifest.suffixes.emplace_back(View(array[i].get_string()));
  }
  if (manifest.suffixes.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "it lists no object: {}", kForm);
  }
  return manifest;
}

}  // namespace sabia::objects
