// Goal: whatever sequence of calls, the store shows what a std::map would.
// Method: random calls from a printed seed against both, small key space so that calls meet, a
// reopen now and then.
#include <gtest/gtest.h>

#include "base/encoding.h"
#include "env/random.h"
#include "objects/testing/store_fixture.h"

namespace sabia::objects {
namespace {

class ModelTest : public testing::StoreFixture, public ::testing::WithParamInterface<int> {
 protected:
  struct Object {
    std::string data;
    std::string etag;
    Metadata metadata;
  };
  using Bucket = std::map<std::string, Object>;

  ModelTest() : seeded_(static_cast<std::uint64_t>(GetParam())) {
    for (const char* bucket : {"one", "two"}) {
      EXPECT_TRUE(store_->CreateBucket(bucket));
      model_[bucket];
    }
  }

  std::string AnyBucket() { return seeded_.Below(2) == 0 ? "one" : "two"; }
  std::string AnyKey() {
    static constexpr const char* kParts[] = {"a", "b", "/", "//", "..", "é", "+", "\x7F"};
    std::string out;
    do {
      out += kParts[seeded_.Below(std::size(kParts))];
    } while (seeded_.Below(3) != 0 && out.size() < 10);
    return out;
  }
  std::string AnyData() {
    std::string out(seeded_.Below(200), '\0');
    seeded_.Fill({reinterpret_cast<unsigned char*>(out.data()), out.size()});
    return out;
  }

  void StepPut() {
    const std::string bucket = AnyBucket(), key = AnyKey(), data = AnyData();
    PutOptions options{.metadata = {{"x-amz-meta-n", std::to_string(seeded_.Below(10))}}};
    options.if_none_match = seeded_.Below(4) == 0;
    const auto put = Put(bucket, key, data, options);
    if (options.if_none_match && model_[bucket].contains(key)) {
      EXPECT_EQ(put.error().code, ErrorCode::kAlreadyExists);
      return;
    }
    ASSERT_TRUE(put) << put.error().message;
    auto md5 = NewMd5();
    md5->Update(data);
    EXPECT_EQ(put->etag, HexEncode(md5->Finish()));
    model_[bucket][key] = {data, put->etag, options.metadata};
  }

  void StepGet() {
    const std::string bucket = AnyBucket(), key = AnyKey();
    const auto got = store_->Get(bucket, key);
    const auto expected = model_[bucket].find(key);
    ASSERT_EQ(got.has_value(), expected != model_[bucket].end()) << key;
    if (!got) return;
    EXPECT_EQ(Content(got->fd.get()), expected->second.data);
    EXPECT_EQ(got->info.etag, expected->second.etag);
    EXPECT_EQ(got->info.metadata, expected->second.metadata);
    EXPECT_EQ(got->info.size, expected->second.data.size());
  }

  void StepDelete() {
    const std::string bucket = AnyBucket();
    std::vector<std::string> keys;
    for (std::uint64_t n = seeded_.Below(4); n > 0; --n) keys.push_back(AnyKey());
    ASSERT_TRUE(store_->DeleteMany(bucket, keys));
    for (const std::string& key : keys) model_[bucket].erase(key);
  }

  void StepCopy() {
    const ObjectName from{AnyBucket(), AnyKey()}, to{AnyBucket(), AnyKey()};
    const auto copied = store_->Copy(from, to, std::nullopt);
    const auto source = model_[from.bucket].find(from.key);
    ASSERT_EQ(copied.has_value(), source != model_[from.bucket].end());
    if (copied) model_[to.bucket][to.key] = Object(source->second);
  }

  void StepMultipart() {
    const std::string bucket = AnyBucket(), key = AnyKey(), data = AnyData();
    const auto id = store_->CreateMultipart(bucket, key, {});
    ASSERT_TRUE(id);
    const UploadName name{bucket, key, *id};
    ASSERT_TRUE(store_->PutPart(name, 7, Uploaded("overwritten")));
    const auto part = store_->PutPart(name, 7, Uploaded(data));
    ASSERT_TRUE(part);
    if (seeded_.Below(3) == 0) {
      ASSERT_TRUE(store_->AbortMultipart(name));
      return;
    }
    const auto done = store_->CompleteMultipart(name, {*part});
    ASSERT_TRUE(done) << done.error().message;
    model_[bucket][key] = {data, done->etag, {}};
  }

  // What S3's rules say, by looking at every key.
  static std::vector<std::string> Expected(const Bucket& bucket, const ListOptions& options) {
    std::vector<std::string> out;
    for (const auto& [key, object] : bucket) {
      if (!key.starts_with(options.prefix)) continue;
      std::string shown = key;
      if (!options.delimiter.empty()) {
        const std::size_t at = key.find(options.delimiter, options.prefix.size());
        if (at != std::string::npos) shown = "P:" + key.substr(0, at + options.delimiter.size());
      }
      const std::string_view bare = std::string_view(shown).substr(shown.starts_with("P:") ? 2 : 0);
      if (bare <= options.start_after) continue;
      if (std::find(out.begin(), out.end(), shown) == out.end()) out.push_back(shown);
    }
    return out;
  }

  void StepList() {
    const std::string bucket = AnyBucket();
    ListOptions options{.limit = 1 + seeded_.Below(5)};
    if (seeded_.Below(2) == 0) options.prefix = AnyKey();
    if (seeded_.Below(2) == 0) options.delimiter = seeded_.Below(4) == 0 ? "//" : "/";
    if (seeded_.Below(2) == 0) options.start_after = AnyKey();
    const std::vector<std::string> expected = Expected(model_[bucket], options);
    std::vector<std::string> seen;
    while (true) {
      const auto page = store_->List(bucket, options);
      ASSERT_TRUE(page);
      for (const ObjectInfo& o : page->objects) {
        seen.push_back(o.key);
        EXPECT_EQ(o.etag, model_[bucket].at(o.key).etag);
      }
      for (const std::string& p : page->common_prefixes) seen.push_back("P:" + p);
      ASSERT_LE(page->objects.size() + page->common_prefixes.size(), options.limit);
      if (!page->truncated) break;
      options.start_after = page->next_start_after;
    }
    std::vector<std::string> sorted = expected;
    std::sort(sorted.begin(), sorted.end());
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, sorted) << "prefix '" << options.prefix << "'";
  }

  env::SeededRandom seeded_;
  std::map<std::string, Bucket> model_;
};

TEST_P(ModelTest, BehavesAsAMap) {
  SCOPED_TRACE(fmt::format("seed {}", GetParam()));
  for (int step = 0; step < 400 && !HasFailure(); ++step) {
    switch (seeded_.Below(9)) {
      case 0:
      case 1:
      case 2:
        StepPut();
        break;
      case 3:
        StepGet();
        break;
      case 4:
        StepDelete();
        break;
      case 5:
        StepCopy();
        break;
      case 6:
        StepMultipart();
        break;
      default:
        StepList();
        break;
    }
    if (seeded_.Below(100) == 0) Reopen();
  }
  std::size_t objects = 0;
  for (const auto& [name, bucket] : model_) {
    for (const auto& [key, object] : bucket) EXPECT_EQ(Read(name, key), object.data);
    objects += bucket.size();
  }
  while (BlobFiles() != objects && !HasFailure()) std::this_thread::yield();  // the reaper
  EXPECT_EQ(TemporaryFiles(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ModelTest, ::testing::Range(1, 7));

}  // namespace
}  // namespace sabia::objects
