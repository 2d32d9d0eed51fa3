#include <unistd.h>

#include <cerrno>

#include "base/encoding.h"
#include "objects/file_upload.h"
#include "objects/local_store.h"
#include "objects/multipart_index.h"
#include "objects/object_index.h"
#include "objects/sealed_upload.h"

namespace sabia::objects {
namespace {

using index::PartRow;
using store::Connection;

tl::unexpected<Error> InvalidPart(int number, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument, "InvalidPart {}: {}", number, why);
}

// The stored parts that the client named, in the client's order; everything about them agrees.
Result<std::vector<PartRow>> ChooseParts(const std::vector<PartRow>& stored,
                                         const std::vector<PartInfo>& named) {
  std::vector<PartRow> out;
  auto at = stored.begin();
  for (const PartInfo& part : named) {
    if (!out.empty() && part.number <= out.back().info.number) {
      return Fail(ErrorCode::kInvalidArgument, "InvalidPartOrder: part {} follows part {}",
                  part.number, out.back().info.number);
    }
    while (at != stored.end() && at->info.number < part.number) ++at;
    if (at == stored.end() || at->info.number != part.number) {
      return InvalidPart(part.number, "was not uploaded");
    }
    if (at->info.etag != part.etag) return InvalidPart(part.number, "has another ETag");
    for (const auto& [name, value] : part.checksums) {
      const auto known = at->info.checksums.find(name);
      if (known != at->info.checksums.end() && known->second != value) {
        return InvalidPart(part.number, "has another checksum");
      }
    }
    out.push_back(*at);
  }
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    if (out[i].info.size < kPartBytesMin) {
      return Fail(ErrorCode::kInvalidArgument,
                  "EntityTooSmall: part {} has {} bytes; every part but the last needs {}",
                  out[i].info.number, out[i].info.size, kPartBytesMin);
    }
  }
  return out;
}

Result<std::string> DecodedChecksum(const PartRow& part, ChecksumAlgorithm algorithm) {
  const auto found = part.info.checksums.find(std::string(Name(algorithm)));
  if (found == part.info.checksums.end()) {
    return InvalidPart(part.info.number, fmt::format("has no {} checksum", Name(algorithm)));
  }
  return Base64Decode(found->second);
}

Result<std::string> WholeChecksum(const std::vector<PartRow>& parts, ChecksumAlgorithm algorithm) {
  std::string crc;
  for (const PartRow& part : parts) {
    ASSIGN_OR_RETURN(const std::string next, DecodedChecksum(part, algorithm));
    crc = crc.empty() ? next : CombineCrc(algorithm, crc, next, part.info.size);
  }
  return Base64Encode(crc);
}

Result<std::string> CompositeChecksum(const std::vector<PartRow>& parts,
                                      ChecksumAlgorithm algorithm) {
  const auto hasher = NewHasher(algorithm);
  for (const PartRow& part : parts) {
    ASSIGN_OR_RETURN(const std::string next, DecodedChecksum(part, algorithm));
    hasher->Update(next);
  }
  return fmt::format("{}-{}", Base64Encode(hasher->Finish()), parts.size());
}

// Everything about the object but its blob and time.
Result<ObjectInfo> Assemble(const MultipartInfo& upload, const std::vector<PartRow>& parts) {
  ObjectInfo out;
  out.key = upload.key;
  out.metadata = upload.options.metadata;
  out.tags = upload.options.tags;
  out.storage_class = upload.options.storage_class;
  if (!upload.options.envelope.empty()) {
    std::vector<int> numbers;
    for (const PartRow& part : parts) numbers.push_back(part.info.number);
    ASSIGN_OR_RETURN(out.envelope, NumberParts(upload.options.envelope, numbers));
  }
  const auto md5 = NewMd5();
  for (const PartRow& part : parts) {
    ASSIGN_OR_RETURN(const std::string digest, HexDecode(part.info.etag));
    md5->Update(digest);
    out.size += part.info.size;
    out.parts.push_back(part.info.size);
  }
  if (out.size > kObjectBytesMax) {
    return Fail(ErrorCode::kInvalidArgument, "EntityTooLarge: {} bytes; allowed are {}", out.size,
                kObjectBytesMax);
  }
  out.etag = fmt::format("{}-{}", HexEncode(md5->Finish()), parts.size());
  const ChecksumAlgorithm algorithm = upload.options.algorithm.value_or(ChecksumAlgorithm::kCrc32);
  const bool whole = !upload.options.algorithm || upload.options.full_object;
  ASSIGN_OR_RETURN(out.checksums[std::string(Name(algorithm))],
                   whole ? WholeChecksum(parts, algorithm) : CompositeChecksum(parts, algorithm));
  if (!upload.options.algorithm) return out;
  for (const PartRow& part : parts) {
    ASSIGN_OR_RETURN(const std::string raw, DecodedChecksum(part, algorithm));
    out.part_checksums += raw;
  }
  return out;
}

Status CheckExpected(const ObjectInfo& info, const CompleteOptions& expected) {
  if (expected.size && *expected.size != info.size) {
    return Fail(ErrorCode::kInvalidArgument, "BadSize: {} bytes were announced, the parts have {}",
                *expected.size, info.size);
  }
  for (const auto& [name, value] : expected.checksums) {
    const auto known = info.checksums.find(name);
    const std::string bare =
        known == info.checksums.end() ? "" : known->second.substr(0, known->second.find('-'));
    if (known == info.checksums.end() || (value != known->second && value != bare)) {
      return Fail(ErrorCode::kInvalidArgument, "BadDigest: the {} of the parts differs", name);
    }
  }
  return {};
}

// The parts lie one after the other in that blob, from its beginning.
bool LiesInOrder(const std::vector<PartRow>& parts, std::string_view blob_id) {
  std::uint64_t offset = 0;
  for (const PartRow& part : parts) {
    if (!part.place || *part.place != offset || part.blob_id != blob_id) return false;
    offset += part.info.size;
  }
  return true;
}

bool SameBlobs(const std::vector<PartRow>& chosen, const std::vector<PartRow>& stored) {
  auto at = stored.begin();
  for (const PartRow& part : chosen) {
    while (at != stored.end() && at->info.number < part.info.number) ++at;
    if (at == stored.end() || at->blob_id != part.blob_id || at->place != part.place) return false;
  }
  return true;
}

Status CheckPartNumber(int number) {
  if (number >= 1 && number <= kPartNumberMax) return {};
  return Fail(ErrorCode::kInvalidArgument, "part number {} is not in 1 to {}", number,
              kPartNumberMax);
}

}  // namespace

Result<std::string> LocalStore::CreateMultipart(std::string_view bucket, std::string_view key,
                                                const MultipartOptions& options) {
  if (key.empty() || key.size() > kKeyBytesMax || !IsUtf8(key)) {
    return Fail(ErrorCode::kInvalidArgument, "key must be UTF-8 of 1 to {} bytes", kKeyBytesMax);
  }
  ASSIGN_OR_RETURN(TemporaryBlob joint, blobs_->CreateJoint());
  index::UploadRow row;
  row.info = {random_.Hex(64), std::string(key), clock_.Wall(), options};
  row.joint = joint.id();
  const Status committed = database_->Write([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(row.bucket, index::FindBucket(connection, bucket));
    return index::InsertUpload(connection, row);
  });
  if (!committed) {
    if (MayBeCommitted(committed.error())) joint.Abandon();
    return tl::make_unexpected(committed.error());
  }
  joint.Abandon();  // its parts decide
  joints_.Begin(row.info.upload_id, row.joint);
  return row.info.upload_id;
}

Result<MultipartInfo> LocalStore::GetMultipart(const UploadName& upload) {
  MultipartInfo out;
  RETURN_IF_ERROR(database_->Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(index::UploadRow row, index::FindUpload(connection, upload));
    out = std::move(row.info);
    return {};
  }));
  return out;
}

Result<std::unique_ptr<Upload>> LocalStore::BeginPart(const UploadName& upload, int number,
                                                      std::uint64_t size,
                                                      std::vector<ChecksumAlgorithm> algorithms) {
  RETURN_IF_ERROR(CheckPartNumber(number));
  FileUpload::Parts parts{*blobs_, md5_, std::move(algorithms)};
  auto place = joints_.Claim(upload.upload_id, number, size);
  if (!place) return std::make_unique<FileUpload>(std::move(parts));
  auto fd = blobs_->OpenJoint(place->blob_id());
  if (!fd && fd.error().code == ErrorCode::kNotFound) {
    // Aborted meanwhile, as PutPart will find.
    return std::make_unique<FileUpload>(std::move(parts));
  }
  if (!fd) return tl::make_unexpected(fd.error());
  if (::lseek(fd->get(), static_cast<off_t>(place->offset()), SEEK_SET) < 0) {
    return FailErrno(errno, "failed to go to the place of part {}", number);
  }
  return std::make_unique<FileUpload>(std::move(parts), std::move(*place), std::move(*fd));
}

Result<PartInfo> LocalStore::PutPart(const UploadName& upload, int number,
                                     std::unique_ptr<Upload> data) {
  RETURN_IF_ERROR(CheckPartNumber(number));
  ASSIGN_OR_RETURN(Upload* const written, FinishSealed(*data));
  auto& file = dynamic_cast<FileUpload&>(*written);  // BeginPart() makes no others
  RETURN_IF_ERROR(file.Sync());
  JointPlace* const place = file.place();
  PartRow part;
  part.info = {number, file.size(), file.FinishMd5(), clock_.Wall(), file.AllChecksums()};
  part.blob_id = place != nullptr ? place->blob_id() : file.blob().id();
  if (place != nullptr) part.place = place->offset();
  DescribeSealed(*data, part.info);
  const Work work = [&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(const index::UploadRow row, index::FindUpload(connection, upload));
    return index::WritePart(connection, row.id, part);
  };
  if (place == nullptr) {
    RETURN_IF_ERROR(CommitBlob(file.blob(), work));
    return part.info;
  }
  RETURN_IF_ERROR(blobs_->SyncTemporary());
  const Status committed = database_->Write(work);
  if (committed || MayBeCommitted(committed.error())) place->Keep();
  if (!committed) return tl::make_unexpected(committed.error());
  reaper_.Wake();
  return part.info;
}

Result<TemporaryBlob> LocalStore::Concatenate(const std::vector<PartRow>& parts, bool sealed) {
  if (parts.size() == 1 && !parts.front().place) return blobs_->Link(parts.front().blob_id);
  ASSIGN_OR_RETURN(BlobDirectory::Created created, blobs_->Create());
  for (const PartRow& part : parts) {
    ASSIGN_OR_RETURN(const env::UniqueFd source, blobs_->OpenBlob(part.blob_id));
    const FileRange range{part.place.value_or(0),
                          sealed ? SealedSize(part.info.size) : part.info.size};
    RETURN_IF_ERROR(AppendFile(source.get(), range, created.fd.get()));
  }
  RETURN_IF_ERROR(SyncFile(created.fd.get()));
  return std::move(created.blob);
}

Result<ObjectInfo> LocalStore::RepeatedComplete(const UploadName& upload, Error not_found) {
  ASSIGN_OR_RETURN(const BucketHandle bucket, buckets_.Find(upload.bucket));
  std::optional<ObjectInfo> made;
  RETURN_IF_ERROR(database_->Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(made, index::ReadByOrigin(connection, bucket->id, upload));
    return {};
  }));
  if (!made) return tl::unexpected<Error>(std::move(not_found));
  return std::move(*made);
}

struct LocalStore::Completion {
  const UploadName& upload;
  const PutOptions& conditions;
  const std::vector<PartRow>& parts;
  ObjectInfo info;
};

Status LocalStore::WriteCompletion(Connection& connection, Completion& completion) {
  ASSIGN_OR_RETURN(const index::UploadRow row, index::FindUpload(connection, completion.upload));
  ASSIGN_OR_RETURN(const std::vector<PartRow> stored, index::ReadParts(connection, row.id));
  if (!SameBlobs(completion.parts, stored)) {
    return InvalidPart(0, "a part was replaced meanwhile");
  }
  RETURN_IF_ERROR(index::ObjectWriter(connection, row.bucket, random_)
                      .Write(completion.info, completion.conditions, completion.upload.upload_id));
  return index::DeleteUpload(connection, row, completion.info.blob_id);
}

Result<bool> LocalStore::CompleteInPlace(Completion& completion) {
  const auto seal = joints_.Seal(completion.upload.upload_id);
  if (!seal || !LiesInOrder(completion.parts, seal->blob_id())) return false;
  const std::string& id = completion.info.blob_id = seal->blob_id();
  ASSIGN_OR_RETURN(const bool whole, blobs_->FreezeJoint(id, completion.info.size));
  if (!whole) return false;  // there is a part that the client does not name
  const Status committed = database_->Write(
      [&](Connection& connection) { return WriteCompletion(connection, completion); });
  if (committed) {
    blobs_->PublishJoint(id);
    reaper_.Wake();
    return true;
  }
  if (!MayBeCommitted(committed.error())) blobs_->ThawJoint(id);
  return tl::make_unexpected(committed.error());
}

Status LocalStore::CompleteByJoining(Completion& completion) {
  auto blob = Concatenate(completion.parts, !completion.info.envelope.empty());
  if (!blob && blob.error().code == ErrorCode::kNotFound) {
    // A part was replaced, or the upload completed or aborted by another call, while we copied.
    return Fail(ErrorCode::kNotFound, "upload changed meanwhile");
  }
  if (!blob) return Wrap(blob.error(), "failed to join the parts: ");
  completion.info.blob_id = blob->id();
  return CommitBlob(
      *blob, [&](Connection& connection) { return WriteCompletion(connection, completion); });
}

Result<ObjectInfo> LocalStore::CompleteMultipart(const UploadName& upload,
                                                 const std::vector<PartInfo>& parts,
                                                 const CompleteOptions& options) {
  if (parts.empty()) return Fail(ErrorCode::kInvalidArgument, "InvalidPart: no parts are named");
  index::UploadRow row;
  std::vector<PartRow> chosen;
  const Status found = database_->Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(row, index::FindUpload(connection, upload));
    ASSIGN_OR_RETURN(const std::vector<PartRow> stored, index::ReadParts(connection, row.id));
    ASSIGN_OR_RETURN(chosen, ChooseParts(stored, parts));
    return {};
  });
  if (!found) {
    if (found.error().code != ErrorCode::kNotFound) return tl::unexpected<Error>(found.error());
    return RepeatedComplete(upload, found.error());
  }
  ASSIGN_OR_RETURN(ObjectInfo info, Assemble(row.info, chosen));
  RETURN_IF_ERROR(CheckExpected(info, options));
  info.modified = clock_.Wall();
  const auto change = cache_.Begin(upload.bucket, upload.key);
  Completion completion{upload, options.target, chosen, std::move(info)};
  const Result<bool> in_place = CompleteInPlace(completion);
  Status completed;
  if (!in_place) {
    completed = tl::make_unexpected(in_place.error());
  } else if (!*in_place) {
    completed = CompleteByJoining(completion);
  }
  if (completed) {
    joints_.Forget(upload.upload_id);
    return std::move(completion.info);
  }
  if (completed.error().code == ErrorCode::kNotFound) {
    return RepeatedComplete(upload, completed.error());
  }
  return tl::make_unexpected(completed.error());
}

Status LocalStore::AbortMultipart(const UploadName& upload) {
  RETURN_IF_ERROR(database_->Write([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(const index::UploadRow row, index::FindUpload(connection, upload));
    return index::DeleteUpload(connection, row);
  }));
  joints_.Forget(upload.upload_id);
  reaper_.Wake();
  return {};
}

Result<std::vector<PartInfo>> LocalStore::ListParts(const UploadName& upload) {
  std::vector<PartInfo> out;
  RETURN_IF_ERROR(database_->Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(const index::UploadRow row, index::FindUpload(connection, upload));
    ASSIGN_OR_RETURN(std::vector<PartRow> parts, index::ReadParts(connection, row.id));
    for (PartRow& part : parts) out.push_back(std::move(part.info));
    return {};
  }));
  return out;
}

Result<MultipartListing> LocalStore::ListMultiparts(std::string_view bucket,
                                                    const ListMultipartsOptions& options) {
  ASSIGN_OR_RETURN(const BucketHandle known, buckets_.Find(bucket));
  MultipartListing out;
  RETURN_IF_ERROR(database_->Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(out, index::ListUploads(connection, known->id, options));
    return {};
  }));
  return out;
}

}  // namespace sabia::objects
