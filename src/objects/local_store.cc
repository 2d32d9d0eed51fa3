#include "objects/local_store.h"

#include <unistd.h>

#include "base/encoding.h"
#include "base/log.h"
#include "objects/file_upload.h"
#include "objects/fresh_index.h"
#include "objects/object_index.h"
#include "objects/schema.h"
#include "objects/sealed_upload.h"

namespace sabia::objects {
namespace {

using store::Connection;

// A read finds a row, and then its file gone, only when the key was overwritten in between; losing
// that race so many times in a row means that something else removes files.
constexpr int kReadAttempts = 16;

Status CheckKey(std::string_view key) {
  if (key.empty() || key.size() > kKeyBytesMax) {
    return Fail(ErrorCode::kInvalidArgument, "key has {} bytes; allowed are 1 to {}", key.size(),
                kKeyBytesMax);
  }
  if (!IsUtf8(key)) return Fail(ErrorCode::kInvalidArgument, "key is not UTF-8");
  return {};
}

bool IsRefusal(const Error& error) {
  return error.code == ErrorCode::kNotFound || error.code == ErrorCode::kConflict ||
         error.code == ErrorCode::kInvalidArgument;
}

}  // namespace

Result<std::unique_ptr<ObjectStore>> ObjectStore::Open(ObjectStoreOptions options,
                                                       env::Clock& clock, env::Random& random) {
  ASSIGN_OR_RETURN(auto blobs, BlobDirectory::Open(options.paths, random));
  ASSIGN_OR_RETURN(auto database, store::Database::Open({.path = options.paths.objects_db(),
                                                         .migrations = index::Migrations()}));
  RETURN_IF_ERROR(RecoverBlobs(*blobs, *database));
  auto store = std::make_unique<LocalStore>(std::move(options), clock, random, std::move(blobs),
                                            std::move(database));
  RETURN_IF_ERROR(store->LoadBuckets());
  return store;
}

bool LocalStore::MayBeCommitted(const Error& error) {
  return error.code == ErrorCode::kIo || error.code == ErrorCode::kCorrupt ||
         error.code == ErrorCode::kInternal;
}

LocalStore::LocalStore(ObjectStoreOptions options, env::Clock& clock, env::Random& random,
                       std::unique_ptr<BlobDirectory> blobs,
                       std::unique_ptr<store::Database> database)
    : options_(std::move(options)),
      clock_(clock),
      random_(random),
      blobs_(std::move(blobs)),
      database_(std::move(database)),
      buckets_(*database_),
      keys_({KeyDirectory(options_.paths), options_.account, options_.region}, files_, clock_,
            random_),
      settler_(*database_, *blobs_),
      reaper_(*database_, *blobs_) {}

Status LocalStore::ChangeBucket(std::string_view bucket, const Work& work) {
  RETURN_IF_ERROR(database_->Write(work));
  return buckets_.Refresh(bucket);
}

Status LocalStore::CreateBucket(std::string_view bucket, std::string_view region,
                                const Settings& settings) {
  BucketInfo info;
  info.name = bucket;
  info.created = clock_.Wall();
  info.region = region.empty() ? options_.region : std::string(region);
  info.settings = settings;
  return ChangeBucket(
      bucket, [&](Connection& connection) { return index::InsertBucket(connection, info); });
}

Status LocalStore::DeleteBucket(std::string_view bucket) {
  RETURN_IF_ERROR(ChangeBucket(
      bucket, [&](Connection& connection) { return index::DeleteBucket(connection, bucket); }));
  reaper_.Wake();
  return {};
}

Status LocalStore::SetVersioning(std::string_view bucket, Versioning versioning) {
  return ChangeBucket(bucket, [&](Connection& connection) {
    return index::WriteVersioning(connection, bucket, versioning);
  });
}

Status LocalStore::PutSetting(std::string_view bucket, std::string_view name,
                              const std::optional<std::string>& document) {
  return ChangeBucket(bucket, [&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(const index::BucketRow row, index::FindBucket(connection, bucket));
    return index::WriteSetting(connection, row.id, name, document);
  });
}

Result<std::unique_ptr<Upload>> LocalStore::BeginUpload(std::vector<ChecksumAlgorithm> algorithms) {
  return std::make_unique<FileUpload>(FileUpload::Parts{*blobs_, md5_, std::move(algorithms)});
}

Result<std::unique_ptr<Upload>> LocalStore::BeginSealedUpload(
    const UploadSeal& seal, std::vector<ChecksumAlgorithm> algorithms) {
  ASSIGN_OR_RETURN(auto file, BeginUpload({}));
  return std::make_unique<SealedUpload>(std::move(file), seal, std::move(algorithms), random_);
}

Status LocalStore::CommitBlob(TemporaryBlob& blob, const Work& work) {
  RETURN_IF_ERROR(blobs_->SyncTemporary());
  const Status committed = database_->Write(work);
  if (committed) {
    blob.Publish();
    reaper_.Wake();
    return {};
  }
  if (MayBeCommitted(committed.error())) blob.Abandon();
  return committed;
}

namespace {

// What the upload itself says of the object.
ObjectInfo Describe(std::string_view key, FileUpload& file, const PutOptions& options,
                    WallTime now) {
  ObjectInfo info;
  info.key = key;
  info.size = file.size();
  info.etag = file.FinishMd5();
  info.modified = now;
  info.blob_id = file.blob().id();
  info.metadata = options.metadata;
  info.tags = options.tags;
  info.storage_class = options.storage_class;
  info.checksums = file.KeptChecksum();
  return info;
}

}  // namespace

Result<ObjectInfo> LocalStore::PutSealed(const ObjectName& name, Upload& upload,
                                         const PutOptions& options) {
  ASSIGN_OR_RETURN(Upload* const written, FinishSealed(upload));
  auto& file = dynamic_cast<FileUpload&>(*written);
  RETURN_IF_ERROR(file.Sync());
  ObjectInfo info = Describe(name.key, file, options, clock_.Wall());
  DescribeSealed(upload, info);
  const auto change = cache_.Begin(name.bucket, name.key);
  RETURN_IF_ERROR(CommitBlob(file.blob(), [&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(const index::BucketRow row, index::FindBucket(connection, name.bucket));
    return index::ObjectWriter(connection, row, random_).Write(info, options);
  }));
  return info;
}

// A small object on its way through its commit.
struct LocalStore::SmallPut {
  std::string bucket;
  std::unique_ptr<Upload> upload;
  PutOptions options;
  ObjectInfo info;
  std::optional<ObjectCache::Change> change;  // ends before anybody hears of the commit

  FileUpload& file() { return static_cast<FileUpload&>(*upload); }
};

Status LocalStore::WriteSmall(Connection& connection, SmallPut& put) {
  ASSIGN_OR_RETURN(const index::BucketRow row, index::FindBucket(connection, put.bucket));
  RETURN_IF_ERROR(index::ObjectWriter(connection, row, random_).Write(put.info, put.options));
  return index::InsertFresh(connection, put.info.blob_id, put.file().held_bytes());
}

void LocalStore::EndSmall(SmallPut& put, const Status& committed) {
  put.change.reset();
  if (committed) {
    put.file().blob().Publish();
    settler_.Committed(put.file().held_bytes().size());
    reaper_.Wake();
  } else if (MayBeCommitted(committed.error())) {
    put.file().blob().Abandon();
  }
}

Result<ObjectInfo> LocalStore::Put(std::string_view bucket, std::string_view key,
                                   std::unique_ptr<Upload> upload, const PutOptions& options) {
  RETURN_IF_ERROR(CheckKey(key));
  if (IsSealed(*upload)) {
    return PutSealed({std::string(bucket), std::string(key)}, *upload, options);
  }
  auto& file = dynamic_cast<FileUpload&>(*upload);  // BeginUpload() makes no others
  if (file.held()) {
    RETURN_IF_ERROR(file.Settle());
    SmallPut put{std::string(bucket), std::move(upload), options,
                 Describe(key, file, options, clock_.Wall()), cache_.Begin(bucket, key)};
    const Status committed =
        database_->Write([&](Connection& connection) { return WriteSmall(connection, put); });
    EndSmall(put, committed);
    if (!committed) return tl::make_unexpected(committed.error());
    return std::move(put.info);
  }
  RETURN_IF_ERROR(file.Sync());
  ObjectInfo info = Describe(key, file, options, clock_.Wall());
  const auto change = cache_.Begin(bucket, key);
  RETURN_IF_ERROR(CommitBlob(file.blob(), [&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(const index::BucketRow row, index::FindBucket(connection, bucket));
    return index::ObjectWriter(connection, row, random_).Write(info, options);
  }));
  return info;
}

void LocalStore::PutLater(std::string_view bucket, std::string_view key,
                          std::unique_ptr<Upload> upload, const PutOptions& options, PutDone done) {
  if (IsSealed(*upload)) return done(Put(bucket, key, std::move(upload), options));
  auto& file = dynamic_cast<FileUpload&>(*upload);
  Status ready = CheckKey(key);
  if (!ready || !file.held()) return done(Put(bucket, key, std::move(upload), options));
  ready = file.Settle();
  if (!ready) return done(tl::make_unexpected(ready.error()));
  ObjectInfo info = Describe(key, file, options, clock_.Wall());
  const auto put = std::make_shared<SmallPut>(SmallPut{
      std::string(bucket), std::move(upload), options, std::move(info), cache_.Begin(bucket, key)});
  database_->WriteLater(
      [this, put](Connection& connection) { return WriteSmall(connection, *put); },
      [this, put, done = std::move(done)](const Status& committed) {
        EndSmall(*put, committed);
        if (!committed) return done(tl::make_unexpected(committed.error()));
        done(std::move(put->info));
      });
}

Result<ObjectInfo> LocalStore::Head(std::string_view bucket, std::string_view key,
                                    const VersionChoice& version) {
  ASSIGN_OR_RETURN(const BucketHandle known, buckets_.Find(bucket));
  ObjectInfo out;
  RETURN_IF_ERROR(database_->Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(out, index::ReadObject(connection, known->id, key, version));
    return {};
  }));
  return out;
}

Result<ObjectStore::Opened> LocalStore::Get(std::string_view bucket, std::string_view key,
                                            const VersionChoice& version) {
  for (int attempt = 0; attempt < kReadAttempts; ++attempt) {
    ASSIGN_OR_RETURN(ObjectInfo info, Head(bucket, key, version));
    if (info.delete_marker) return Opened{std::move(info), {}};
    auto fd = blobs_->OpenBlob(info.blob_id);
    if (fd) return Opened{std::move(info), std::move(*fd)};
    if (fd.error().code != ErrorCode::kNotFound) return Wrap(fd.error(), "failed to read object: ");
  }
  return Fail(ErrorCode::kCorrupt, "the file of '{}/{}' is missing", bucket, key);
}

Result<ObjectStore::Served> LocalStore::Serve(std::string_view bucket, std::string_view key) {
  RETURN_IF_ERROR(buckets_.Find(bucket));
  ObjectCache::Look look = cache_.Find(bucket, key);
  if (look.entry.content) {
    return Served{std::move(look.entry.info), std::move(look.entry.content), {}};
  }
  ASSIGN_OR_RETURN(Opened opened, Get(bucket, key, std::nullopt));
  Served out{std::make_shared<const ObjectInfo>(std::move(opened.info)), nullptr,
             std::move(opened.fd)};
  if (out.info->size > ObjectCache::kContentMax || !out.info->envelope.empty()) return out;
  auto content = std::make_shared<std::string>(out.info->size, '\0');
  if (::pread(out.fd.get(), content->data(), content->size(), 0) !=
      static_cast<ssize_t>(content->size())) {
    return out;
  }
  out.content = std::move(content);
  cache_.Insert(bucket, key, look.ticket, {out.info, out.content});
  return out;
}

Result<std::optional<ObjectInfo>> LocalStore::NewestMarker(std::string_view bucket,
                                                           std::string_view key) {
  ASSIGN_OR_RETURN(const BucketHandle known, buckets_.Find(bucket));
  std::optional<ObjectInfo> out;
  if (known->versioning == Versioning::kOff) return out;
  RETURN_IF_ERROR(database_->Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(out, index::ReadNewestMarker(connection, known->id, key));
    return {};
  }));
  return out;
}

Result<Listing> LocalStore::List(std::string_view bucket, const ListOptions& options) {
  ASSIGN_OR_RETURN(const BucketHandle known, buckets_.Find(bucket));
  Listing out;
  RETURN_IF_ERROR(database_->Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(out, index::ListObjects(connection, known->id, options));
    return {};
  }));
  return out;
}

Result<VersionListing> LocalStore::ListVersions(std::string_view bucket,
                                                const ListVersionsOptions& options) {
  ASSIGN_OR_RETURN(const BucketHandle known, buckets_.Find(bucket));
  VersionListing out;
  RETURN_IF_ERROR(database_->Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(out, index::ListVersions(connection, known->id, options));
    return {};
  }));
  return out;
}

Result<Deleted> LocalStore::Delete(std::string_view bucket, std::string_view key,
                                   const DeleteOptions& options) {
  RETURN_IF_ERROR(CheckKey(key));
  const auto change = cache_.Begin(bucket, key);
  Deleted out;
  RETURN_IF_ERROR(database_->Write([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(const index::BucketRow row, index::FindBucket(connection, bucket));
    ASSIGN_OR_RETURN(
        out, index::ObjectWriter(connection, row, random_).Delete(key, options, clock_.Wall()));
    return {};
  }));
  reaper_.Wake();
  return out;
}

Result<std::vector<Result<Deleted>>> LocalStore::DeleteMany(
    std::string_view bucket, const std::vector<DeleteRequest>& requests) {
  std::vector<std::string_view> keys;
  keys.reserve(requests.size());
  for (const DeleteRequest& request : requests) keys.push_back(request.key);
  const auto change = cache_.Begin(bucket, keys);
  std::vector<Result<Deleted>> out;
  RETURN_IF_ERROR(database_->Write([&](Connection& connection) -> Status {
    out.clear();
    ASSIGN_OR_RETURN(const index::BucketRow row, index::FindBucket(connection, bucket));
    index::ObjectWriter writer(connection, row, random_);
    for (const DeleteRequest& request : requests) {
      Result<Deleted> deleted = CheckKey(request.key).and_then([&] {
        return writer.Delete(request.key, request.options, clock_.Wall());
      });
      // A refusal is the request's own: it comes before anything was written.
      if (!deleted && !IsRefusal(deleted.error())) return tl::make_unexpected(deleted.error());
      out.push_back(std::move(deleted));
    }
    return {};
  }));
  reaper_.Wake();
  return out;
}

Result<ObjectInfo> LocalStore::Copy(const ObjectName& from, const ObjectName& to,
                                    const CopyOptions& options) {
  RETURN_IF_ERROR(CheckKey(to.key));
  for (int attempt = 0; attempt < kReadAttempts; ++attempt) {
    ASSIGN_OR_RETURN(ObjectInfo info, Head(from.bucket, from.key, from.version));
    if (info.delete_marker) {
      return Fail(ErrorCode::kNotFound, "key '{}' is a delete marker", from.key);
    }
    if (options.source_blob && *options.source_blob != info.blob_id) {
      return Fail(ErrorCode::kConflict, "key '{}' was replaced meanwhile", from.key);
    }
    auto blob = blobs_->Link(info.blob_id);
    if (!blob && blob.error().code == ErrorCode::kNotFound) continue;
    if (!blob) return Wrap(blob.error(), "failed to copy object: ");
    info.key = to.key;
    info.modified = clock_.Wall();
    info.blob_id = blob->id();
    info.storage_class = options.target.storage_class;
    if (options.metadata) info.metadata = *options.metadata;
    if (options.tags) info.tags = *options.tags;
    const auto change = cache_.Begin(to.bucket, to.key);
    RETURN_IF_ERROR(CommitBlob(*blob, [&](Connection& connection) -> Status {
      ASSIGN_OR_RETURN(const index::BucketRow row, index::FindBucket(connection, to.bucket));
      return index::ObjectWriter(connection, row, random_).Write(info, options.target);
    }));
    return info;
  }
  return Fail(ErrorCode::kCorrupt, "the file of '{}/{}' is missing", from.bucket, from.key);
}

Result<ObjectInfo> LocalStore::SetTags(const ObjectName& object, const Tags& tags) {
  const auto change = cache_.Begin(object.bucket, object.key);
  ObjectInfo out;
  RETURN_IF_ERROR(database_->Write([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(const index::BucketRow row, index::FindBucket(connection, object.bucket));
    ASSIGN_OR_RETURN(out, index::ObjectWriter(connection, row, random_).SetTags(object, tags));
    return {};
  }));
  return out;
}

}  // namespace sabia::objects
