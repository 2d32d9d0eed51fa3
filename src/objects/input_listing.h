// Which objects a channel consists of, and under which path the program finds each.
//
// One rule for prefixes: a key below "<prefix>/" is found under the rest of its name; any other key
// that begins with the prefix under its name from the last "/" of the prefix on. So `s3://b/p/`
// gives p/x/y as x/y, `s3://b/x/train` gives x/train/en/f as en/f and x/train-1.csv as train-1.csv,
// and a single object has its base name. Empty objects whose keys end in "/" mark directories and
// are left out. A manifest lists a prefix and suffixes; each object is found under its suffix.
//
// Paths are safe to create below a directory: relative, no "." or "..", no empty component, none
// both a file and a directory. Everything else is refused, naming the keys. Sources whose objects
// become no files (Pipe mode) are not held to this: any key will do, and a manifest may list one
// twice.
//
// An augmented manifest is one object here; what its lines refer to is looked for when it is read.
//
// Threading: as the BucketSource. Errors: kNotFound (bucket, prefix or an object of a manifest),
// kInvalidArgument (URI, manifest, unsafe or clashing keys); both are the user's; others are ours.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "objects/bucket_source.h"

namespace sabia::objects {

inline constexpr std::size_t kManifestBytesMax = 64u << 20;
inline constexpr std::size_t kChannelFilesMax = 2'000'000;

struct InputSource {
  enum class Type { kPrefix, kManifest, kAugmentedManifest };
  Type type = Type::kPrefix;
  std::string s3_uri;
  bool as_files = true;
};

// "S3Prefix", "ManifestFile", "AugmentedManifestFile"; kPrefix for anything else.
InputSource::Type ParseInputType(std::string_view name);

struct InputFile {
  std::string path;  // below the channel's directory
  std::string bucket;
  ObjectInfo object;
};

using OpenBucket = std::function<Result<std::unique_ptr<BucketSource>>(const std::string& bucket)>;

// In the order of keys (of the manifest for manifests). Never empty.
Result<std::vector<InputFile>> ListInput(const OpenBucket& open, const InputSource& source);
Result<std::vector<InputFile>> ListInput(ObjectStore& store, const InputSource& source);

// Whether at least one object is there to read: the check at create time. kNotFound otherwise.
Status CheckInput(const OpenBucket& open, const InputSource& source);
Status CheckInput(ObjectStore& store, const InputSource& source);

// The share of one host under ShardedByS3Key: every hosts-th file by order of keys. REQUIRES: 0 <=
// host < hosts.
std::vector<InputFile> ShardOf(std::vector<InputFile> files, std::size_t host, std::size_t hosts);

// AWS's sentence for a channel without objects. bucket_missing adds what S3 said.
struct EmptyInput {
  std::string s3_uri;
  std::string region;
  std::string role_arn;
  bool bucket_missing = false;
};
std::string EmptyInputMessage(const EmptyInput& input);

// The path of `key` for a prefix, by the rule above. Pure. REQUIRES: key begins with prefix.
std::string_view PathUnderPrefix(std::string_view key, std::string_view prefix);

}  // namespace sabia::objects
