// The ObjectStore on a local directory and a SQLite index.
//
// Threading: thread-safe. The parts of a commit always come in this order: bytes synced, name in
// tmp synced, row committed, file moved; for a small object: file written, row and bytes committed
// together, file moved, and later all files synced, bytes forgotten; and for removal: row gone and
// blob in the garbage, committed together, then unlink.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "objects/blob_directory.h"
#include "objects/bucket_cache.h"
#include "objects/joint_upload.h"
#include "objects/key_ring.h"
#include "objects/multipart_index.h"
#include "objects/object_cache.h"
#include "objects/object_store.h"
#include "objects/reaper.h"
#include "objects/settler.h"
#include "store/database.h"
#include "wire/md5_team.h"

namespace sabia::objects {

class LocalStore final : public ObjectStore {
 public:
  LocalStore(ObjectStoreOptions options, env::Clock& clock, env::Random& random,
             std::unique_ptr<BlobDirectory> blobs, std::unique_ptr<store::Database> database);

  Status LoadBuckets() { return buckets_.Load(); }

  Status CreateBucket(std::string_view bucket, std::string_view region,
                      const Settings& settings) override;
  Status DeleteBucket(std::string_view bucket) override;
  Result<BucketHandle> GetBucket(std::string_view bucket) override { return buckets_.Find(bucket); }
  Result<std::vector<BucketHandle>> ListBuckets() override { return buckets_.All(); }
  Status SetVersioning(std::string_view bucket, Versioning versioning) override;
  Status PutSetting(std::string_view bucket, std::string_view name,
                    const std::optional<std::string>& document) override;

  Result<std::unique_ptr<Upload>> BeginUpload(std::vector<ChecksumAlgorithm> algorithms) override;
  Result<ObjectInfo> Put(std::string_view bucket, std::string_view key,
                         std::unique_ptr<Upload> upload, const PutOptions& options) override;
  void PutLater(std::string_view bucket, std::string_view key, std::unique_ptr<Upload> upload,
                const PutOptions& options, PutDone done) override;
  Result<ObjectInfo> Head(std::string_view bucket, std::string_view key,
                          const VersionChoice& version) override;
  Result<Opened> Get(std::string_view bucket, std::string_view key,
                     const VersionChoice& version) override;
  Result<Served> Serve(std::string_view bucket, std::string_view key) override;
  Result<std::optional<ObjectInfo>> NewestMarker(std::string_view bucket,
                                                 std::string_view key) override;
  Result<Listing> List(std::string_view bucket, const ListOptions& options) override;
  Result<VersionListing> ListVersions(std::string_view bucket,
                                      const ListVersionsOptions& options) override;
  Result<Deleted> Delete(std::string_view bucket, std::string_view key,
                         const DeleteOptions& options) override;
  Result<std::vector<Result<Deleted>>> DeleteMany(
      std::string_view bucket, const std::vector<DeleteRequest>& requests) override;
  Result<ObjectInfo> Copy(const ObjectName& from, const ObjectName& to,
                          const CopyOptions& options) override;
  Result<ObjectInfo> SetTags(const ObjectName& object, const Tags& tags) override;

  Result<std::string> CreateMultipart(std::string_view bucket, std::string_view key,
                                      const MultipartOptions& options) override;
  Result<MultipartInfo> GetMultipart(const UploadName& upload) override;
  Result<std::unique_ptr<Upload>> BeginPart(const UploadName& upload, int number,
                                            std::uint64_t size,
                                            std::vector<ChecksumAlgorithm> algorithms) override;
  Result<PartInfo> PutPart(const UploadName& upload, int number,
                           std::unique_ptr<Upload> data) override;
  Result<ObjectInfo> CompleteMultipart(const UploadName& upload, const std::vector<PartInfo>& parts,
                                       const CompleteOptions& options) override;
  Status AbortMultipart(const UploadName& upload) override;
  Result<std::vector<PartInfo>> ListParts(const UploadName& upload) override;
  Result<MultipartListing> ListMultiparts(std::string_view bucket,
                                          const ListMultipartsOptions& options) override;

  KeyRing& keys() override { return keys_; }
  Result<std::unique_ptr<Upload>> BeginSealedUpload(
      const UploadSeal& seal, std::vector<ChecksumAlgorithm> algorithms) override;

  env::Path BlobPath(const ObjectInfo& info) const override { return blobs_->PathOf(info.blob_id); }

 private:
  using Work = store::Database::Work;
  struct SmallPut;
  // After such a failure it is not known whether the rows reached the disk.
  static bool MayBeCommitted(const Error& error);
  // Commits a change of the bucket's own rows.
  Status ChangeBucket(std::string_view bucket, const Work& work);
  // Commits rows that refer to the blob, then moves it to its place. REQUIRES: its bytes are
  // synced.
  Status CommitBlob(TemporaryBlob& blob, const Work& work);
  Result<ObjectInfo> RepeatedComplete(const UploadName& upload, Error not_found);
  Result<ObjectInfo> PutSealed(const ObjectName& name, Upload& upload, const PutOptions& options);
  // The parts' bytes one after the other in a new blob, synced.
  Result<TemporaryBlob> Concatenate(const std::vector<index::PartRow>& parts, bool sealed);
  struct Completion;
  Status WriteCompletion(store::Connection& connection, Completion& completion);
  // The parts lie in the joint blob as they shall: nothing is copied. False: they do not.
  Result<bool> CompleteInPlace(Completion& completion);
  Status CompleteByJoining(Completion& completion);
  Status WriteSmall(store::Connection& connection, SmallPut& put);
  void EndSmall(SmallPut& put, const Status& committed);

  const ObjectStoreOptions options_;
  env::Clock& clock_;
  env::Random& random_;
  const std::unique_ptr<BlobDirectory> blobs_;
  const std::unique_ptr<store::Database> database_;
  BucketCache buckets_;
  env::PosixFiles files_;
  KeyRing keys_;
  ObjectCache cache_;
  wire::Md5Team md5_;
  JointUploads joints_;
  // Last: their threads use the others.
  Settler settler_;
  Reaper reaper_;
};

}  // namespace sabia::objects
