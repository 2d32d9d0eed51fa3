#include "objects/input_listing.h"

#include <algorithm>
#include <unordered_map>

#include "base/json.h"
#include "wire/s3_uri.h"

namespace sabia::objects {
namespace {

constexpr std::size_t kComponentBytesMax = 255;  // of a file name on Linux
constexpr std::size_t kPageSize = 1000;

bool IsDirectoryMarker(const ObjectInfo& object) {
  return object.size == 0 && !object.key.empty() && object.key.back() == '/';
}

Status CheckPath(std::string_view path, std::string_view key) {
  std::string_view rest = path;
  if (path.find('\0') != std::string_view::npos) {
    return Fail(ErrorCode::kInvalidArgument, "the key '{}' holds a NUL byte", key);
  }
  while (true) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view component = rest.substr(0, slash);
    if (component.empty() || component == "." || component == "..") {
      return Fail(ErrorCode::kInvalidArgument,
                  "the object with key '{}' cannot become the file '{}': empty, '.' and '..' "
                  "components are "
                  "not allowed",
                  key, path);
    }
    if (component.size() > kComponentBytesMax) {
      return Fail(
          ErrorCode::kInvalidArgument,
          "the object with key '{}' cannot become a file: a component is longer than {} bytes", key,
          kComponentBytesMax);
    }
    if (slash == rest.size()) return {};
    rest.remove_prefix(slash + 1);
  }
}

// Two objects with one path, or a file where another needs a directory.
Status CheckClashes(const std::vector<InputFile>& files) {
  std::unordered_map<std::string_view, const InputFile*> by_path;
  by_path.reserve(files.size());
  for (const InputFile& file : files) {
    const auto [known, fresh] = by_path.emplace(file.path, &file);
    if (!fresh) {
      return Fail(ErrorCode::kInvalidArgument,
                  "the objects '{}' and '{}' would both become the file '{}'",
                  known->second->object.key, file.object.key, file.path);
    }
  }
  for (const InputFile& file : files) {
    const std::string_view path = file.path;
    for (std::size_t slash = path.find('/'); slash != std::string_view::npos;
         slash = path.find('/', slash + 1)) {
      const auto parent = by_path.find(path.substr(0, slash));
      if (parent == by_path.end()) continue;
      return Fail(ErrorCode::kInvalidArgument,
                  "the object '{}' would become the file '{}', but the object '{}' needs a "
                  "directory of that name",
                  parent->second->object.key, parent->second->path, file.object.key);
    }
  }
  return {};
}

Result<std::vector<InputFile>> ListPrefix(BucketSource& source, const wire::S3Location& where,
                                          bool as_files) {
  std::vector<InputFile> files;
  ListOptions options;
  options.prefix = where.key;
  options.limit = kPageSize;
  while (true) {
    ASSIGN_OR_RETURN(Listing page, source.List(options));
    for (ObjectInfo& object : page.objects) {
      if (IsDirectoryMarker(object)) continue;
      const std::string path(PathUnderPrefix(object.key, where.key));
      if (as_files) RETURN_IF_ERROR(CheckPath(path, object.key));
      if (files.size() == kChannelFilesMax) {
        return Fail(ErrorCode::kInvalidArgument, "more than {} objects match", kChannelFilesMax);
      }
      files.push_back({path, where.bucket, std::move(object)});
    }
    if (!page.truncated) break;
    options.start_after = page.next_start_after;
  }
  if (files.empty())
    return Fail(ErrorCode::kNotFound, "key prefix '{}' matches no object", where.key);
  return files;
}

struct Manifest {
  std::string prefix;
  std::vector<std::string> suffixes;
};

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

Result<std::vector<InputFile>> ListManifest(const OpenBucket& open, BucketSource& source,
                                            const wire::S3Location& where, bool as_files) {
  auto text = source.Read(where.key, kManifestBytesMax);
  if (!text) return Wrap(std::move(text).error(), "manifest '" + where.key + "'");
  auto manifest = ParseManifest(*text);
  if (!manifest) return Wrap(manifest.error(), "bad manifest '" + where.key + "'");
  std::vector<InputFile> files;
  std::unique_ptr<BucketSource> listed;  // every object of a manifest is in one bucket
  for (const std::string& suffix : manifest->suffixes) {
    const std::string uri = manifest->prefix + suffix;
    ASSIGN_OR_RETURN(const wire::S3Location location, wire::ParseS3Uri(uri));
    if (as_files) RETURN_IF_ERROR(CheckPath(suffix, location.key));
    if (!listed) {
      ASSIGN_OR_RETURN(listed, open(location.bucket));
    }
    auto object = listed->Head(location.key);
    if (!object)
      return Wrap(object.error(), "the manifest '" + where.key + "' lists '" + uri + "': ");
    files.push_back({suffix, location.bucket, std::move(*object)});
  }
  return files;
}

Result<std::unique_ptr<BucketSource>> InStore(ObjectStore& store, const std::string& bucket) {
  return MakeStoreSource(store, bucket);
}

}  // namespace

InputSource::Type ParseInputType(std::string_view name) {
  if (name == "ManifestFile") return InputSource::Type::kManifest;
  if (name == "AugmentedManifestFile") return InputSource::Type::kAugmentedManifest;
  return InputSource::Type::kPrefix;
}

std::string_view PathUnderPrefix(std::string_view key, std::string_view prefix) {
  if (!prefix.empty() && prefix.back() != '/' && key.size() > prefix.size() &&
      key[prefix.size()] == '/') {
    return key.substr(prefix.size() + 1);
  }
  const std::size_t slash = prefix.rfind('/');
  return slash == std::string_view::npos ? key : key.substr(slash + 1);
}

Result<std::vector<InputFile>> ListInput(const OpenBucket& open, const InputSource& source) {
  ASSIGN_OR_RETURN(const wire::S3Location where, wire::ParseS3Uri(source.s3_uri));
  ASSIGN_OR_RETURN(const std::unique_ptr<BucketSource> bucket, open(where.bucket));
  if (source.type == InputSource::Type::kAugmentedManifest) {
    ASSIGN_OR_RETURN(ObjectInfo manifest, bucket->Head(where.key));
    return std::vector<InputFile>{
        {std::string(PathUnderPrefix(where.key, where.key)), where.bucket, std::move(manifest)}};
  }
  auto files = source.type == InputSource::Type::kManifest
                   ? ListManifest(open, *bucket, where, source.as_files)
                   : ListPrefix(*bucket, where, source.as_files);
  if (!files) return files;
  if (source.as_files) RETURN_IF_ERROR(CheckClashes(*files));
  return files;
}

Status CheckInput(const OpenBucket& open, const InputSource& source) {
  ASSIGN_OR_RETURN(const wire::S3Location where, wire::ParseS3Uri(source.s3_uri));
  ASSIGN_OR_RETURN(const std::unique_ptr<BucketSource> bucket, open(where.bucket));
  if (source.type != InputSource::Type::kPrefix) {
    return bucket->Head(where.key).map([](const ObjectInfo&) {});
  }
  ListOptions options;
  options.prefix = where.key;
  options.limit = kPageSize;  // a page holds more than markers, unless there are only markers
  ASSIGN_OR_RETURN(const Listing page, bucket->List(options));
  const bool any =
      page.truncated || !std::all_of(page.objects.begin(), page.objects.end(), IsDirectoryMarker);
  if (!any) return Fail(ErrorCode::kNotFound, "key prefix '{}' matches no object", where.key);
  return {};
}

Result<std::vector<InputFile>> ListInput(ObjectStore& store, const InputSource& source) {
  return ListInput([&store](const std::string& name) { return InStore(store, name); }, source);
}

Status CheckInput(ObjectStore& store, const InputSource& source) {
  return CheckInput([&store](const std::string& name) { return InStore(store, name); }, source);
}

std::vector<InputFile> ShardOf(std::vector<InputFile> files, std::size_t host, std::size_t hosts) {
  std::sort(files.begin(), files.end(),
            [](const InputFile& a, const InputFile& b) { return a.object.key < b.object.key; });
  std::vector<InputFile> share;
  for (std::size_t i = host; i < files.size(); i += hosts) share.push_back(std::move(files[i]));
  return share;
}

std::string EmptyInputMessage(const EmptyInput& input) {
  const auto where = wire::ParseS3Uri(input.s3_uri);
  const std::string bucket = where ? where->bucket : input.s3_uri;
  return fmt::format(
      "No S3 objects found under S3 URL \"{}\" given in input data source. Please ensure that the "
      "bucket exists in "
      "the selected region ({}), that objects exist under that S3 prefix, and that the role \"{}\" "
      "has "
      "\"s3:ListBucket\" permissions on bucket \"{}\".{}",
      input.s3_uri, input.region, input.role_arn, bucket,
      input.bucket_missing ? " Error message from S3: The specified bucket does not exist" : "");
}

}  // namespace sabia::objects
