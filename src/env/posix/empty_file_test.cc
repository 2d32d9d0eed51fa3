#include "env/posix/empty_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "env/posix/posix_files.h"
#include "env/testing/temporary_directory.h"

namespace sabia::env {
namespace {

TEST(EmptyFile, IsFilledOnceAndNothingElseIsTouched) {
  const TemporaryDirectory base;
  PosixFiles files;
  const Path path = base.path() / "file";
  const auto fill = [&](std::string_view text) {
    const auto filled = FillEmptyFile(path, text, Durability::kDurable);
    return filled && *filled;
  };
  EXPECT_FALSE(fill("x"));
  EXPECT_FALSE(*files.Exists(path));
  ASSERT_TRUE(files.WriteAtomically(path, "", {.durability = Durability::kVolatile}));
  EXPECT_TRUE(fill("one"));
  EXPECT_FALSE(fill("two"));
  EXPECT_EQ(*files.Read(path, 1 << 10), "one");
  ASSERT_EQ(::truncate(path.c_str(), kEmptyFileMax), 0);
  EXPECT_TRUE(fill("{}"));
  EXPECT_EQ(*files.Read(path, 1 << 10), "{}");
  ASSERT_EQ(::unlink(path.c_str()), 0);
  ASSERT_TRUE(files.WriteAtomically(base.path() / "other", "", {}));
  ASSERT_EQ(::symlink("other", path.c_str()), 0);
  EXPECT_FALSE(fill("through a link"));
  EXPECT_EQ(*files.Read(base.path() / "other", 1 << 10), "");
}

}  // namespace
}  // namespace sabia::env
