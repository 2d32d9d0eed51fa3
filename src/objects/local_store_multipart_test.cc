#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "base/encoding.h"
#include "objects/local_store.h"
#include "objects/testing/store_fixture.h"

namespace sabia::objects {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

class MultipartTest : public testing::StoreFixture {
 protected:
  MultipartTest() { EXPECT_TRUE(store_->CreateBucket("b")); }

  UploadName Begin(const MultipartOptions& options = {}, const std::string& key = "k") {
    const auto id = store_->CreateMultipart("b", key, options);
    EXPECT_TRUE(id);
    return {"b", key, *id};
  }
  PartInfo Part(const UploadName& name, int number, std::string_view data,
                ChecksumAlgorithm algorithm = ChecksumAlgorithm::kCrc32) {
    const auto part = store_->PutPart(name, number, Uploaded(data, {algorithm}));
    EXPECT_TRUE(part) << part.error().message;
    return *part;
  }
  static std::string Big(char c) { return std::string(kPartBytesMin, c); }
};

TEST_F(MultipartTest, JoinsPartsInOrderOfNumbers) {
  const UploadName name = Begin({.metadata = {{"content-type", "x/y"}}});
  const PartInfo last = Part(name, 9, "tail");
  const PartInfo first = Part(name, 2, Big('a'));
  const auto done = store_->CompleteMultipart(name, {first, last});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(Read("b", "k"), Big('a') + "tail");
  EXPECT_EQ(done->size, kPartBytesMin + 4);
  EXPECT_EQ(done->parts, (std::vector<std::uint64_t>{kPartBytesMin, 4}));
  EXPECT_EQ(store_->Head("b", "k")->parts, done->parts);
  EXPECT_EQ(done->metadata.at("content-type"), "x/y");
  auto md5 = NewMd5();
  md5->Update(*HexDecode(first.etag));
  md5->Update(*HexDecode(last.etag));
  EXPECT_EQ(done->etag, HexEncode(md5->Finish()) + "-2");
  EXPECT_EQ(store_->ListParts(name).error().code, ErrorCode::kNotFound);
  while (BlobFiles() != 1) std::this_thread::yield();
}

TEST_F(MultipartTest, ChecksumsAreWholeOrComposite) {
  const std::string all = Big('a') + "tail";
  auto whole = NewHasher(ChecksumAlgorithm::kCrc32c);
  whole->Update(all);
  const MultipartOptions full{.algorithm = ChecksumAlgorithm::kCrc32c, .full_object = true};
  UploadName name = Begin(full);
  auto done = store_->CompleteMultipart(name, {Part(name, 1, Big('a'), ChecksumAlgorithm::kCrc32c),
                                               Part(name, 2, "tail", ChecksumAlgorithm::kCrc32c)});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->checksums.at("crc32c"), Base64Encode(whole->Finish()));

  name = Begin({.algorithm = ChecksumAlgorithm::kSha256});
  const PartInfo a = Part(name, 1, Big('a'), ChecksumAlgorithm::kSha256);
  const PartInfo b = Part(name, 2, "tail", ChecksumAlgorithm::kSha256);
  done = store_->CompleteMultipart(name, {a, b});
  ASSERT_TRUE(done);
  auto composite = NewHasher(ChecksumAlgorithm::kSha256);
  composite->Update(*Base64Decode(a.checksums.at("sha256")));
  composite->Update(*Base64Decode(b.checksums.at("sha256")));
  EXPECT_EQ(done->checksums.at("sha256"), Base64Encode(composite->Finish()) + "-2");
}

TEST_F(MultipartTest, RefusalsNameTheCause) {
  const UploadName name = Begin();
  const PartInfo small = Part(name, 1, "small");
  const PartInfo other = Part(name, 2, "other");
  const auto complete = [&](const std::vector<PartInfo>& parts) {
    const auto done = store_->CompleteMultipart(name, parts);
    EXPECT_FALSE(done);
    return done ? "" : done.error().message;
  };
  EXPECT_THAT(complete({}), StartsWith("InvalidPart"));
  EXPECT_THAT(complete({other, small}), StartsWith("InvalidPartOrder"));
  EXPECT_THAT(complete({small, small}), StartsWith("InvalidPartOrder"));
  EXPECT_THAT(complete({small, other}), StartsWith("EntityTooSmall"));
  PartInfo wrong = small;
  wrong.etag = other.etag;
  EXPECT_THAT(complete({wrong}), HasSubstr("another ETag"));
  wrong = small;
  wrong.checksums["crc32"] = "AAAAAA==";
  EXPECT_THAT(complete({wrong}), HasSubstr("another checksum"));
  wrong = small;
  wrong.number = 3;
  EXPECT_THAT(complete({wrong}), HasSubstr("was not uploaded"));
  EXPECT_TRUE(store_->CompleteMultipart(name, {small})) << "a refusal must not spoil the upload";

  EXPECT_EQ(store_->PutPart(name, 1, Uploaded("late")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store_->PutPart(Begin(), 0, Uploaded("x")).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(store_->PutPart(Begin(), 10'001, Uploaded("x")).error().code,
            ErrorCode::kInvalidArgument);
  UploadName stranger = Begin();
  stranger.key = "another";
  EXPECT_EQ(store_->AbortMultipart(stranger).error().code, ErrorCode::kNotFound);
}

TEST_F(MultipartTest, RepeatingACompletedCallGivesTheObject) {
  const UploadName name = Begin();
  const PartInfo part = Part(name, 1, "x");
  const auto first = store_->CompleteMultipart(name, {part});
  const auto second = store_->CompleteMultipart(name, {part});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->etag, second->etag);
  ASSERT_TRUE(Put("b", "k", "newer"));
  EXPECT_EQ(store_->CompleteMultipart(name, {part}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Read("b", "k"), "newer");
}

TEST_F(MultipartTest, AbortAndDeletedBucketsGiveTheBytesBack) {
  const UploadName aborted = Begin();
  Part(aborted, 1, "x");
  ASSERT_TRUE(store_->AbortMultipart(aborted));
  EXPECT_EQ(store_->AbortMultipart(aborted).error().code, ErrorCode::kNotFound);
  Part(Begin(), 1, "y");
  ASSERT_TRUE(store_->DeleteBucket("b"));
  while (BlobFiles() != 0) std::this_thread::yield();
}

TEST_F(MultipartTest, UploadsAreListedInPages) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const char* key : {"a", "a", "p/1", "p/2", "p/2", "q"}) {
    all.emplace_back(key, Begin({}, key).upload_id);
  }
  std::sort(all.begin(), all.end());
  std::vector<std::pair<std::string, std::string>> seen;
  ListMultipartsOptions options{.limit = 2};
  while (true) {
    const auto page = store_->ListMultiparts("b", options);
    ASSERT_TRUE(page);
    for (const MultipartInfo& upload : page->uploads)
      seen.emplace_back(upload.key, upload.upload_id);
    if (!page->truncated) break;
    options.key_marker = page->uploads.back().key;
    options.upload_id_marker = page->uploads.back().upload_id;
  }
  EXPECT_EQ(seen, all);
  EXPECT_THAT(store_->ListMultiparts("b", {.prefix = "p/"})->uploads, SizeIs(3));
  EXPECT_THAT(store_->ListMultiparts("b", {.key_marker = "p/2"})->uploads, SizeIs(1));
}

TEST_F(MultipartTest, PartsSurviveAReopen) {
  const UploadName name = Begin({.algorithm = ChecksumAlgorithm::kCrc32});
  const PartInfo part = Part(name, 1, "x");
  Reopen();
  const auto parts = store_->ListParts(name);
  ASSERT_TRUE(parts);
  ASSERT_THAT(*parts, SizeIs(1));
  EXPECT_EQ(parts->front().checksums, part.checksums);
  EXPECT_EQ(store_->GetMultipart(name)->options.algorithm, ChecksumAlgorithm::kCrc32);
  EXPECT_TRUE(store_->CompleteMultipart(name, {part}));
}

// Parts that are announced, as the S3 API does it.
class JointTest : public MultipartTest {
 protected:
  std::unique_ptr<Upload> Announced(const UploadName& name, int number, std::string_view data) {
    auto upload = store_->BeginPart(name, number, data.size(), {ChecksumAlgorithm::kCrc32});
    EXPECT_TRUE(upload) << upload.error().message;
    const Status written = (*upload)->Write(data);
    EXPECT_TRUE(written) << written.error().message;
    return std::move(*upload);
  }
  PartInfo Send(const UploadName& name, int number, std::string_view data) {
    const auto part = store_->PutPart(name, number, Announced(name, number, data));
    EXPECT_TRUE(part) << part.error().message;
    return *part;
  }
  // The number of the file, which stays the same when nothing is copied.
  ino_t FileOf(const env::Path& path) {
    struct stat facts {};
    EXPECT_EQ(::stat(path.c_str(), &facts), 0) << path;
    return facts.st_ino;
  }
  ino_t OnlyTemporary() {
    for (const auto& entry : std::filesystem::directory_iterator(paths_.blobs_tmp())) {
      return FileOf(entry.path());
    }
    return 0;
  }
  void ExpectObject(const std::string& data) {
    EXPECT_EQ(Read("b", "k") == data, true);
    const auto info = store_->Head("b", "k");
    ASSERT_TRUE(info);
    EXPECT_EQ(info->size, data.size());
    struct stat facts {};
    ASSERT_EQ(::stat(store_->BlobPath(*info).c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0444U);
    EXPECT_EQ(static_cast<std::uint64_t>(facts.st_size), data.size());
    while (BlobFiles() != 1) std::this_thread::yield();
  }
};

TEST_F(JointTest, PartsInAnyOrderBecomeTheObjectWithoutACopy) {
  const UploadName name = Begin();
  const PartInfo second = Send(name, 2, Big('b'));
  const PartInfo last = Send(name, 3, "tail");
  const PartInfo first = Send(name, 1, Big('a'));
  const ino_t file = OnlyTemporary();
  ASSERT_TRUE(store_->CompleteMultipart(name, {first, second, last}));
  EXPECT_EQ(FileOf(store_->BlobPath(*store_->Head("b", "k"))), file);
  ExpectObject(Big('a') + Big('b') + "tail");
}

TEST_F(JointTest, APartThatIsSentAgainNeverTouchesTheFirst) {
  const UploadName name = Begin();
  const PartInfo old = Send(name, 1, Big('a'));
  const PartInfo last = Send(name, 2, "tail");
  (void)Announced(name, 1, Big('x'));  // cut off
  ASSERT_TRUE(store_->ListParts(name));
  EXPECT_EQ(store_->ListParts(name)->front().etag, old.etag);
  const PartInfo again = Send(name, 1, Big('y'));
  EXPECT_EQ(store_->CompleteMultipart(name, {old, last}).error().code, ErrorCode::kInvalidArgument);
  ASSERT_TRUE(store_->CompleteMultipart(name, {again, last}));
  ExpectObject(Big('y') + "tail");
}

TEST_F(JointTest, APlaceIsFreeAgainWhenItsWriterFails) {
  const UploadName name = Begin();
  (void)Announced(name, 1, Big('x'));
  const PartInfo first = Send(name, 1, Big('a'));
  const ino_t file = OnlyTemporary();
  ASSERT_TRUE(store_->CompleteMultipart(name, {first}));
  EXPECT_EQ(FileOf(store_->BlobPath(*store_->Head("b", "k"))), file);
  ExpectObject(Big('a'));
}

TEST_F(JointTest, OtherSizesAndLeftOutPartsAreJoinedByCopying) {
  UploadName name = Begin();
  const PartInfo tail_first = Send(name, 3, "tail");
  const PartInfo first = Send(name, 1, Big('a'));
  const PartInfo larger = Send(name, 2, Big('b') + "more");
  ASSERT_TRUE(store_->CompleteMultipart(name, {first, larger, tail_first}));
  ExpectObject(Big('a') + Big('b') + "more" + "tail");

  name = Begin();
  const PartInfo one = Send(name, 1, Big('1'));
  (void)Send(name, 2, Big('2'));
  const PartInfo three = Send(name, 3, Big('3'));
  ASSERT_TRUE(store_->CompleteMultipart(name, {one, three}));
  ExpectObject(Big('1') + Big('3'));

  name = Begin();
  const PartInfo only = Send(name, 1, Big('o'));
  (void)Send(name, 2, Big('2'));
  ASSERT_TRUE(store_->CompleteMultipart(name, {only}));
  ExpectObject(Big('o'));
}

TEST_F(JointTest, NoByteGoesBeyondWhatWasAnnounced) {
  const UploadName name = Begin();
  const PartInfo second = Send(name, 2, Big('b'));
  auto first = store_->BeginPart(name, 1, kPartBytesMin, {ChecksumAlgorithm::kCrc32});
  ASSERT_TRUE(first);
  ASSERT_TRUE((*first)->Write(Big('a')));
  EXPECT_EQ((*first)->Write("x").error().code, ErrorCode::kInvalidArgument);
  const auto part = store_->PutPart(name, 1, std::move(*first));
  ASSERT_TRUE(part);
  ASSERT_TRUE(store_->CompleteMultipart(name, {*part, second}));
  ExpectObject(Big('a') + Big('b'));
}

TEST_F(JointTest, AFailedCompletionCanBeRepeated) {
  ASSERT_TRUE(Put("b", "k", "old"));
  const UploadName name = Begin();
  const PartInfo first = Send(name, 1, Big('a'));
  CompleteOptions only_new;
  only_new.target.if_none_match = true;
  EXPECT_EQ(store_->CompleteMultipart(name, {first}, only_new).error().code,
            ErrorCode::kAlreadyExists);
  const PartInfo second = Send(name, 2, Big('b'));
  ASSERT_TRUE(store_->CompleteMultipart(name, {first, second}));
  ExpectObject(Big('a') + Big('b'));
}

TEST_F(JointTest, ARestartInBetweenLosesNoPart) {
  const UploadName name = Begin();
  const PartInfo first = Send(name, 1, Big('a'));
  const PartInfo second = Send(name, 2, Big('b'));
  Reopen();
  const PartInfo last = Send(name, 3, "tail");
  ASSERT_TRUE(store_->CompleteMultipart(name, {first, second, last}));
  ExpectObject(Big('a') + Big('b') + "tail");
}

TEST_F(JointTest, AbortedUploadsLeaveNothing) {
  UploadName name = Begin();
  (void)Send(name, 1, Big('a'));
  auto late = Announced(name, 2, Big('b'));
  ASSERT_TRUE(store_->AbortMultipart(name));
  EXPECT_EQ(store_->PutPart(name, 2, std::move(late)).error().code, ErrorCode::kNotFound);
  name = Begin();
  (void)Send(name, 1, Big('a'));
  ASSERT_TRUE(store_->DeleteBucket("b"));
  while (BlobFiles() != 0) std::this_thread::yield();
}

// While somebody writes a part, the others are joined by copying and his bytes go nowhere.
TEST_F(JointTest, CompletingBesideAWriterIsRight) {
  const UploadName name = Begin();
  const PartInfo first = Send(name, 1, Big('a'));
  auto late = Announced(name, 2, Big('b'));
  ASSERT_TRUE(store_->CompleteMultipart(name, {first}));
  ASSERT_TRUE((*late).size() > 0);
  EXPECT_EQ(store_->PutPart(name, 2, std::move(late)).error().code, ErrorCode::kNotFound);
  ExpectObject(Big('a'));
}

}  // namespace
}  // namespace sabia::objects
