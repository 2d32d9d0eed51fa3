#include "channels/object_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "env/posix/posix_files.h"
#include "env/testing/temporary_directory.h"

namespace sabia::channels {
namespace {

class LocalObjects : public testing::Test {
 protected:
  ListedObject Object(const std::string& content) {
    const env::Path blob = directory_.path() / "blob";
    EXPECT_TRUE(files_.WriteAtomically(blob, content, {.durability = env::Durability::kVolatile}));
    return {
        .path = "a/b", .size = content.size(), .blob = blob.native(), .bucket = "k", .key = "p/b"};
  }
  std::string ReadAll(ObjectStream& stream, std::size_t step) {
    std::string out;
    std::string piece(step, '\0');
    while (true) {
      const auto n = stream.Read(piece);
      if (!n) return n.error().message;
      if (*n == 0) return out;
      out.append(piece, 0, *n);
    }
  }

  env::TemporaryDirectory directory_;
  env::PosixFiles files_;
  std::unique_ptr<ObjectReader> reader_ = MakeLocalObjectReader();
};

TEST_F(LocalObjects, StreamsTheWholeAndRanges) {
  const ListedObject object = Object("0123456789");
  for (const std::size_t step : {1u, 3u, 100u}) {
    auto whole = reader_->Open(object);
    ASSERT_TRUE(whole) << whole.error().message;
    EXPECT_EQ((*whole)->size(), 10u);
    EXPECT_EQ(ReadAll(**whole, step), "0123456789");
    auto part = reader_->Open(object, {.offset = 2, .length = 5});
    ASSERT_TRUE(part) << part.error().message;
    EXPECT_EQ((*part)->size(), 5u);
    EXPECT_EQ(ReadAll(**part, step), "23456");
    auto tail = reader_->Open(object, {.offset = 7});
    ASSERT_TRUE(tail) << tail.error().message;
    EXPECT_EQ(ReadAll(**tail, step), "789");
  }
  auto nothing = reader_->Open(object, {.offset = 10});
  ASSERT_TRUE(nothing) << nothing.error().message;
  EXPECT_EQ(ReadAll(**nothing, 1), "");
}

TEST_F(LocalObjects, ShowsTheFileItReads) {
  auto stream = reader_->Open(Object("0123456789"), {.offset = 2, .length = 5});
  ASSERT_TRUE(stream) << stream.error().message;
  const auto file = (*stream)->File();
  ASSERT_TRUE(file);
  std::string bytes(file->length, '\0');
  EXPECT_EQ(::pread(file->fd, bytes.data(), bytes.size(), static_cast<off_t>(file->offset)), 5);
  EXPECT_EQ(bytes, "23456");
}

TEST_F(LocalObjects, TellsWhatIsWrongWithAnObject) {
  ListedObject object = Object("0123456789");
  const auto range = reader_->Open(object, {.offset = 8, .length = 3});
  ASSERT_FALSE(range);
  EXPECT_EQ(range.error().code, ErrorCode::kInvalidArgument);

  object.size = 9;
  const auto other = reader_->Open(object);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kConflict);
  EXPECT_EQ(other.error().message, "'s3://k/p/b' has 10 bytes now, and had 9 when it was listed");

  object.blob += "-gone";
  const auto gone = reader_->Open(object);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(gone.error().message, "'s3://k/p/b': it was deleted or replaced");
}

TEST_F(LocalObjects, AFileThatIsCutMeanwhileIsAnErrorAndNoEnd) {
  const ListedObject object = Object("0123456789");
  auto stream = reader_->Open(object);
  ASSERT_TRUE(stream);
  ASSERT_EQ(::truncate(object.blob.c_str(), 4), 0);
  EXPECT_EQ(ReadAll(**stream, 100), "failed to read 's3://k/p/b': its file ends early");
}

}  // namespace
}  // namespace sabia::channels
