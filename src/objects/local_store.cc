#include "objects/local_store.h"

#include <set>

#include "base/encoding.h"
#include "base/log.h"
#include "objects/file_upload.h"

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

// Judges the files that a crash left among the uploads: wanted by a row, or by nobody.
Status RecoverTemporary(BlobDirectory& blobs, store::Database& database) {
  ASSIGN_OR_RETURN(const std::vector<std::string> left, blobs.ListTemporary());
  if (left.empty()) return {};
  std::set<std::string> wanted;
  RETURN_IF_ERROR(database.Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(wanted, index::FindWanted(connection, {left.begin(), left.end()}));
    return {};
  }));
  for (const std::string& id : left) {
    if (wanted.contains(id)) {
      RETURN_IF_ERROR(blobs.PublishLeftOver(id));
    } else {
      blobs.RemoveTemporary(id);
    }
  }
  LogInfo("object store: {} files were left among the uploads, {} of them committed", left.size(),
          wanted.size());
  return {};
}

}  // namespace

Result<std::unique_ptr<ObjectStore>> ObjectStore::Open(ObjectStoreOptions options,
                                                       env::Clock& clock, env::Random& random) {
  ASSIGN_OR_RETURN(auto blobs, BlobDirectory::Open(options.paths, random));
  ASSIGN_OR_RETURN(auto database, store::Database::Open({.path = options.paths.objects_db(),
                                                         .migrations = index::Migrations()}));
  RETURN_IF_ERROR(RecoverTemporary(*blobs, *database));
  return std::make_unique<LocalStore>(std::move(options), clock, random, std::move(blobs),
                                      std::move(database));
}

LocalStore::LocalStore(ObjectStoreOptions options, env::Clock& clock, env::Random& random,
                       std::unique_ptr<BlobDirectory> blobs,
                       std::unique_ptr<store::Database> database)
    : options_(std::move(options)),
      clock_(clock),
      random_(random),
      blobs_(std::move(blobs)),
      database_(std::move(database)),
      reaper_(*database_, *blobs_) {}

Status LocalStore::CreateBucket(std::string_view bucket, std::string_view region) {
  const BucketInfo info{std::string(bucket), clock_.Wall(),
                        region.empty() ? options_.region : std::string(region)};
  return database_->Write(
      [&](Connection& connection) { return index::InsertBucket(connection, info); });
}

Status LocalStore::DeleteBucket(std::string_view bucket) {
  RETURN_IF_ERROR(database_->Write(
      [&](Connection& connection) { return index::DeleteBucket(connection, bucket); }));
  reaper_.Wake();
  return {};
}

Result<BucketInfo> LocalStore::GetBucket(std::string_view bucket) {
  BucketInfo out;
  RETURN_IF_ERROR(database_->Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(out, index::ReadBucket(connection, bucket));
    return {};
  }));
  return out;
}

Result<std::vector<BucketInfo>> LocalStore::ListBuckets() {
  std::vector<BucketInfo> out;
  RETURN_IF_ERROR(database_->Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(out, index::ReadBuckets(connection));
    return {};
  }));
  return out;
}

Result<std::unique_ptr<Upload>> LocalStore::BeginUpload(std::vector<ChecksumAlgorithm> algorithms) {
  ASSIGN_OR_RETURN(BlobDirectory::Created created, blobs_->Create());
  return std::make_unique<FileUpload>(std::move(created), std::move(algorithms));
}

Status LocalStore::CommitBlob(TemporaryBlob& blob, const Work& work) {
  RETURN_IF_ERROR(blobs_->SyncTemporary());
  const Status committed = database_->Write(work);
  if (committed) {
    blob.Publish();
    reaper_.Wake();
    return {};
  }
  switch (committed.error().code) {
    case ErrorCode::kIo:
    case ErrorCode::kCorrupt:
    case ErrorCode::kInternal:
      blob.Abandon();  // the commit may have reached the disk
      break;
    default:
      break;
  }
  return committed;
}

Result<ObjectInfo> LocalStore::Put(std::string_view bucket, std::string_view key,
                                   std::unique_ptr<Upload> upload, const PutOptions& options) {
  RETURN_IF_ERROR(CheckKey(key));
  auto& file = dynamic_cast<FileUpload&>(*upload);  // BeginUpload() makes no others
  RETURN_IF_ERROR(file.Sync());
  ObjectInfo info;
  info.key = key;
  info.size = file.size();
  info.etag = file.FinishMd5();
  info.modified = clock_.Wall();
  info.blob_id = file.blob().id();
  info.metadata = options.metadata;
  info.checksums = file.KeptChecksum();
  RETURN_IF_ERROR(CommitBlob(file.blob(), [&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(const index::BucketId id, index::FindBucket(connection, bucket));
    return index::WriteObject(connection, id, info, options);
  }));
  return info;
}

Result<ObjectInfo> LocalStore::Head(std::string_view bucket, std::string_view key) {
  ObjectInfo out;
  RETURN_IF_ERROR(database_->Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(const index::BucketId id, index::FindBucket(connection, bucket));
    ASSIGN_OR_RETURN(out, index::ReadObject(connection, id, key));
    return {};
  }));
  return out;
}

Result<ObjectStore::Opened> LocalStore::Get(std::string_view bucket, std::string_view key) {
  for (int attempt = 0; attempt < kReadAttempts; ++attempt) {
    ASSIGN_OR_RETURN(ObjectInfo info, Head(bucket, key));
    auto fd = blobs_->OpenBlob(info.blob_id);
    if (fd) return Opened{std::move(info), std::move(*fd)};
    if (fd.error().code != ErrorCode::kNotFound) return Wrap(fd.error(), "failed to read object: ");
  }
  return Fail(ErrorCode::kCorrupt, "the file of '{}/{}' is missing", bucket, key);
}

Result<Listing> LocalStore::List(std::string_view bucket, const ListOptions& options) {
  Listing out;
  RETURN_IF_ERROR(database_->Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(const index::BucketId id, index::FindBucket(connection, bucket));
    ASSIGN_OR_RETURN(out, index::ListObjects(connection, id, options));
    return {};
  }));
  return out;
}

Status LocalStore::Delete(std::string_view bucket, std::string_view key,
                          const std::optional<std::string>& if_match) {
  const Work remove = [&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(const index::BucketId id, index::FindBucket(connection, bucket));
    return index::DeleteObject(connection, id, key, if_match);
  };
  RETURN_IF_ERROR(database_->Write(remove));
  reaper_.Wake();
  return {};
}

Status LocalStore::DeleteMany(std::string_view bucket, const std::vector<std::string>& keys) {
  const Work remove = [&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(const index::BucketId id, index::FindBucket(connection, bucket));
    for (const std::string& key : keys) RETURN_IF_ERROR(index::DeleteObject(connection, id, key));
    return {};
  };
  RETURN_IF_ERROR(database_->Write(remove));
  reaper_.Wake();
  return {};
}

Result<ObjectInfo> LocalStore::Copy(const ObjectName& from, const ObjectName& to,
                                    const std::optional<Metadata>& metadata,
                                    const CopyConditions& conditions) {
  RETURN_IF_ERROR(CheckKey(to.key));
  for (int attempt = 0; attempt < kReadAttempts; ++attempt) {
    ASSIGN_OR_RETURN(ObjectInfo info, Head(from.bucket, from.key));
    if (conditions.source_etag && *conditions.source_etag != info.etag) {
      return Fail(ErrorCode::kConflict, "key '{}' has ETag {}", from.key, info.etag);
    }
    auto blob = blobs_->Link(info.blob_id);
    if (!blob && blob.error().code == ErrorCode::kNotFound) continue;
    if (!blob) return Wrap(blob.error(), "failed to copy object: ");
    info.key = to.key;
    info.modified = clock_.Wall();
    info.blob_id = blob->id();
    if (metadata) info.metadata = *metadata;
    RETURN_IF_ERROR(CommitBlob(*blob, [&](Connection& connection) -> Status {
      ASSIGN_OR_RETURN(const index::BucketId id, index::FindBucket(connection, to.bucket));
      return index::WriteObject(connection, id, info, conditions.target);
    }));
    return info;
  }
  return Fail(ErrorCode::kCorrupt, "the file of '{}/{}' is missing", from.bucket, from.key);
}

}  // namespace sabia::objects
