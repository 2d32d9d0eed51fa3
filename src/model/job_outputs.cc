#include "model/job_outputs.h"

#include <fmt/format.h>

namespace sabia::model {
namespace {

std::string Below(const json::object& request, std::string_view name, std::string_view packed,
                  std::string_view unpacked) {
  const json::object* output = FindObject(request, "OutputDataConfig");
  std::string path = output == nullptr ? std::string() : GetString(*output, "S3OutputPath");
  while (path.ends_with('/')) path.pop_back();
  const bool compressed =
      output == nullptr || GetString(*output, "CompressionType", "GZIP") != "NONE";
  return fmt::format("{}/{}/output/{}", path, name, compressed ? packed : unpacked);
}

}  // namespace

std::string ModelArtifactsUri(const json::object& request, std::string_view name) {
  return Below(request, name, "model.tar.gz", "model/");
}

std::string OutputDataUri(const json::object& request, std::string_view name) {
  return Below(request, name, "output.tar.gz", "data/");
}

}  // namespace sabia::model
