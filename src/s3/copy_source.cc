#include "s3/copy_source.h"

#include <algorithm>

#include "objects/object_content.h"
#include "s3/access.h"
#include "s3/conditions.h"

namespace sabia::s3 {

wire::AwsResult<CopySource> OpenCopySource(const S3Call& call) {
  const std::string_view owner = call.headers().Get("x-amz-source-expected-bucket-owner");
  if (!owner.empty() && owner != call.context.principal.account) {
    return wire::Refuse("AccessDenied", 403, "Access Denied");
  }
  ASSIGN_OR_RETURN(S3Source source, ParseCopySource(call.headers().Get("x-amz-copy-source")));
  S3Target& target = source.target;
  VersionChoice version;
  if (source.version) {
    ASSIGN_OR_RETURN(version, ParseVersion(*source.version));
  }
  RETURN_IF_ERROR(AuthorizeObject(call, {"GetObject", target, version}));
  ASSIGN_OR_RETURN(auto object, InS3(call.store.Get(target.bucket, target.key, version), target));
  if (object.info.delete_marker) {
    return wire::Refuse("InvalidRequest", 400,
                        "The source of a copy request may not specifically refer to a delete "
                        "marker by version id.");
  }
  const Conditions conditions = ReadConditions(call.headers(), "x-amz-copy-source-");
  if (Evaluate(conditions, object.info) != Verdict::kProceed) {
    return wire::Refuse("PreconditionFailed", 412,
                        "At least one of the pre-conditions you specified did not hold");
  }
  return CopySource{std::move(target), std::move(version), std::move(object)};
}

void AddSourceVersion(const S3Call& call, const CopySource& source, wire::Headers& headers) {
  const auto bucket = call.store.GetBucket(source.target.bucket);
  if (!bucket || (*bucket)->versioning == Versioning::kOff) return;
  headers.Add("x-amz-copy-source-version-id", ShownVersion(source.object.info.version_id));
}

Status WriteRange(ObjectStore& store, const ObjectStore::Opened& object, const ByteRange& range,
                  Upload& upload) {
  ASSIGN_OR_RETURN(auto content,
                   objects::ObjectContent::Open(store.keys(), object.info, object.fd.get()));
  std::string buffer(std::min<std::uint64_t>(range.length, 1U << 20), '\0');
  for (std::uint64_t done = 0; done < range.length;) {
    const std::size_t n = std::min<std::uint64_t>(buffer.size(), range.length - done);
    RETURN_IF_ERROR(content.Read(range.offset + done, {buffer.data(), n}));
    RETURN_IF_ERROR(upload.Write({buffer.data(), n}));
    done += n;
  }
  return {};
}

}  // namespace sabia::s3
