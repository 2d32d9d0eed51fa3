// Goal: fsck finds every kind of damage, changes nothing unless asked, and its repair loses no
// bytes. Method: a store is filled and closed, one thing is broken on the disk or in the index, and
// the findings are compared.
#include "objects/fsck.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "base/json.h"
#include "objects/sealed_upload.h"
#include "objects/testing/store_fixture.h"
#include "store/connection.h"

namespace sabia::objects {
namespace {

class FsckTest : public testing::StoreFixture {
 protected:
  FsckTest() {
    EXPECT_TRUE(store_->CreateBucket("b"));
    EXPECT_TRUE(Put("b", "one", "the first object"));
    EXPECT_TRUE(Put("b", "two", std::string(3'000'000, 'x')));
  }

  FsckReport Check(bool repair = false) {
    store_.reset();
    FsckProgress progress;
    auto report = Fsck(
        {.paths = paths_, .keys = keys_, .repair = repair, .threads = 3, .progress = &progress},
        clock_, random_);
    EXPECT_TRUE(report) << report.error().message;
    if (!report) return {};
    EXPECT_EQ(progress.rows, progress.rows_in_all);
    return std::move(*report);
  }

  env::PosixFiles files_;
  KeyRing keys_{{KeyDirectory(paths_), "000000000000", "us-west-2"}, files_, clock_, random_};

  static std::string Kinds(const FsckReport& report) {
    std::string out;
    for (const Finding& finding : report.findings) {
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", Name(finding.kind), finding.row.key);
    }
    return out;
  }

  // Everything below the home but what SQLite makes to read: a shared map, and an empty log.
  std::map<std::string, std::string> Snapshot() const {
    std::map<std::string, std::string> out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(paths_.home())) {
      const std::string name = entry.path().native();
      if (!entry.is_regular_file() || name.ends_with("-shm")) continue;
      if (name.ends_with("-wal") && entry.file_size() == 0) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      out[name] = std::string(std::istreambuf_iterator<char>(file), {});
    }
    return out;
  }

  env::Path PathOf(std::string_view key) {
    const auto info = store_->Head("b", key);
    EXPECT_TRUE(info) << key;
    return store_->BlobPath(*info);
  }

  static void Overwrite(const env::Path& path, std::size_t offset, std::string_view bytes) {
    ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file << bytes;
    ASSERT_TRUE(file.good());
  }

  void Sql(const std::string& sql) {
    store_.reset();
    auto connection = store::Connection::Open({.path = paths_.objects_db()});
    ASSERT_TRUE(connection);
    const Status done = (*connection)->Execute(sql);
    ASSERT_TRUE(done) << done.error().message;
  }

  static std::string ReportOf(const FsckReport& report) {
    std::ifstream file(report.lost_and_found + "/report.jsonl");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  static std::size_t FilesIn(const std::string& directory) {
    std::size_t out = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      if (entry.path().filename() != "report.jsonl") ++out;
    }
    return out;
  }
};

TEST_F(FsckTest, AHealthyStoreHasNoFindings) {
  ASSERT_TRUE(store_->SetVersioning("b", Versioning::kEnabled));
  ASSERT_TRUE(Put("b", "one", "the second version"));
  ASSERT_TRUE(store_->Delete("b", "two"));
  const auto id = store_->CreateMultipart("b", "parts", {});
  ASSERT_TRUE(id);
  ASSERT_TRUE(store_->PutPart({"b", "parts", *id}, 1, Uploaded(std::string(6 << 20, 'p'))));
  const auto done =
      store_->CreateMultipart("b", "joined", {.algorithm = ChecksumAlgorithm::kSha256});
  std::vector<PartInfo> parts;
  for (int i = 1; i <= 3; ++i) {
    parts.push_back(*store_->PutPart(
        {"b", "joined", *done}, i,
        Uploaded(std::string(5 << 20, static_cast<char>('0' + i)), {ChecksumAlgorithm::kSha256})));
  }
  ASSERT_TRUE(store_->CompleteMultipart({"b", "joined", *done}, parts));
  ASSERT_TRUE(store_->Copy({"b", "joined"}, {"b", "copied"}));
  const FsckReport report = Check();
  EXPECT_EQ(Kinds(report), "");
  EXPECT_EQ(report.objects, 3U);   // one, joined, copied
  EXPECT_EQ(report.versions, 3U);  // the first "one", "two" and its marker
  EXPECT_EQ(report.parts, 1U);
  EXPECT_EQ(report.bytes, 16U + 18 + 3'000'000 + (6U << 20) + 2 * (15U << 20));
}

TEST_F(FsckTest, CheckingChangesNothing) {
  const env::Path blob = PathOf("one");
  store_.reset();
  Overwrite(blob, 3, "X");
  std::ofstream(paths_.blobs() / "stranger") << "?";
  const auto before = Snapshot();
  EXPECT_EQ(Kinds(Check()), "damaged one, stranger ");
  EXPECT_TRUE(Snapshot() == before);
}

TEST_F(FsckTest, AFlippedBitIsFoundAndItsObjectKeptAside) {
  const env::Path blob = PathOf("two");
  store_.reset();
  Overwrite(blob, 1'234'567, "y");
  const FsckReport report = Check(true);
  EXPECT_EQ(Kinds(report), "damaged two");
  EXPECT_NE(report.findings[0].detail.find("has the ETag"), std::string::npos);
  EXPECT_NE(report.findings[0].detail.find("crc32"), std::string::npos);
  EXPECT_EQ(report.Left(), 0U);
  const std::string kept = report.lost_and_found + "/" + report.findings[0].blob_id;
  EXPECT_EQ(std::filesystem::file_size(kept), 3'000'000U);
  const auto line = ParseJsonObject(ReportOf(report));
  ASSERT_TRUE(line) << ReportOf(report);
  EXPECT_EQ(GetString(*line, "Key"), "two");
  EXPECT_EQ(GetString(line->at("Row").as_object(), "size"), "3000000");
  Reopen();
  EXPECT_EQ(Read("b", "one"), "the first object");
  EXPECT_NE(Read("b", "two").find("key"), std::string::npos);
  EXPECT_EQ(Kinds(Check()), "");
}

TEST_F(FsckTest, SizesAreCheckedWithoutReadingToo) {
  const env::Path blob = PathOf("two");
  store_.reset();
  ASSERT_EQ(::truncate(blob.c_str(), 2'999'999), 0);
  auto report = Fsck({.paths = paths_, .keys = keys_, .contents = false}, clock_, random_);
  ASSERT_TRUE(report);
  EXPECT_EQ(Kinds(*report), "wrong-size two");
  EXPECT_EQ(report->bytes, 0U);
}

TEST_F(FsckTest, ARowWithoutFileLeavesTheIndex) {
  std::filesystem::remove(PathOf("one"));
  const FsckReport report = Check(true);
  EXPECT_EQ(Kinds(report), "missing one");
  EXPECT_EQ(FilesIn(report.lost_and_found), 0U);
  EXPECT_EQ(Kinds(Check()), "");
}

TEST_F(FsckTest, TheVersionBeforeADamagedOneBecomesCurrent) {
  ASSERT_TRUE(store_->SetVersioning("b", Versioning::kEnabled));
  ASSERT_TRUE(Put("b", "one", "newer"));
  Overwrite(PathOf("one"), 0, "N");
  EXPECT_EQ(Kinds(Check(true)), "damaged one");
  Reopen();
  EXPECT_EQ(Read("b", "one"), "the first object");
}

TEST_F(FsckTest, OlderVersionsAndPartsAreChecked) {
  ASSERT_TRUE(store_->SetVersioning("b", Versioning::kEnabled));
  Overwrite(PathOf("one"), 0, "T");
  ASSERT_TRUE(Put("b", "one", "newer"));
  const auto id = store_->CreateMultipart("b", "parts", {});
  ASSERT_TRUE(store_->PutPart({"b", "parts", *id}, 7, Uploaded("of a part")));
  std::string part;
  for (const auto& [path, content] : Snapshot()) {
    if (content == "of a part") part = path;
  }
  Overwrite(part, 0, "O");
  const FsckReport report = Check(true);
  EXPECT_EQ(Kinds(report), "damaged one, damaged parts");
  EXPECT_EQ(report.findings[1].row.part, 7);
  EXPECT_EQ(report.findings[1].row.upload_id, *id);
  EXPECT_EQ(FilesIn(report.lost_and_found), 2U);
  Reopen();
  EXPECT_EQ(Read("b", "one"), "newer");
  EXPECT_TRUE(store_->ListParts({"b", "parts", *id})->empty());
  EXPECT_EQ(Kinds(Check()), "");
}

TEST_F(FsckTest, FilesThatNobodyKnowsAreMovedNotDeleted) {
  const std::string id(32, 'a');
  std::filesystem::create_directories(paths_.blobs() / "aa");
  std::ofstream(paths_.blob(id)) << "somebody's bytes";
  std::ofstream(paths_.blobs() / "notes.txt") << "hello";
  const FsckReport report = Check(true);
  EXPECT_EQ(Kinds(report), "orphan , stranger ");
  EXPECT_EQ(report.Left(), 0U);
  EXPECT_TRUE(std::filesystem::exists(report.lost_and_found + "/" + id));
  EXPECT_TRUE(std::filesystem::exists(report.lost_and_found + "/notes.txt"));
  EXPECT_EQ(Kinds(Check()), "");
}

TEST_F(FsckTest, RowsOfNoBucketAndBadRowsGo) {
  Sql("UPDATE objects SET bucket = 99 WHERE key = CAST('one' AS BLOB); "
      "UPDATE objects SET checksums = 'nonsense', blob = '../../etc/passwd' "
      "WHERE key = CAST('two' AS BLOB)");
  const FsckReport report = Check(true);
  EXPECT_EQ(Kinds(report), "bad-row two, stray-row one, orphan ");
  EXPECT_EQ(report.Left(), 0U);
  Reopen();
  EXPECT_TRUE(store_->List("b", {})->objects.empty());
  EXPECT_EQ(Kinds(Check()), "");
}

TEST_F(FsckTest, AFileOfTwoRowsBecomesTwo) {
  Sql("INSERT INTO objects SELECT bucket, CAST('twin' AS BLOB), size, etag, modified, blob, "
      "checksums, metadata, parts, origin, version, seq, class, tags, envelope, part_checksums "
      "FROM objects WHERE key = CAST('one' AS BLOB)");
  EXPECT_EQ(Kinds(Check(true)), "shared twin");
  Reopen();
  ASSERT_TRUE(store_->Delete("b", "one"));
  EXPECT_EQ(Read("b", "twin"), "the first object");
}

TEST_F(FsckTest, ALiveFileIsTakenOffTheListOfGarbage) {
  Sql("INSERT INTO garbage SELECT blob FROM objects WHERE key = CAST('one' AS BLOB)");
  EXPECT_EQ(Kinds(Check(true)), "condemned one");
  Reopen();
  Reopen();
  EXPECT_EQ(Read("b", "one"), "the first object");
}

TEST_F(FsckTest, ADamagedIndexIsNotTrustedWithRepairs) {
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(Put("b", fmt::format("many/{}", i), "x"));
  store_.reset();
  std::string db;
  {
    std::ifstream file(paths_.objects_db(), std::ios::binary);
    db.assign(std::istreambuf_iterator<char>(file), {});
  }
  ASSERT_GT(db.size(), 40'960U);
  // A page in the middle of the table of objects.
  const std::size_t at = db.find("many/250") / 4096 * 4096;
  Overwrite(paths_.objects_db(), at, std::string(64, '\x7f'));
  const auto report = Fsck({.paths = paths_, .keys = keys_, .repair = true}, clock_, random_);
  EXPECT_FALSE(report);
  EXPECT_FALSE(std::filesystem::exists(paths_.lost_and_found()));
}

TEST_F(FsckTest, FilesWithoutAnIndexAreAnErrorNotOrphans) {
  store_.reset();
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::filesystem::remove(paths_.objects_db().native() + suffix);
  }
  const auto report = Fsck({.paths = paths_, .keys = keys_, .repair = true}, clock_, random_);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kCorrupt);
}

TEST_F(FsckTest, PartsInOneFileAreCheckedEachByItself) {
  const auto id = store_->CreateMultipart("b", "joint", {});
  ASSERT_TRUE(id);
  const std::string part(5 << 20, 'j');
  for (const int number : {1, 2, 3}) {
    auto upload =
        store_->BeginPart({"b", "joint", *id}, number, part.size(), {ChecksumAlgorithm::kCrc32});
    ASSERT_TRUE(upload);
    ASSERT_TRUE((*upload)->Write(part));
    ASSERT_TRUE(store_->PutPart({"b", "joint", *id}, number, std::move(*upload)));
  }
  const FsckReport healthy = Check();
  EXPECT_EQ(Kinds(healthy), "");
  EXPECT_EQ(healthy.parts, 3U);
  env::Path joint;
  for (const auto& entry : std::filesystem::directory_iterator(paths_.blobs_tmp())) joint = entry;
  Overwrite(joint, (5 << 20) + 1234, "J");
  const FsckReport report = Check(true);
  EXPECT_EQ(Kinds(report), "damaged joint");
  EXPECT_EQ(report.findings[0].row.part, 2);
  Reopen();
  const auto left = store_->ListParts({"b", "joint", *id});
  ASSERT_EQ(left->size(), 2U);
  EXPECT_EQ(Kinds(Check()), "");
}

TEST_F(FsckTest, BytesInTheIndexStandForAFileThatIsNotSettled) {
  const env::Path blob = PathOf("one");
  Sql(fmt::format("INSERT INTO fresh (blob, data) VALUES ('{}', CAST('the first object' AS BLOB))",
                  blob.filename().native()));
  std::filesystem::remove(blob);
  EXPECT_EQ(Kinds(Check(true)), "");
  Reopen();
  EXPECT_EQ(Read("b", "one"), "the first object");
  Sql(fmt::format("INSERT INTO fresh (blob, data) VALUES ('{}', CAST('the wurst object' AS BLOB))",
                  blob.filename().native()));
  EXPECT_EQ(Kinds(Check()), "damaged one");
}

TEST_F(FsckTest, SealedObjectsAreOpenedAndChecked) {
  for (const char* algorithm : {"AES256", "aws:kms"}) {
    const std::string bucket_key = fmt::format("sealed {}", algorithm);
    const auto key = store_->keys().NewDataKey({algorithm, "", ""});
    ASSERT_TRUE(key);
    UploadSeal seal{key->key, key->envelope, algorithm == std::string("aws:kms"), 0};
    const auto upload = [&](std::string_view data, int part) {
      seal.part_number = part;
      auto out = store_->BeginSealedUpload(seal, {ChecksumAlgorithm::kCrc32});
      EXPECT_TRUE((*out)->Write(data));
      return std::move(*out);
    };
    ASSERT_TRUE(store_->Put("b", bucket_key, upload(std::string(100'000, 'p'), 0), {}));
    ASSERT_TRUE(store_->Put("b", bucket_key + " empty", upload("", 0), {}));
    const auto id =
        store_->CreateMultipart("b", bucket_key + " parts", {.envelope = key->envelope});
    std::vector<PartInfo> parts;
    for (const int number : {2, 5}) {
      parts.push_back(*store_->PutPart({"b", bucket_key + " parts", *id}, number,
                                       upload(std::string(5 << 20, 'q'), number)));
    }
    ASSERT_TRUE(store_->CompleteMultipart({"b", bucket_key + " parts", *id}, parts));
    const auto begun =
        store_->CreateMultipart("b", bucket_key + " begun", {.envelope = key->envelope});
    ASSERT_TRUE(store_->PutPart({"b", bucket_key + " begun", *begun}, 1, upload("part", 1)));
  }
  EXPECT_EQ(Kinds(Check()), "");
  Reopen();
  Overwrite(PathOf("sealed AES256"), 70'000, "!");
  Overwrite(PathOf("sealed aws:kms parts"), 6'000'000, "!");
  EXPECT_EQ(Kinds(Check(true)), "damaged sealed AES256, damaged sealed aws:kms parts");
  Reopen();
  store_.reset();
  std::filesystem::remove_all(KeyDirectory(paths_));
  KeyRing empty({KeyDirectory(paths_), "000000000000", "us-west-2"}, files_, clock_, random_);
  const auto checked = Fsck({.paths = paths_, .keys = empty, .repair = true}, clock_, random_);
  ASSERT_TRUE(checked);
  const FsckReport& report = *checked;
  EXPECT_EQ(report.findings.front().kind, FindingKind::kUnreadable);
  EXPECT_EQ(report.findings.front().repair, "") << "a key may come back from a backup";
}

// What SIGKILL leaves: uploads that were begun, and perhaps a file that was not moved.
TEST_F(FsckTest, LeftOversOfAKilledProcessAreHarmless) {
  store_.reset();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    env::PosixRandom random;
    auto store = ObjectStore::Open({.paths = paths_}, clock_, random);
    if (!store) ::_exit(1);
    auto put = (*store)->BeginUpload();
    if (!put || !(*put)->Write("acknowledged") ||
        !(*store)->Put("b", "three", std::move(*put), {})) {
      ::_exit(1);
    }
    auto upload = (*store)->BeginUpload();
    if (!upload || !(*upload)->Write(std::string(100'000, 'n'))) ::_exit(1);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  FsckReport report = Check();
  EXPECT_EQ(Kinds(report), "left-over ");
  EXPECT_EQ(report.Problems(), 0U);
  report = Check(true);
  EXPECT_EQ(report.lost_and_found, "");
  EXPECT_EQ(Kinds(Check()), "");
  Reopen();
  EXPECT_EQ(Read("b", "three"), "acknowledged");
}

TEST_F(FsckTest, ACommittedFileAmongTheUploadsIsMovedToItsPlace) {
  const env::Path blob = PathOf("one");
  store_.reset();
  std::filesystem::rename(blob, paths_.blobs_tmp() / blob.filename());
  FsckReport report = Check();
  EXPECT_EQ(Kinds(report), "not-moved one");
  EXPECT_EQ(report.Problems(), 0U);
  EXPECT_EQ(Kinds(Check(true)), "not-moved one");
  EXPECT_TRUE(std::filesystem::exists(blob));
  EXPECT_EQ(Kinds(Check()), "");
}

}  // namespace
}  // namespace sabia::objects
