// The values of the object store: buckets, objects and their versions, uploads, listings.
//
// Sizes in bytes, times UTC in milliseconds. Plain data; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "objects/checksum.h"

namespace sabia::objects {

// AWS's quotas.
inline constexpr std::size_t kKeyBytesMax = 1024;
inline constexpr std::uint64_t kSinglePutBytesMax = 5ULL << 30;
inline constexpr std::uint64_t kObjectBytesMax = 5ULL << 40;
inline constexpr std::uint64_t kPartBytesMin = 5ULL << 20;  // of every part but the last
inline constexpr int kPartNumberMax = 10'000;

// Once it is not off, it never is again.
enum class Versioning { kOff, kEnabled, kSuspended };

// Documents that say how a bucket behaves, by name ("cors"); what they mean is their writer's
// business.
using Settings = std::map<std::string, std::string, std::less<>>;

struct BucketInfo {
  std::int64_t id = 0;  // of its rows; never used again after the bucket is deleted
  std::string name;
  WallTime created;
  std::string region;
  Versioning versioning = Versioning::kOff;
  Settings settings;
};
// A bucket as it was at one moment. Equal pointers: nothing has changed.
using BucketHandle = std::shared_ptr<const BucketInfo>;

using Metadata = std::map<std::string, std::string>;
using Tags = std::map<std::string, std::string>;

// Which version of a key is meant: nullopt the current one, "" the null version, else an id.
using VersionChoice = std::optional<std::string>;

struct ObjectInfo {
  std::string key;
  std::uint64_t size = 0;
  std::string etag;  // without quotes: hex MD5, or "<hex>-<parts>" for multipart uploads
  WallTime modified;
  std::string blob_id;  // names the file; "" for delete markers
  // Lower-case names: "content-type", "cache-control", …, and user metadata as "x-amz-meta-…".
  // Empty in listings.
  Metadata metadata;
  // "crc32" → base64 value as AWS prints it ("…-<parts>" when it is composite).
  std::map<std::string, std::string> checksums;
  // Sizes of the parts of a multipart upload, in order; empty for others and in listings.
  std::vector<std::uint64_t> parts;
  // Checksums of the parts, raw bytes one after the other, of the algorithm that `checksums` names;
  // "" unless the upload was begun with one, and in listings.
  std::string part_checksums;
  std::string version_id;  // "" for the null version
  bool delete_marker = false;
  std::string storage_class;  // "" for STANDARD
  Tags tags;                  // empty in listings
  // How its file is sealed (key_ring.h); "": it holds the bytes as they are.
  std::string envelope;
};

struct PutOptions {
  Metadata metadata;
  Tags tags;
  std::string storage_class;
  bool if_none_match = false;  // "*": only when the key does not exist; else kAlreadyExists
  std::optional<std::string>
      if_match;  // only when the current ETag equals, or is any ("*"); else kConflict
};

struct ObjectName {
  std::string bucket;
  std::string key;
  VersionChoice version = std::nullopt;
};

struct CopyOptions {
  // Only when this is still the source's file, so that what was judged is what is copied; else
  // kConflict.
  std::optional<std::string> source_blob;
  // nullopt: those of the source.
  std::optional<Metadata> metadata;
  std::optional<Tags> tags;
  PutOptions target;  // its metadata and tags are not looked at
};

struct DeleteOptions {
  VersionChoice version;
  // About the version that is meant. When it does not hold: kConflict, or kNotFound without one.
  std::optional<std::string> if_match;
  std::optional<WallTime> if_modified;  // in whole seconds
  std::optional<std::uint64_t> if_size;
  std::optional<std::string> if_blob;
};

struct DeleteRequest {
  std::string key;
  DeleteOptions options;
};

struct Deleted {
  bool marker = false;     // a delete marker was made, or, if a version was named, removed
  std::string version_id;  // of the marker or of the named version; "" for the null version
};

struct ListOptions {
  std::string prefix;
  std::string delimiter;     // "" for none
  std::string start_after;   // exclusive; keys or common prefixes at or before it are not returned
  std::size_t limit = 1000;  // keys and common prefixes together
};

struct Listing {
  std::vector<ObjectInfo> objects;           // in byte order of keys
  std::vector<std::string> common_prefixes;  // in byte order
  bool truncated = false;
  std::string next_start_after;  // pass as start_after for the next page
};

struct ListVersionsOptions {
  std::string prefix;
  std::string delimiter;
  std::string key_marker;  // keys and common prefixes at or before it are left out, except …
  VersionChoice version_marker;  // … versions of key_marker that are older than this one
  std::size_t limit = 1000;      // versions and common prefixes together
};

struct VersionListing {
  struct Entry {
    ObjectInfo object;
    bool latest = false;
  };
  std::vector<Entry> versions;  // by key, then from the newest to the oldest
  std::vector<std::string> common_prefixes;
  bool truncated = false;
  std::string next_key_marker;
  VersionChoice next_version_marker;  // nullopt when the page ends with a common prefix
};

struct PartInfo {
  int number = 0;
  std::uint64_t size = 0;
  std::string etag;
  WallTime modified;
  std::map<std::string, std::string> checksums;
};

struct MultipartOptions {
  Metadata metadata;
  Tags tags;
  std::string storage_class;
  // What the client asked for; nothing: CRC32 over the whole object.
  std::optional<ChecksumAlgorithm> algorithm;
  bool full_object = false;  // one CRC over the whole object instead of a hash of the parts' hashes
  std::string envelope;      // of the object that it will be
};

// What the client says about the whole, checked before anything is joined.
struct CompleteOptions {
  PutOptions target;  // its conditions; everything else is that of the upload
  std::optional<std::uint64_t> size;
  std::map<std::string, std::string> checksums;  // "crc32" → base64, with or without "-<parts>"
};

struct MultipartInfo {
  std::string upload_id;
  std::string key;
  WallTime initiated;
  MultipartOptions options;
};

struct UploadName {
  std::string bucket;
  std::string key;
  std::string upload_id;
};

struct ListMultipartsOptions {
  std::string prefix;
  std::string delimiter;
  std::string key_marker;  // uploads of this key and before are left out, except …
  std::string
      upload_id_marker;  // … uploads of key_marker with a greater id, when this is not empty
  std::size_t limit = 1000;
};

struct MultipartListing {
  std::vector<MultipartInfo> uploads;  // by key, then upload id
  std::vector<std::string> common_prefixes;
  bool truncated = false;
  std::string next_key_marker;
  std::string next_upload_id_marker;  // "" when the page ends with a common prefix
};

}  // namespace sabia::objects
