#include "objects/bucket_source.h"

#include "base/log.h"
#include "objects/key_ring.h"
#include "objects/object_content.h"

namespace sabia::objects {
namespace {

constexpr std::size_t kFileMax = 1 << 20;
constexpr Millis kLookAgainAfter{1'000};

class StoreSource final : public BucketSource {
 public:
  StoreSource(ObjectStore& store, std::string bucket) : store_(store), bucket_(std::move(bucket)) {}

  Status CheckBucket() override {
    return store_.GetBucket(bucket_).map([](const BucketHandle&) {});
  }
  Status CheckKey(std::string_view kms_key) override {
    return store_.keys().Find(kms_key).map([](const MasterKey&) {});
  }
  Result<Listing> List(const ListOptions& options) override {
    return store_.List(bucket_, options);
  }
  Result<ObjectInfo> Head(std::string_view key) override { return store_.Head(bucket_, key); }
  Result<std::string> Read(std::string_view key, std::size_t limit) override {
    ASSIGN_OR_RETURN(const ObjectStore::Opened opened, store_.Get(bucket_, key));
    if (opened.info.size > limit) {
      return Fail(ErrorCode::kInvalidArgument, "'{}' is longer than {} bytes", key, limit);
    }
    ASSIGN_OR_RETURN(auto content,
                     ObjectContent::Open(store_.keys(), opened.info, opened.fd.get()));
    std::string text(opened.info.size, '\0');
    RETURN_IF_ERROR(content.Read(0, text));
    return text;
  }

 private:
  ObjectStore& store_;
  const std::string bucket_;
};

std::string Unquoted(std::string_view etag) {
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
    etag = etag.substr(1, etag.size() - 2);
  }
  return std::string(etag);
}

ObjectInfo InfoOf(wire::S3Object&& object) {
  ObjectInfo info;
  info.key = std::move(object.key);
  info.size = object.size;
  info.etag = Unquoted(object.etag);
  info.modified = object.modified;
  return info;
}

class RemoteSource final : public BucketSource {
 public:
  RemoteSource(std::unique_ptr<wire::S3Client> client, std::string bucket, std::string url)
      : client_(std::move(client)), bucket_(std::move(bucket)), url_(std::move(url)) {}

  Status CheckBucket() override {
    const auto found = client_->Head({bucket_, ""});
    if (found) return {};
    return Explain(found.error(), "bucket");
  }
  Status CheckKey(std::string_view) override { return {}; }
  Result<Listing> List(const ListOptions& options) override {
    auto page = client_->ListPage({.bucket = bucket_,
                                   .prefix = options.prefix,
                                   .start_after = options.start_after,
                                   .limit = options.limit});
    if (!page) return Explain(page.error(), "bucket");
    Listing out;
    for (wire::S3Object& object : page->objects) out.objects.push_back(InfoOf(std::move(object)));
    out.truncated = !page->next.empty() && !out.objects.empty();
    if (out.truncated) out.next_start_after = out.objects.back().key;
    return out;
  }
  Result<ObjectInfo> Head(std::string_view key) override {
    auto object = client_->Head({bucket_, std::string(key)});
    if (!object) return Explain(object.error(), "key");
    return InfoOf(std::move(*object));
  }
  Result<std::string> Read(std::string_view key, std::size_t limit) override {
    auto text = client_->Get({bucket_, std::string(key)}, limit);
    if (text) return text;
    if (text.error().code == ErrorCode::kResourceExhausted) {
      return Fail(ErrorCode::kInvalidArgument, "'{}' is longer than {} bytes", key, limit);
    }
    return Explain(text.error(), "key");
  }

 private:
  // what: the first word of kNotFound, by which callers tell bucket from key.
  tl::unexpected<Error> Explain(const Error& error, std::string_view what) const {
    if (error.code == ErrorCode::kNotFound) {
      return Fail(error.code, "{} at {}: {}", what, url_, error.message);
    }
    return Fail(error.code, "{} (endpoint {})", error.message, url_);
  }

  const std::unique_ptr<wire::S3Client> client_;
  const std::string bucket_;
  const std::string url_;
};

}  // namespace

std::unique_ptr<BucketSource> MakeStoreSource(ObjectStore& store, std::string bucket) {
  return std::make_unique<StoreSource>(store, std::move(bucket));
}

Result<std::unique_ptr<Buckets>> Buckets::Open(ObjectStore& store, BucketsOptions options,
                                               env::Files& files, env::Clock& clock) {
  std::unique_ptr<Buckets> buckets(new Buckets(store, std::move(options), files, clock));
  RETURN_IF_ERROR(buckets->Reload());
  return buckets;
}

Buckets::Buckets(ObjectStore& store, BucketsOptions options, env::Files& files, env::Clock& clock)
    : store_(store),
      options_(std::move(options)),
      files_(files),
      clock_(clock),
      external_(std::make_shared<const wire::ExternalBuckets>()) {}

Status Buckets::Reload() {
  looked_ = clock_.Mono();
  auto text = files_.Read(options_.file, kFileMax);
  if (!text && text.error().code == ErrorCode::kNotFound) text = std::string();
  if (!text) return tl::make_unexpected(std::move(text).error());
  if (*text == text_) return {};
  text_ = std::move(*text);
  auto parsed = wire::ExternalBuckets::Parse(text_, options_.environment, files_, clock_);
  if (!parsed) {
    return Wrap(std::move(parsed).error(), fmt::format("'{}'", options_.file.native()));
  }
  external_ = std::make_shared<const wire::ExternalBuckets>(std::move(*parsed));
  return {};
}

Buckets::Snapshot Buckets::Current() {
  const std::lock_guard lock(mutex_);
  if (clock_.Mono() - looked_ >= kLookAgainAfter) {
    if (const Status read = Reload(); !read) {
      LogError("{}; the settings before it stay in force", read.error().message);
    }
  }
  return external_;
}

Result<const wire::ExternalBuckets::Entry*> Buckets::Find(const wire::ExternalBuckets& external,
                                                          const std::string& bucket) {
  if (const auto* named = external.Named(bucket); named != nullptr) return named;
  if (external.fallback() == nullptr) return nullptr;
  const auto embedded = store_.GetBucket(bucket);
  if (embedded) return nullptr;
  if (embedded.error().code != ErrorCode::kNotFound) {
    return tl::make_unexpected(embedded.error());
  }
  return external.fallback();
}

Result<std::unique_ptr<BucketSource>> Buckets::Source(const std::string& bucket) {
  const Snapshot external = Current();
  ASSIGN_OR_RETURN(const wire::ExternalBuckets::Entry* entry, Find(*external, bucket));
  if (entry == nullptr) return MakeStoreSource(store_, bucket);
  wire::S3ClientOptions options;
  options.patience = options_.patience;
  ASSIGN_OR_RETURN(auto client, wire::S3Client::Create(entry->open, std::move(options), clock_));
  return std::make_unique<RemoteSource>(std::move(client), bucket, entry->endpoint.url);
}

Result<std::optional<wire::ExternalEndpoint>> Buckets::External(const std::string& bucket) {
  const Snapshot external = Current();
  ASSIGN_OR_RETURN(const wire::ExternalBuckets::Entry* entry, Find(*external, bucket));
  if (entry == nullptr) return std::optional<wire::ExternalEndpoint>();
  return std::optional(entry->endpoint);
}

}  // namespace sabia::objects
