// Goal: the tree holds what the listings say. Method: compared with std::map.
#include "fastfile/file_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "env/random.h"

namespace sabia::fastfile {
namespace {

using ::testing::ElementsAre;

channels::ListedObject Object(const std::string& path, std::uint64_t size = 1) {
  return {.path = path,
          .size = size,
          .bucket = "bucket",
          .key = "in/" + path,
          .etag = "e-" + path,
          .modified = FromUnixMillis(1'600'000'000'123)};
}

std::vector<std::string> Names(const FileTree& tree, std::uint32_t directory) {
  std::vector<std::string> out;
  const FileTree::Node& node = tree.node(directory);
  for (std::uint32_t i = 0; i < node.children; ++i)
    out.emplace_back(tree.NameOf(tree.node(node.first_child + i)));
  return out;
}

std::optional<std::uint32_t> Walk(const FileTree& tree, std::string_view path) {
  std::uint32_t at = 0;
  while (!path.empty()) {
    const auto next = tree.Find(at, path.substr(0, path.find('/')));
    if (!next) return std::nullopt;
    at = *next;
    path.remove_prefix(std::min(path.size(), path.substr(0, path.find('/')).size() + 1));
  }
  return at;
}

TEST(FileTree, HasADirectoryPerChannelAndSortsNames) {
  FileTree::Builder builder;
  builder.AddChannel(
      "train", {Object("a/z", 7), Object("a.csv"), Object("a/b/c"), Object("ab"), Object("a!")});
  builder.AddChannel("test", {Object("x")});
  const auto tree = std::move(builder).Build();
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_THAT(Names(*tree, 0), ElementsAre("test", "train"));
  EXPECT_THAT(Names(*tree, *Walk(*tree, "train")), ElementsAre("a", "a!", "a.csv", "ab"));
  EXPECT_THAT(Names(*tree, *Walk(*tree, "train/a")), ElementsAre("b", "z"));
  const FileTree::Node& z = tree->node(*Walk(*tree, "train/a/z"));
  ASSERT_TRUE(z.is_file());
  EXPECT_EQ(z.size, 7u);
  EXPECT_EQ(z.modified_ms, 1'600'000'000'123);
  const auto file = static_cast<std::uint32_t>(z.file);
  EXPECT_EQ(tree->LocationOf(file).key, "in/a/z");
  EXPECT_EQ(tree->LocationOf(file).bucket, "bucket");
  EXPECT_EQ(tree->EtagOf(file), "e-a/z");
  EXPECT_EQ(tree->file(file).channel, 1);
  EXPECT_FALSE(Walk(*tree, "train/none"));
  EXPECT_FALSE(tree->node(*Walk(*tree, "train/a/b")).is_file());
}

TEST(FileTree, RefusesClashes) {
  for (const auto& paths : {std::vector<std::string>{"a", "a"}, {"a/b", "a"}, {"x/y", "x/y/z"}}) {
    std::vector<channels::ListedObject> objects;
    for (const std::string& path : paths) objects.push_back(Object(path));
    FileTree::Builder builder;
    builder.AddChannel("train", objects);
    const auto tree = std::move(builder).Build();
    ASSERT_FALSE(tree);
    EXPECT_EQ(tree.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(FileTree, FindsExactlyWhatWasAdded) {
  env::SeededRandom random(7);
  std::map<std::string, std::uint64_t> model;
  const auto component = [&] {
    std::string name(1 + random.Below(3), 'a');
    for (char& c : name) c = "ab.-_\xc3"[random.Below(6)];
    return name == "." || name == ".." ? std::string("dot") : name;
  };
  while (model.size() < 2'000) {
    std::string path = "d" + component();
    for (std::uint64_t depth = random.Below(4); depth > 0; --depth) path += "/d" + component();
    model.emplace(path + "/f" + component(), random.Below(1000));  // no clash: 'd' and 'f'
  }
  std::vector<channels::ListedObject> objects;
  for (const auto& [path, size] : model) objects.push_back(Object(path, size));
  FileTree::Builder builder;
  builder.AddChannel("c", objects);
  const auto tree = std::move(builder).Build();
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(tree->files(), model.size());
  for (const auto& [path, size] : model) {
    const auto node = Walk(*tree, "c/" + path);
    ASSERT_TRUE(node) << path;
    EXPECT_EQ(tree->node(*node).size, size);
    EXPECT_EQ(tree->LocationOf(static_cast<std::uint32_t>(tree->node(*node).file)).key,
              "in/" + path);
    EXPECT_FALSE(Walk(*tree, "c/" + path + "x"));
  }
}

}  // namespace
}  // namespace sabia::fastfile
