// The files of a job's FastFile channels as one tree: a directory per channel, named after it.
//
// Compact, for a channel may have millions of files: names and keys lie in one block of text, nodes
// are numbers. Node 0 is the root; the children of a directory are neighbours, sorted by name.
//
// Threading: immutable once built; thread-safe. Times: milliseconds since 1970.
// Errors: kInvalidArgument when a path is there twice, or names both a file and a directory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "channels/listing.h"
#include "wire/s3_uri.h"

namespace sabia::fastfile {

class FileTree {
 public:
  struct Node {
    std::uint64_t size = 0;
    std::int64_t modified_ms = 0;
    std::uint32_t name_at = 0;
    std::uint32_t parent = 0;
    std::uint32_t first_child = 0;  // of a directory
    std::uint32_t children = 0;
    std::int32_t file = -1;  // its number; -1: a directory
    std::uint16_t name_size = 0;

    bool is_file() const { return file >= 0; }
  };
  // Files are numbered through all channels, in the order of their listings.
  struct File {
    std::uint64_t key_at = 0;
    std::uint32_t node = 0;
    std::uint32_t bucket = 0;
    std::uint16_t channel = 0;
    std::uint16_t key_size = 0;
    std::uint16_t etag_size = 0;  // directly behind the key
  };

  class Builder {
   public:
    // Objects with IsSafeRelativePath(path).
    void AddChannel(std::string name, std::vector<channels::ListedObject> objects);
    Result<FileTree> Build() &&;

   private:
    struct Channel {
      std::string name;
      std::vector<channels::ListedObject> objects;
    };
    std::vector<Channel> channels_;
  };

  const Node& node(std::uint32_t number) const { return nodes_[number]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }
  std::string_view NameOf(const Node& node) const { return Text(node.name_at, node.name_size); }
  std::optional<std::uint32_t> Find(std::uint32_t directory, std::string_view name) const;

  std::uint32_t files() const { return static_cast<std::uint32_t>(files_.size()); }
  const File& file(std::uint32_t number) const { return files_[number]; }
  std::uint64_t SizeOf(std::uint32_t file) const { return nodes_[files_[file].node].size; }
  wire::S3Location LocationOf(std::uint32_t file) const;
  std::string_view EtagOf(std::uint32_t file) const;
  std::size_t channels() const { return channel_count_; }
  std::uint64_t bytes() const { return bytes_; }  // of all files

 private:
  friend class TreeGrower;
  std::string_view Text(std::uint64_t at, std::size_t size) const {
    return std::string_view(text_).substr(at, size);
  }

  std::vector<Node> nodes_;
  std::vector<File> files_;
  std::vector<std::string> buckets_;
  std::string text_;
  std::size_t channel_count_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace sabia::fastfile
