#include <algorithm>
#include <array>

#include "base/log.h"
#include "objects/object_content.h"
#include "s3/actions.h"
#include "s3/conditions.h"
#include "s3/expiry.h"
#include "s3/metadata.h"
#include "s3/range.h"
#include "s3/storage_class.h"
#include "s3/tag_set.h"
#include "s3/upload.h"

namespace sabia::s3 {
namespace {

struct Override {
  std::string_view parameter;
  std::string_view header;
};
constexpr std::array<Override, 6> kOverrides = {{
    {"response-cache-control", "cache-control"},
    {"response-content-disposition", "content-disposition"},
    {"response-content-encoding", "content-encoding"},
    {"response-content-language", "content-language"},
    {"response-content-type", "content-type"},
    {"response-expires", "expires"},
}};

S3Result AddOverrides(const S3Call& call, wire::Headers& headers) {
  for (const Override& entry : kOverrides) {
    const std::string_view value = call.Parameter(entry.parameter);
    if (value.empty()) continue;
    if (std::any_of(value.begin(), value.end(), [](unsigned char c) { return c < 0x20; })) {
      return wire::Refuse("InvalidArgument", 400, "{} holds a control character", entry.parameter);
    }
    headers.Set(entry.header, std::string(value));
  }
  return {};
}

constexpr std::size_t kSendStep = 512U << 10;

// What of the object is sent.
struct Slice {
  ByteRange range;
  bool partial = false;                            // 206
  std::optional<std::size_t> part = std::nullopt;  // counts from 0
};

wire::AwsResult<Slice> ChoosePart(const S3Call& call, const ObjectInfo& info) {
  ASSIGN_OR_RETURN(const int number, ReadPartNumber(call));
  if (call.headers().Has("range")) {
    return wire::Refuse("InvalidRequest", 400,
                        "Cannot specify both Range header and partNumber query parameter");
  }
  const std::size_t parts = std::max<std::size_t>(info.parts.size(), 1);
  if (static_cast<std::size_t>(number) > parts) {
    return wire::Refuse("InvalidPartNumber", 416, "The requested partnumber is not satisfiable");
  }
  if (info.parts.empty()) return Slice{{0, info.size}, info.size > 0};
  std::uint64_t offset = 0;
  for (int i = 0; i + 1 < number; ++i) offset += info.parts[static_cast<std::size_t>(i)];
  const auto index = static_cast<std::size_t>(number - 1);
  return Slice{{offset, info.parts[index]}, true, index};
}

wire::AwsResult<Slice> ChooseSlice(const S3Call& call, const ObjectInfo& info) {
  if (call.query.Has("partNumber")) return ChoosePart(call, info);
  const std::string_view header = call.headers().Get("range");
  if (header.empty()) return Slice{{0, info.size}, false};
  auto range = ParseRange(header, info.size);
  if (!range) {
    range.error().details = {{"RangeRequested", std::string(header)},
                             {"ActualObjectSize", std::to_string(info.size)}};
    return tl::unexpected<wire::AwsError>(std::move(range).error());
  }
  if (!*range) return Slice{{0, info.size}, false};
  return Slice{**range, true};
}

void AddPartChecksum(const ObjectInfo& info, std::size_t part, wire::Headers& headers) {
  for (const auto& [name, value] : PartChecksum(info, part)) {
    headers.Add("x-amz-checksum-" + name, value);
    headers.Add("x-amz-checksum-type", std::string(ChecksumTypeOf(info.checksums.at(name))));
  }
}

wire::Headers DescribeObject(const S3Call& call, const ObjectInfo& info, const Slice& slice) {
  wire::Headers headers;
  if (info.envelope.empty()) {
    // Early versions wrote down what was asked for and did not do it.
    Metadata honest = info.metadata;
    KeepEncryption({}, honest);
    AddMetadata(honest, headers);
  } else {
    AddMetadata(info.metadata, headers);
  }
  AddVersion(call, info.version_id, headers);
  AddStorageClass(info.storage_class, headers);
  AddTagCount(info.tags, headers);
  AddExpiration(call, info, headers);
  headers.Add("ETag", Quoted(info.etag));
  headers.Add("Last-Modified", FormatRfc1123(info.modified));
  headers.Add("Accept-Ranges", "bytes");
  // A client compares the checksum with what it received, so a piece must not carry that of the
  // whole.
  if (call.headers().Get("x-amz-checksum-mode") == "ENABLED") {
    if (!slice.partial) AddChecksums(info.checksums, headers);
    if (slice.part) AddPartChecksum(info, *slice.part, headers);
  }
  if (slice.partial) {
    headers.Add("Content-Range",
                fmt::format("bytes {}-{}/{}", slice.range.offset,
                            slice.range.offset + slice.range.length - 1, info.size));
  }
  if (call.query.Has("partNumber") && !info.parts.empty()) {
    headers.Add("x-amz-mp-parts-count", std::to_string(info.parts.size()));
  }
  return headers;
}

S3Result AnswerNotModified(S3Call& call, const ObjectInfo& info) {
  wire::Headers headers;
  AddVersion(call, info.version_id, headers);
  headers.Add("ETag", Quoted(info.etag));
  headers.Add("Last-Modified", FormatRfc1123(info.modified));
  return Answer(call, 304, std::move(headers));
}

// A named version, and for HEAD, without its file.
Result<ObjectStore::Served> FindObject(const S3Call& call, const VersionChoice& version) {
  const auto& [bucket, key] = call.target;
  if (!version && !call.is_head()) return call.store.Serve(bucket, key);
  Result<ObjectStore::Opened> object;
  if (call.is_head()) {
    object = call.store.Head(bucket, key, version).map([](ObjectInfo&& info) {
      return ObjectStore::Opened{std::move(info), {}};
    });
  } else {
    object = call.store.Get(bucket, key, version);
  }
  if (!object) return tl::make_unexpected(object.error());
  return ObjectStore::Served{std::make_shared<const ObjectInfo>(std::move(object->info)), nullptr,
                             std::move(object->fd)};
}

wire::AwsResult<ObjectStore::Served> OpenObject(const S3Call& call) {
  ASSIGN_OR_RETURN(const VersionChoice version, ReadVersion(call));
  auto object = FindObject(call, version);
  if (!object) return RefuseMissing(call, object.error());
  if (object->info->delete_marker) return RefuseMarker(call, *object->info);
  return std::move(*object);
}

void SendBytes(S3Call& call, const ObjectStore::Served& object, const ByteRange& range) {
  if (call.is_head() || range.length == 0) return;
  if (object.content) {
    (void)call.exchange.Write(std::string_view(*object.content).substr(range.offset, range.length));
  } else {
    (void)call.exchange.SendFile(object.fd.get(), range.offset, range.length);
  }
}

// The first bytes are opened before anything is sent, so that a missing key or damage at the start
// is an answer and not a broken connection.
S3Result SendSealed(S3Call& call, const ObjectStore::Served& object, const Slice& slice,
                    const wire::Headers& headers) {
  auto content = objects::ObjectContent::Open(call.store.keys(), *object.info, object.fd.get());
  if (!content) return tl::unexpected<wire::AwsError>(ToS3Error(content.error(), call.target));
  const auto& [offset, length] = slice.range;
  std::string buffer(std::min<std::uint64_t>(length, kSendStep), '\0');
  Status read = content->Read(offset, buffer);
  if (!read) return tl::unexpected<wire::AwsError>(ToS3Error(read.error(), call.target));
  if (!call.exchange.Begin(slice.partial ? 206 : 200, headers, length)) return {};
  for (std::uint64_t done = 0; done < length;) {
    const std::size_t n = std::min<std::uint64_t>(buffer.size(), length - done);
    if (done > 0) read = content->Read(offset + done, {buffer.data(), n});
    if (!read) {
      LogError("S3 object '{}/{}' failed after {} bytes: {}", call.target.bucket, call.target.key,
               done, read.error().message);
      return {};  // the connection breaks, for the answer is too short
    }
    if (!call.exchange.Write({buffer.data(), n})) return {};
    done += n;
  }
  return {};
}

}  // namespace

S3Result GetObject(S3Call& call) {
  ASSIGN_OR_RETURN(const ObjectStore::Served object, OpenObject(call));
  switch (Evaluate(ReadConditions(call.headers(), ""), *object.info)) {
    case Verdict::kNotModified:
      return AnswerNotModified(call, *object.info);
    case Verdict::kFailed:
      return wire::Refuse("PreconditionFailed", 412,
                          "At least one of the pre-conditions you specified did not hold");
    case Verdict::kProceed:
      break;
  }
  ASSIGN_OR_RETURN(const Slice slice, ChooseSlice(call, *object.info));
  wire::Headers headers = DescribeObject(call, *object.info, slice);
  RETURN_IF_ERROR(AddOverrides(call, headers));
  AddCommon(call, headers);
  if (!object.info->envelope.empty() && !call.is_head()) {
    return SendSealed(call, object, slice, headers);
  }
  // From here on a failure can only break the connection, which is how the client learns of it.
  if (!call.exchange.Begin(slice.partial ? 206 : 200, headers, slice.range.length)) return {};
  SendBytes(call, object, slice.range);
  return {};
}

}  // namespace sabia::s3
