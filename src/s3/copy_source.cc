#include "s3/copy_source.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "s3/conditions.h"

namespace sabia::s3 {

wire::AwsResult<CopySource> OpenCopySource(const S3Call& call) {
  const std::string_view owner = call.headers().Get("x-amz-source-expected-bucket-owner");
  if (!owner.empty() && owner != call.context.principal.account) {
    return wire::Refuse("AccessDenied", 403, "Access Denied");
  }
  ASSIGN_OR_RETURN(S3Target target, ParseCopySource(call.headers().Get("x-amz-copy-source")));
  ASSIGN_OR_RETURN(auto object, InS3(call.store.Get(target.bucket, target.key), target));
  const Conditions conditions = ReadConditions(call.headers(), "x-amz-copy-source-");
  if (Evaluate(conditions, object.info) != Verdict::kProceed) {
    return wire::Refuse("PreconditionFailed", 412,
                        "At least one of the pre-conditions you specified did not hold");
  }
  return CopySource{std::move(target), std::move(object)};
}

Status WriteRange(int fd, const ByteRange& range, Upload& upload) {
  std::string buffer(std::min<std::uint64_t>(range.length, 1U << 20), '\0');
  for (std::uint64_t done = 0; done < range.length;) {
    const std::size_t wanted = std::min<std::uint64_t>(buffer.size(), range.length - done);
    const ssize_t n = ::pread(fd, buffer.data(), wanted, static_cast<off_t>(range.offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno(errno, "failed to read the source");
    if (n == 0) return Fail(ErrorCode::kCorrupt, "the source is shorter than its row says");
    RETURN_IF_ERROR(upload.Write({buffer.data(), static_cast<std::size_t>(n)}));
    done += static_cast<std::uint64_t>(n);
  }
  return {};
}

}  // namespace sabia::s3
