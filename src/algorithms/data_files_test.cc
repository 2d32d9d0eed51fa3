#include "algorithms/data_files.h"

#include <gtest/gtest.h>

#include "algorithms/testing/container_root.h"

namespace sabia::algorithms {
namespace {

std::vector<std::string> Names(const std::vector<DataFile>& files) {
  std::vector<std::string> names;
  for (const DataFile& file : files) names.push_back(file.name);
  return names;
}

TEST(DataFiles, SkipsHiddenOnesAndSorts) {
  ContainerRoot root;
  for (const char* name : {"b.csv", "a.csv", ".hidden", "_SUCCESS", "2024/c.csv", "2024/01/d.csv",
                           ".git/e", "_tmp/f"}) {
    root.Write(std::string("train/") + name, "1,2\n");
  }
  const auto files = ListDataFiles(root.path() / "train");
  ASSERT_TRUE(files);
  EXPECT_EQ(Names(*files),
            (std::vector<std::string>{"2024/01/d.csv", "2024/c.csv", "a.csv", "b.csv"}));
  EXPECT_EQ((*files)[2].size, 4u);
}

TEST(DataFiles, RefusesDeepFolders) {
  ContainerRoot root;
  root.Write("train/1/2/3/a.csv", "1,2\n");
  EXPECT_EQ(ListDataFiles(root.path() / "train").error().message,
            "Folder depth exceed the limit: 3.");
}

TEST(DataFiles, AnAbsentChannelHasNone) {
  ContainerRoot root;
  EXPECT_TRUE(ListDataFiles(root.path() / "train")->empty());
}

TEST(DataFiles, SuspectsFilesOfEqualNameAndSize) {
  const std::vector<DataFile> train = {{"", "a", 10}, {"", "b", 20}};
  const std::vector<DataFile> validation = {{"", "a", 11}, {"", "b", 20}, {"", "c", 10}};
  EXPECT_EQ(SuspectedDuplicates(train, validation), std::vector<std::string>{"b"});
}

TEST(FileBytes, MapsWholeFiles) {
  ContainerRoot root;
  root.Write("a", "hello");
  root.Write("empty", "");
  EXPECT_EQ(FileBytes::Open(root.path() / "a")->view(), "hello");
  EXPECT_EQ(FileBytes::Open(root.path() / "empty")->view(), "");
  EXPECT_EQ(FileBytes::Open(root.path() / "none").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace sabia::algorithms
