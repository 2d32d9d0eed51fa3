#include "s3/lifecycle_runner.h"

#include <algorithm>

#include "base/log.h"
#include "s3/settings.h"

namespace sabia::s3 {
namespace {

constexpr std::size_t kPage = 1000;
// How often the thread looks at the clock.
constexpr Millis kGlance{60'000};

// What to remove, sent off in commits of one page.
class Remover {
 public:
  Remover(ObjectStore& store, const std::string& bucket) : store_(store), bucket_(bucket) {}

  Status Add(objects::DeleteRequest request) {
    requests_.push_back(std::move(request));
    return requests_.size() < kPage ? Status{} : Flush();
  }
  // Conditions that do not hold any more are no failures: the key was written meanwhile.
  Status Flush() {
    if (requests_.empty()) return {};
    ASSIGN_OR_RETURN(const auto results, store_.DeleteMany(bucket_, requests_));
    removed_ += static_cast<std::size_t>(std::count_if(
        results.begin(), results.end(), [](const auto& result) { return result.has_value(); }));
    requests_.clear();
    return {};
  }
  std::size_t removed() const { return removed_; }

 private:
  ObjectStore& store_;
  const std::string& bucket_;
  std::vector<objects::DeleteRequest> requests_;
  std::size_t removed_ = 0;
};

struct Scope {
  ObjectStore& store;
  const std::string& bucket;
  const LifecycleRule& rule;
  WallTime now;
};

// Tags are not in listings.
Result<bool> MatchesTags(const Scope& scope, const ObjectInfo& object) {
  if (scope.rule.filter.tags.empty()) return true;
  const auto head = scope.store.Head(scope.bucket, object.key, object.version_id);
  if (!head && head.error().code == ErrorCode::kNotFound) return false;
  if (!head) return tl::make_unexpected(head.error());
  return head->blob_id == object.blob_id && scope.rule.filter.MatchesTags(head->tags);
}

Result<bool> IsExpired(const Scope& scope, const ObjectInfo& object) {
  const auto due = ExpiryOf(scope.rule, object.modified);
  if (!due || *due > scope.now || !scope.rule.filter.MatchesSize(object.size)) return false;
  return MatchesTags(scope, object);
}

Result<std::size_t> ExpireObjects(const Scope& scope) {
  Remover remover(scope.store, scope.bucket);
  ListOptions options;
  options.prefix = scope.rule.filter.prefix;
  options.limit = kPage;
  while (true) {
    ASSIGN_OR_RETURN(const Listing page, scope.store.List(scope.bucket, options));
    for (const ObjectInfo& object : page.objects) {
      ASSIGN_OR_RETURN(const bool expired, IsExpired(scope, object));
      if (!expired) continue;
      RETURN_IF_ERROR(remover.Add({object.key, {.if_blob = object.blob_id}}));
    }
    if (!page.truncated) break;
    options.start_after = page.next_start_after;
  }
  RETURN_IF_ERROR(remover.Flush());
  return remover.removed();
}

// Walks the versions of each key from the newest to the oldest.
class VersionWalk {
 public:
  explicit VersionWalk(const Scope& scope)
      : scope_(scope), versions_(scope.store, scope.bucket), markers_(scope.store, scope.bucket) {}

  Status Run(LifecycleWork& work) {
    ListVersionsOptions options;
    options.prefix = scope_.rule.filter.prefix;
    options.limit = kPage;
    while (true) {
      ASSIGN_OR_RETURN(const VersionListing page,
                       scope_.store.ListVersions(scope_.bucket, options));
      for (const VersionListing::Entry& entry : page.versions) RETURN_IF_ERROR(See(entry));
      if (!page.truncated) break;
      options.key_marker = page.next_key_marker;
      options.version_marker = page.next_version_marker;
    }
    RETURN_IF_ERROR(EndKey());
    RETURN_IF_ERROR(versions_.Flush());
    RETURN_IF_ERROR(markers_.Flush());
    work.versions += versions_.removed();
    work.markers += markers_.removed();
    return {};
  }

 private:
  Status See(const VersionListing::Entry& entry) {
    const ObjectInfo& object = entry.object;
    if (object.key != key_) {
      RETURN_IF_ERROR(EndKey());
      key_ = object.key;
      older_ = 0;
      lone_marker_.reset();
    }
    if (entry.latest) {
      if (object.delete_marker) lone_marker_ = object;
    } else {
      lone_marker_.reset();
      ASSIGN_OR_RETURN(const bool expired, IsNoncurrentExpired(object));
      if (expired) RETURN_IF_ERROR(versions_.Add(Naming(object)));
      ++older_;
    }
    newer_modified_ = object.modified;
    return {};
  }

  // A version is noncurrent since the one after it was made.
  Result<bool> IsNoncurrentExpired(const ObjectInfo& object) {
    const LifecycleRule& rule = scope_.rule;
    if (!rule.noncurrent_days || older_ < rule.newer_noncurrent.value_or(0)) return false;
    if (DueAfter(newer_modified_, *rule.noncurrent_days) > scope_.now) return false;
    if (object.delete_marker) return rule.filter.tags.empty();
    if (!rule.filter.MatchesSize(object.size)) return false;
    return MatchesTags(scope_, object);
  }

  // A marker that hides nothing goes where the rule says so, or when the rule would have expired an
  // object of its age.
  Status EndKey() {
    if (!lone_marker_) return {};
    const LifecycleRule& rule = scope_.rule;
    const auto due = ExpiryOf(rule, lone_marker_->modified);
    const bool aged = due && *due <= scope_.now && rule.filter.tags.empty();
    if (!rule.remove_lone_markers && !aged) return {};
    return markers_.Add(Naming(*std::exchange(lone_marker_, std::nullopt)));
  }

  static objects::DeleteRequest Naming(const ObjectInfo& object) {
    return {object.key, {.version = object.version_id, .if_blob = object.blob_id}};
  }

  const Scope& scope_;
  Remover versions_;
  Remover markers_;
  std::string key_;
  std::int64_t older_ = 0;  // noncurrent versions of the key so far
  WallTime newer_modified_;
  std::optional<ObjectInfo> lone_marker_;  // the newest version, while it is the only one seen
};

Result<std::size_t> AbortUploads(const Scope& scope) {
  ListMultipartsOptions options;
  options.prefix = scope.rule.filter.prefix;
  options.limit = kPage;
  std::size_t aborted = 0;
  while (true) {
    ASSIGN_OR_RETURN(const MultipartListing page,
                     scope.store.ListMultiparts(scope.bucket, options));
    for (const MultipartInfo& upload : page.uploads) {
      if (DueAfter(upload.initiated, *scope.rule.abort_days) > scope.now) continue;
      const Status done = scope.store.AbortMultipart({scope.bucket, upload.key, upload.upload_id});
      if (!done && done.error().code != ErrorCode::kNotFound) {
        return tl::make_unexpected(done.error());
      }
      if (done) ++aborted;
    }
    if (!page.truncated) return aborted;
    options.key_marker = page.next_key_marker;
    options.upload_id_marker = page.next_upload_id_marker;
  }
}

}  // namespace

Result<LifecycleWork> ApplyLifecycle(ObjectStore& store, const std::string& bucket,
                                     const std::vector<LifecycleRule>& rules, WallTime now) {
  LifecycleWork work;
  for (const LifecycleRule& rule : rules) {
    if (!rule.enabled) continue;
    const Scope scope{store, bucket, rule, now};
    if (rule.expire_days || rule.expire_date) {
      ASSIGN_OR_RETURN(const std::size_t expired, ExpireObjects(scope));
      work.expired += expired;
    }
    ASSIGN_OR_RETURN(const BucketHandle state, store.GetBucket(bucket));
    if (state->versioning != Versioning::kOff) {
      RETURN_IF_ERROR(VersionWalk(scope).Run(work));
    }
    if (rule.abort_days) {
      ASSIGN_OR_RETURN(const std::size_t aborted, AbortUploads(scope));
      work.aborted += aborted;
    }
  }
  return work;
}

LifecycleRunner::LifecycleRunner(ObjectStore& store, env::Clock& clock)
    : store_(store), clock_(clock), day_(Today()), thread_({}, [this](bool woken) {
        if (woken || Today() != day_) {
          day_ = Today();
          Round();
        }
        return kGlance;
      }) {
  Wake();  // for rules that an earlier process had
}

std::chrono::sys_days LifecycleRunner::Today() const {
  return std::chrono::floor<std::chrono::days>(clock_.Wall());
}

void LifecycleRunner::Round() {
  const auto buckets = store_.ListBuckets();
  if (!buckets) return LogWarn("lifecycle: {}", buckets.error().message);
  for (const BucketHandle& bucket : *buckets) {
    const std::string* const document = FindSetting(*bucket, kLifecycleSetting);
    if (document == nullptr) continue;
    if (thread_.stopping()) return;
    const auto rules = ParseLifecycle(*document, "");
    if (!rules) {
      LogError("bucket '{}' has lifecycle rules that cannot be read: {}", bucket->name,
               rules.error().message);
      continue;
    }
    const auto work = ApplyLifecycle(store_, bucket->name, *rules, clock_.Wall());
    if (!work) {
      LogWarn("lifecycle of bucket '{}': {}", bucket->name, work.error().message);
    } else if (work->expired + work->versions + work->markers + work->aborted > 0) {
      LogInfo(
          "lifecycle of bucket '{}': expired {} objects, removed {} old versions and {} markers, "
          "aborted {} uploads",
          bucket->name, work->expired, work->versions, work->markers, work->aborted);
    }
  }
}

}  // namespace sabia::s3
