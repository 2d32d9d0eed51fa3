#include "model/images.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace sabia::model {
namespace {

struct KnownImage {
  std::string_view repository;
  std::string_view tags;  // "*", or the tags separated by "|"
  ImageKind kind = ImageKind::kPython;
};

// The tags of "xgboost" are those of the first built-in versions; later ones are in
// "sagemaker-xgboost".
constexpr std::array kImages = {
    KnownImage{"sagemaker-xgboost", "*", ImageKind::kXgboost},
    KnownImage{"xgboost", "1|latest", ImageKind::kXgboost},
    KnownImage{"sagemaker-scikit-learn", "*", ImageKind::kPython},
    KnownImage{"pytorch-training", "*", ImageKind::kPython},
    KnownImage{"tensorflow-training", "*", ImageKind::kPython},
    KnownImage{"mxnet-training", "*", ImageKind::kPython},
    KnownImage{"huggingface-pytorch-training", "*", ImageKind::kPython},
    KnownImage{"huggingface-tensorflow-training", "*", ImageKind::kPython},
    KnownImage{"sagemaker-base-python", "*", ImageKind::kPython},
    KnownImage{"sabia/python", "*", ImageKind::kPython},
};

bool IsImageCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("._-/:@").find(c) != std::string_view::npos;
}

bool HasTag(std::string_view tags, std::string_view tag) {
  if (tags == "*") return true;
  while (!tags.empty()) {
    const std::size_t bar = std::min(tags.find('|'), tags.size());
    if (tags.substr(0, bar) == tag) return true;
    tags.remove_prefix(std::min(bar + 1, tags.size()));
  }
  return false;
}

bool IsRegistry(std::string_view part) {
  return part == "localhost" || part.find_first_of(".:") != std::string_view::npos;
}

const KnownImage* FindImage(const ImageName& name) {
  for (const KnownImage& image : kImages) {
    if (image.repository == name.repository && HasTag(image.tags, name.tag)) return &image;
  }
  return nullptr;
}

bool NamesScript(const json::object& request) {
  const json::object* parameters = FindObject(request, "HyperParameters");
  const json::object* environment = FindObject(request, "Environment");
  return (parameters != nullptr && parameters->contains("sagemaker_program")) ||
         (environment != nullptr && environment->contains("SAGEMAKER_PROGRAM"));
}

}  // namespace

Result<ImageName> ParseImageName(std::string_view uri) {
  ImageName name;
  if (!std::all_of(uri.begin(), uri.end(), IsImageCharacter)) {
    return Fail(ErrorCode::kInvalidArgument,
                "'{}' is no image name: it has other characters than "
                "letters, digits and ._-/:@",
                uri);
  }
  uri = uri.substr(0, uri.find('@'));
  const std::size_t slash = uri.find('/');
  if (slash != std::string_view::npos && IsRegistry(uri.substr(0, slash))) {
    name.registry = uri.substr(0, slash);
    uri.remove_prefix(slash + 1);
  }
  const std::size_t colon = uri.find(':');
  name.repository = uri.substr(0, colon);
  name.tag = colon == std::string_view::npos ? "latest" : uri.substr(colon + 1);
  if (name.repository.empty() || name.tag.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "the image name has no repository or an empty tag");
  }
  return name;
}

Result<ImageKind> ResolveTrainingImage(const json::object& request) {
  const json::object* algorithm = FindObject(request, "AlgorithmSpecification");
  const std::string uri = algorithm == nullptr ? "" : GetString(*algorithm, "TrainingImage");
  if (algorithm != nullptr && FindArray(*algorithm, "ContainerEntrypoint") != nullptr) {
    return ImageKind::kEntrypoint;
  }
  const auto name = ParseImageName(uri);
  const KnownImage* image = name ? FindImage(*name) : nullptr;
  if (image == nullptr) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "The training image '{}' is not known here: {}. Known images: {}. To run another "
        "program, give AlgorithmSpecification.ContainerEntrypoint, or name your script in the "
        "hyperparameter sagemaker_program and use sabia/python:3",
        uri, name ? "no known image has this repository and tag" : name.error().message,
        fmt::join(KnownImages(), ", "));
  }
  if (image->kind == ImageKind::kXgboost && NamesScript(request)) return ImageKind::kPython;
  return image->kind;
}

std::vector<std::string> KnownImages() {
  std::vector<std::string> out;
  for (const KnownImage& image : kImages) {
    const std::string_view registry =
        image.repository.find('/') == std::string_view::npos ? "*/" : "";
    out.push_back(fmt::format("{}{}:{}", registry, image.repository, image.tags));
  }
  return out;
}

}  // namespace sabia::model
