#include "fastfile/file_tree.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace sabia::fastfile {
namespace {

// One object on its way into the tree.
struct Leaf {
  std::string_view path;
  std::uint32_t file;
};

// '/' before every other byte: the entries of a directory are neighbours then, sorted by name.
bool PathLess(const Leaf& a, const Leaf& b) {
  const auto rank = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c) + 1; };
  return std::lexicographical_compare(a.path.begin(), a.path.end(), b.path.begin(), b.path.end(),
                                      [&](char x, char y) { return rank(x) < rank(y); });
}

}  // namespace

// Builds level by level, so that children become neighbours.
class TreeGrower {
 public:
  explicit TreeGrower(FileTree& tree) : tree_(tree) {}

  std::uint32_t AddDirectory(std::uint32_t parent, std::string_view name) {
    return AddNode(parent, name);
  }

  void AddFile(const channels::ListedObject& object, std::uint16_t channel) {
    FileTree::File file;
    file.channel = channel;
    file.key_at = tree_.text_.size();
    file.key_size = static_cast<std::uint16_t>(object.key.size());
    file.etag_size = static_cast<std::uint16_t>(object.etag.size());
    tree_.text_ += object.key;
    tree_.text_ += object.etag;
    if (tree_.buckets_.empty() || tree_.buckets_.back() != object.bucket) {
      tree_.buckets_.push_back(object.bucket);
    }
    file.bucket = static_cast<std::uint32_t>(tree_.buckets_.size() - 1);
    tree_.bytes_ += object.size;
    tree_.files_.push_back(file);
  }

  Status Grow(std::uint32_t root, const std::vector<channels::ListedObject>& objects,
              std::uint32_t first_file) {
    leaves_.clear();
    for (std::size_t i = 0; i < objects.size(); ++i)
      leaves_.push_back({objects[i].path, first_file + static_cast<std::uint32_t>(i)});
    std::sort(leaves_.begin(), leaves_.end(), PathLess);
    objects_ = &objects;
    first_file_ = first_file;
    std::vector<Directory> level = {{root, 0, leaves_.size(), 0}};
    while (!level.empty()) {
      std::vector<Directory> next;
      for (const Directory& directory : level) RETURN_IF_ERROR(Fill(directory, next));
      level = std::move(next);
    }
    return {};
  }

 private:
  struct Directory {
    std::uint32_t node;
    std::size_t begin;  // of its leaves
    std::size_t end;
    std::size_t depth;  // bytes of the path up to its own names
  };

  std::uint32_t AddNode(std::uint32_t parent, std::string_view name) {
    FileTree::Node node;
    node.parent = parent;
    node.name_at = static_cast<std::uint32_t>(tree_.text_.size());
    node.name_size = static_cast<std::uint16_t>(name.size());
    tree_.text_ += name;
    tree_.nodes_.push_back(node);
    return static_cast<std::uint32_t>(tree_.nodes_.size() - 1);
  }

  Status Fill(const Directory& directory, std::vector<Directory>& next) {
    const auto first = static_cast<std::uint32_t>(tree_.nodes_.size());
    for (std::size_t i = directory.begin; i < directory.end;) {
      const std::string_view rest = leaves_[i].path.substr(directory.depth);
      const std::size_t slash = rest.find('/');
      const std::string_view name = rest.substr(0, slash);
      std::size_t end = i + 1;
      while (end < directory.end && SameName(leaves_[end].path.substr(directory.depth), name))
        ++end;
      const std::uint32_t node = AddNode(directory.node, name);
      if (slash == rest.npos) {
        if (end != i + 1) {
          return Fail(ErrorCode::kInvalidArgument, "'{}' is there twice, or is a folder as well",
                      leaves_[i].path);
        }
        SetFile(node, leaves_[i].file);
      } else {
        next.push_back({node, i, end, directory.depth + slash + 1});
      }
      i = end;
    }
    FileTree::Node& parent = tree_.nodes_[directory.node];
    parent.first_child = first;
    parent.children = static_cast<std::uint32_t>(tree_.nodes_.size()) - first;
    return {};
  }

  static bool SameName(std::string_view rest, std::string_view name) {
    return rest.starts_with(name) && (rest.size() == name.size() || rest[name.size()] == '/');
  }

  void SetFile(std::uint32_t number, std::uint32_t file) {
    const channels::ListedObject& object = (*objects_)[file - first_file_];
    FileTree::Node& node = tree_.nodes_[number];
    node.file = static_cast<std::int32_t>(file);
    node.size = object.size;
    node.modified_ms = ToUnixMillis(object.modified);
    tree_.files_[file].node = number;
  }

  FileTree& tree_;
  std::vector<Leaf> leaves_;
  const std::vector<channels::ListedObject>* objects_ = nullptr;
  std::uint32_t first_file_ = 0;
};

void FileTree::Builder::AddChannel(std::string name, std::vector<channels::ListedObject> objects) {
  channels_.push_back({std::move(name), std::move(objects)});
}

Result<FileTree> FileTree::Builder::Build() && {
  std::sort(channels_.begin(), channels_.end(),
            [](const Channel& a, const Channel& b) { return a.name < b.name; });
  FileTree tree;
  TreeGrower grower(tree);
  const std::uint32_t root = grower.AddDirectory(0, "");
  for (const Channel& channel : channels_) grower.AddDirectory(root, channel.name);
  tree.nodes_[root].first_child = 1;
  tree.nodes_[root].children = static_cast<std::uint32_t>(channels_.size());
  tree.channel_count_ = channels_.size();
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    std::vector<channels::ListedObject> objects = std::move(channels_[i].objects);
    const std::uint32_t first = tree.files();
    for (const channels::ListedObject& object : objects)
      grower.AddFile(object, static_cast<std::uint16_t>(i));
    if (tree.text_.size() > std::numeric_limits<std::uint32_t>::max() / 2)
      return Fail(ErrorCode::kResourceExhausted, "the channels have too many files");
    RETURN_IF_ERROR(grower.Grow(static_cast<std::uint32_t>(1 + i), objects, first));
  }
  tree.nodes_.shrink_to_fit();
  tree.files_.shrink_to_fit();
  tree.text_.shrink_to_fit();
  return tree;
}

std::optional<std::uint32_t> FileTree::Find(std::uint32_t directory, std::string_view name) const {
  const Node& parent = nodes_[directory];
  const auto begin = nodes_.begin() + parent.first_child;
  const auto end = begin + parent.children;
  const auto found = std::lower_bound(
      begin, end, name,
      [&](const Node& node, std::string_view wanted) { return NameOf(node) < wanted; });
  if (found == end || NameOf(*found) != name) return std::nullopt;
  return static_cast<std::uint32_t>(found - nodes_.begin());
}

wire::S3Location FileTree::LocationOf(std::uint32_t file) const {
  const File& entry = files_[file];
  return {buckets_[entry.bucket], std::string(Text(entry.key_at, entry.key_size))};
}

std::string_view FileTree::EtagOf(std::uint32_t file) const {
  const File& entry = files_[file];
  return Text(entry.key_at + entry.key_size, entry.etag_size);
}

}  // namespace sabia::fastfile
