// Goal: whatever sequence of calls, the store shows what a map from keys to lists of versions
// would. Method: random calls from a printed seed against both, small key space so that calls meet,
// versioning turned on and suspended now and then, a reopen now and then.
#include <gtest/gtest.h>

#include <deque>

#include "base/encoding.h"
#include "env/random.h"
#include "objects/testing/store_fixture.h"

namespace sabia::objects {
namespace {

class ModelTest : public testing::StoreFixture, public ::testing::WithParamInterface<int> {
 protected:
  struct Version {
    std::string id;  // "" for the null version
    bool marker = false;
    std::string data = {};
    std::string etag = {};
    Metadata metadata = {};
    Tags tags = {};
  };
  using Versions = std::deque<Version>;  // the newest first
  struct Bucket {
    Versioning versioning = Versioning::kOff;
    std::map<std::string, Versions> keys = {};  // none is empty

    const Version* Current(const std::string& key) const {
      const auto found = keys.find(key);
      if (found == keys.end() || found->second.front().marker) return nullptr;
      return &found->second.front();
    }
    void RemoveNull(const std::string& key) {
      std::erase_if(keys[key], [](const Version& v) { return v.id.empty(); });
    }
    void Add(const std::string& key, Version version) {
      if (versioning != Versioning::kEnabled) RemoveNull(key);
      keys[key].push_front(std::move(version));
    }
  };

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
  // A version that is there, one that is not, the null version, or none in particular.
  VersionChoice AnyVersion(const std::string& bucket, const std::string& key) {
    const auto found = model_[bucket].keys.find(key);
    switch (seeded_.Below(4)) {
      case 0:
        return "";
      case 1:
        return std::string(32, 'a');
      case 2:
        return std::nullopt;
      default:
        if (found == model_[bucket].keys.end()) return std::nullopt;
        return found->second[seeded_.Below(found->second.size())].id;
    }
  }

  void Check(const ObjectInfo& info, const Version& expected) {
    EXPECT_EQ(info.version_id, expected.id);
    EXPECT_EQ(info.delete_marker, expected.marker);
    EXPECT_EQ(info.etag, expected.etag);
    EXPECT_EQ(info.metadata, expected.metadata);
    EXPECT_EQ(info.tags, expected.tags);
    EXPECT_EQ(info.size, expected.data.size());
  }

  // Ids follow the bucket's state.
  void CheckId(const std::string& id, Versioning versioning) {
    EXPECT_EQ(id.empty(), versioning != Versioning::kEnabled);
  }

  void StepVersioning() {
    const std::string bucket = AnyBucket();
    const auto wanted = seeded_.Below(2) == 0 ? Versioning::kEnabled : Versioning::kSuspended;
    ASSERT_TRUE(store_->SetVersioning(bucket, wanted));
    model_[bucket].versioning = wanted;
  }

  void StepPut() {
    const std::string name = AnyBucket(), key = AnyKey(), data = AnyData();
    Bucket& bucket = model_[name];
    PutOptions options{.metadata = {{"x-amz-meta-n", std::to_string(seeded_.Below(10))}}};
    if (seeded_.Below(3) == 0) options.tags = {{"t", "1"}};
    options.if_none_match = seeded_.Below(4) == 0;
    const auto put = Put(name, key, data, options);
    if (options.if_none_match && bucket.Current(key) != nullptr) {
      EXPECT_EQ(put.error().code, ErrorCode::kAlreadyExists);
      return;
    }
    ASSERT_TRUE(put) << put.error().message;
    auto md5 = NewMd5();
    md5->Update(data);
    EXPECT_EQ(put->etag, HexEncode(md5->Finish()));
    CheckId(put->version_id, bucket.versioning);
    bucket.Add(key, {put->version_id, false, data, put->etag, options.metadata, options.tags});
  }

  void StepGet() {
    const std::string bucket = AnyBucket(), key = AnyKey();
    const VersionChoice choice = AnyVersion(bucket, key);
    const auto got = store_->Get(bucket, key, choice);
    const Version* expected = nullptr;
    if (!choice) expected = model_[bucket].Current(key);
    const auto known = model_[bucket].keys.find(key);
    if (choice && known != model_[bucket].keys.end()) {
      for (const Version& version : known->second) {
        if (version.id == *choice) expected = &version;
      }
    }
    ASSERT_EQ(got.has_value(), expected != nullptr) << key;
    if (!got) return;
    Check(got->info, *expected);
    EXPECT_EQ(expected->marker ? "" : Content(got->fd.get()), expected->data);
    const auto marker = store_->NewestMarker(bucket, key);
    ASSERT_TRUE(marker);
    EXPECT_EQ(marker->has_value(), known->second.front().marker);
  }

  void StepTags() {
    const std::string bucket = AnyBucket(), key = AnyKey();
    const VersionChoice choice = AnyVersion(bucket, key);
    const Tags tags = {{"n", std::to_string(seeded_.Below(10))}};
    const auto set = store_->SetTags({bucket, key, choice}, tags);
    if (!set || set->delete_marker) return;
    for (Version& version : model_[bucket].keys.at(key)) {
      if (version.id == set->version_id) version.tags = tags;
    }
  }

  // What a delete does to the model; the id of a marker is not known before.
  Deleted DeleteInModel(Bucket& bucket, const std::string& key, const VersionChoice& choice) {
    if (!choice) {
      if (bucket.versioning == Versioning::kOff) {
        bucket.keys.erase(key);
        return {};
      }
      bucket.Add(key, {"?", true});
      return {true, "?"};
    }
    Deleted out{false, *choice};
    const auto known = bucket.keys.find(key);
    if (known == bucket.keys.end()) return out;
    std::erase_if(known->second, [&](const Version& version) {
      if (version.id == *choice && version.marker) out.marker = true;
      return version.id == *choice;
    });
    if (known->second.empty()) bucket.keys.erase(known);
    return out;
  }

  void StepDelete() {
    const std::string name = AnyBucket();
    Bucket& bucket = model_[name];
    std::vector<DeleteRequest> requests;
    for (std::uint64_t n = seeded_.Below(4); n > 0; --n) {
      DeleteRequest& request = requests.emplace_back();
      request.key = AnyKey();
      request.options.version = AnyVersion(name, request.key);
    }
    const auto deleted = store_->DeleteMany(name, requests);
    ASSERT_TRUE(deleted);
    ASSERT_EQ(deleted->size(), requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const auto& [key, options] = requests[i];
      const Deleted expected = DeleteInModel(bucket, key, options.version);
      ASSERT_TRUE((*deleted)[i]);
      const Deleted& actual = *(*deleted)[i];
      EXPECT_EQ(actual.marker, expected.marker);
      if (expected.version_id == "?") {
        CheckId(actual.version_id, bucket.versioning);
        bucket.keys[key].front().id = actual.version_id;
      } else {
        EXPECT_EQ(actual.version_id, expected.version_id);
      }
    }
  }

  void StepCopy() {
    const ObjectName to{AnyBucket(), AnyKey()};
    ObjectName from{AnyBucket(), AnyKey()};
    from.version = AnyVersion(from.bucket, from.key);
    const auto copied = store_->Copy(from, to);
    const Version* source = from.version ? nullptr : model_[from.bucket].Current(from.key);
    const auto known = model_[from.bucket].keys.find(from.key);
    if (from.version && known != model_[from.bucket].keys.end()) {
      for (const Version& version : known->second) {
        if (version.id == *from.version && !version.marker) source = &version;
      }
    }
    ASSERT_EQ(copied.has_value(), source != nullptr);
    if (!copied) return;
    Version made = *source;
    made.id = copied->version_id;
    CheckId(made.id, model_[to.bucket].versioning);
    model_[to.bucket].Add(to.key, made);
  }

  void StepMultipart() {
    const std::string bucket = AnyBucket(), key = AnyKey(), data = AnyData();
    const auto id = store_->CreateMultipart(bucket, key, {.tags = {{"m", "1"}}});
    ASSERT_TRUE(id);
    const UploadName name{bucket, key, *id};
    const auto part = store_->PutPart(name, 1, Uploaded(data));
    ASSERT_TRUE(part);
    if (seeded_.Below(4) == 0) {
      ASSERT_TRUE(store_->AbortMultipart(name));
      return;
    }
    const auto done = store_->CompleteMultipart(name, {*part});
    ASSERT_TRUE(done) << done.error().message;
    model_[bucket].Add(key, {done->version_id, false, data, done->etag, {}, {{"m", "1"}}});
    const auto again = store_->CompleteMultipart(name, {*part});
    ASSERT_TRUE(again);
    EXPECT_EQ(again->version_id, done->version_id);
  }

  // What S3's rules say, by looking at every key.
  static std::vector<std::string> Expected(const Bucket& bucket, const ListOptions& options) {
    std::vector<std::string> out;
    for (const auto& [key, versions] : bucket.keys) {
      if (!key.starts_with(options.prefix) || versions.front().marker) continue;
      std::string shown = key;
      if (!options.delimiter.empty()) {
        const std::size_t at = key.find(options.delimiter, options.prefix.size());
        if (at != std::string::npos) shown = "P:" + key.substr(0, at + options.delimiter.size());
      }
      const std::string_view bare = std::string_view(shown).substr(shown.starts_with("P:") ? 2 : 0);
      if (bare <= options.start_after) continue;
      if (std::find(out.begin(), out.end(), shown) == out.end()) out.push_back(shown);
    }
    std::sort(out.begin(), out.end());
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
        ASSERT_NE(model_[bucket].Current(o.key), nullptr);
        EXPECT_EQ(o.etag, model_[bucket].Current(o.key)->etag);
      }
      for (const std::string& p : page->common_prefixes) seen.push_back("P:" + p);
      ASSERT_LE(page->objects.size() + page->common_prefixes.size(), options.limit);
      if (!page->truncated) break;
      options.start_after = page->next_start_after;
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, expected) << "prefix '" << options.prefix << "'";
  }

  // "key id latest marker" of every version, and "P:prefix".
  static std::vector<std::string> Expected(const Bucket& bucket,
                                           const ListVersionsOptions& options) {
    std::vector<std::string> out;
    for (const auto& [key, versions] : bucket.keys) {
      if (!key.starts_with(options.prefix)) continue;
      if (!options.delimiter.empty()) {
        const std::size_t at = key.find(options.delimiter, options.prefix.size());
        if (at != std::string::npos) {
          const std::string folded = key.substr(0, at + options.delimiter.size());
          if (folded <= options.key_marker) continue;
          if (out.empty() || out.back() != "P:" + folded) out.push_back("P:" + folded);
          continue;
        }
      }
      if (key <= options.key_marker) continue;
      for (const Version& version : versions) {
        out.push_back(fmt::format("{} {} {} {}", key, version.id, &version == &versions.front(),
                                  version.marker));
      }
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  void StepListVersions() {
    const std::string bucket = AnyBucket();
    ListVersionsOptions options{.limit = 1 + seeded_.Below(4)};
    if (seeded_.Below(2) == 0) options.prefix = AnyKey();
    if (seeded_.Below(2) == 0) options.delimiter = seeded_.Below(4) == 0 ? "//" : "/";
    if (seeded_.Below(2) == 0) options.key_marker = AnyKey();
    const std::vector<std::string> expected = Expected(model_[bucket], options);
    std::vector<std::string> seen;
    std::map<std::string, std::vector<std::string>> order;
    while (true) {
      const auto page = store_->ListVersions(bucket, options);
      ASSERT_TRUE(page) << page.error().message;
      for (const auto& [object, latest] : page->versions) {
        seen.push_back(fmt::format("{} {} {} {}", object.key, object.version_id, latest,
                                   object.delete_marker));
        order[object.key].push_back(object.version_id);
      }
      for (const std::string& p : page->common_prefixes) seen.push_back("P:" + p);
      ASSERT_LE(page->versions.size() + page->common_prefixes.size(), options.limit);
      if (!page->truncated) break;
      options.key_marker = page->next_key_marker;
      options.version_marker = page->next_version_marker;
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, expected) << "prefix '" << options.prefix << "'";
    for (const auto& [key, ids] : order) {
      std::vector<std::string> newest_first;
      for (const Version& version : model_[bucket].keys.at(key)) newest_first.push_back(version.id);
      EXPECT_EQ(ids, newest_first);
    }
  }

  void Step() {
    switch (seeded_.Below(13)) {
      case 0:
      case 1:
      case 2:
        return StepPut();
      case 3:
      case 4:
        return StepGet();
      case 5:
      case 6:
        return StepDelete();
      case 7:
        return StepCopy();
      case 8:
        return StepMultipart();
      case 9:
        return StepTags();
      case 10:
      case 11:
        return StepListVersions();
      default:
        return StepList();
    }
  }

  env::SeededRandom seeded_;
  std::map<std::string, Bucket> model_;
};

TEST_P(ModelTest, BehavesAsAMap) {
  SCOPED_TRACE(fmt::format("seed {}", GetParam()));
  for (int step = 0; step < 500 && !HasFailure(); ++step) {
    Step();
    if (seeded_.Below(100) == 0) Reopen();
    if (step > 150 && seeded_.Below(40) == 0) StepVersioning();
  }
  std::size_t objects = 0;
  for (const auto& [name, bucket] : model_) {
    for (const auto& [key, versions] : bucket.keys) {
      for (const Version& version : versions) {
        if (version.marker) continue;
        const auto got = store_->Get(name, key, version.id);
        ASSERT_TRUE(got);
        EXPECT_EQ(Content(got->fd.get()), version.data);
        ++objects;
      }
    }
  }
  while (BlobFiles() != objects && !HasFailure()) std::this_thread::yield();  // the reaper
  EXPECT_EQ(TemporaryFiles(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ModelTest, ::testing::Range(1, 9));

}  // namespace
}  // namespace sabia::objects
