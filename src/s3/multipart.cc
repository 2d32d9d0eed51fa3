#include <charconv>

#include "s3/actions.h"
#include "s3/copy_source.h"
#include "s3/encryption.h"
#include "s3/expiry.h"
#include "s3/metadata.h"
#include "s3/slow_answer.h"
#include "s3/storage_class.h"
#include "s3/tag_set.h"
#include "s3/upload.h"

namespace sabia::s3 {
namespace {

UploadName NameOf(const S3Call& call) {
  return {call.target.bucket, call.target.key, std::string(call.Parameter("uploadId"))};
}

wire::AwsResult<MultipartOptions> ReadOptions(const S3Call& call) {
  MultipartOptions out;
  ASSIGN_OR_RETURN(out.metadata, ReadMetadata(call.headers()));
  ASSIGN_OR_RETURN(out.storage_class, ReadStorageClass(call.headers()));
  ASSIGN_OR_RETURN(out.tags, ParseTagHeader(call.headers().Get("x-amz-tagging")));
  const std::string_view algorithm = call.headers().Get("x-amz-checksum-algorithm");
  const std::string_view type = call.headers().Get("x-amz-checksum-type");
  out.algorithm = ParseChecksumAlgorithm(algorithm);
  if (!algorithm.empty() && !out.algorithm) {
    return wire::Refuse("InvalidRequest", 400,
                        "Checksum algorithm provided is unsupported. Please try again with any of "
                        "the valid types: [CRC32, CRC32C, CRC64NVME, SHA1, SHA256]");
  }
  if (type.empty()) {
    out.full_object = out.algorithm == ChecksumAlgorithm::kCrc64Nvme;
    return out;
  }
  if (!out.algorithm) {
    return wire::Refuse("InvalidRequest", 400,
                        "The x-amz-checksum-type header can only be used with the "
                        "x-amz-checksum-algorithm header.");
  }
  out.full_object = type == "FULL_OBJECT";
  if (out.full_object ? !IsCrc(*out.algorithm) : *out.algorithm == ChecksumAlgorithm::kCrc64Nvme) {
    return wire::Refuse("InvalidRequest", 400,
                        "The {} checksum type cannot be used with the {} checksum algorithm.", type,
                        Name(*out.algorithm));
  }
  return out;
}

S3Result CheckPartAlgorithm(const MultipartInfo& upload, const BodyClaims& claims) {
  if (!upload.options.algorithm || !claims.algorithm ||
      *claims.algorithm == *upload.options.algorithm) {
    return {};
  }
  return wire::Refuse(
      "InvalidRequest", 400,
      "Checksum Type mismatch occurred, expected checksum Type: {}, actual checksum "
      "Type: {}",
      Name(*upload.options.algorithm), Name(*claims.algorithm));
}

// What every part of the upload must carry, so that the whole can be given a checksum.
ChecksumAlgorithm NeededAlgorithm(const MultipartInfo& upload) {
  return upload.options.algorithm.value_or(ChecksumAlgorithm::kCrc32);
}

// The checksum that the client announced, or that the upload is made with.
std::map<std::string, std::string> Shown(const PartInfo& part, ChecksumAlgorithm algorithm) {
  const auto found = part.checksums.find(std::string(Name(algorithm)));
  if (found == part.checksums.end()) return {};
  return {*found};
}

// The checksum headers of this request are about the object, not about the document in its body.
wire::AwsResult<CompleteOptions> ReadExpected(const S3Call& call) {
  CompleteOptions out;
  ASSIGN_OR_RETURN(out.target, ReadWriteConditions(call));
  using enum ChecksumAlgorithm;
  for (const ChecksumAlgorithm algorithm : {kCrc32, kCrc32c, kCrc64Nvme, kSha1, kSha256}) {
    const std::string name(Name(algorithm));
    const auto value = call.headers().Find("x-amz-checksum-" + name);
    if (value) out.checksums.emplace(name, *value);
  }
  const std::string_view size = call.headers().Get("x-amz-mp-object-size");
  if (size.empty()) return out;
  const char* const end = size.data() + size.size();
  std::uint64_t bytes = 0;
  const auto [at, error] = std::from_chars(size.data(), end, bytes);
  if (at != end || error != std::errc()) {
    return wire::Refuse("InvalidRequest", 400, "Value for x-amz-mp-object-size header is invalid.");
  }
  out.size = bytes;
  return out;
}

}  // namespace

S3Result CreateMultipartUpload(S3Call& call) {
  if (call.target.key.size() > kKeyBytesMax) {
    return RefuseKey({"KeyTooLongError", 400, "Your key is too long", {}}, call.target.key);
  }
  ASSIGN_OR_RETURN(MultipartOptions options, ReadOptions(call));
  ASSIGN_OR_RETURN(const EncryptionPlan plan, PlanEncryption(call));
  ASSIGN_OR_RETURN(auto seal, MakeSeal(call, plan, options.metadata));
  if (seal) options.envelope = std::move(seal->envelope);
  ASSIGN_OR_RETURN(
      const std::string id,
      InS3(call.store.CreateMultipart(call.target.bucket, call.target.key, options), call.target));
  XmlWriter xml("InitiateMultipartUploadResult");
  xml.Element("Bucket", call.target.bucket).Element("Key", call.target.key).Element("UploadId", id);
  wire::Headers headers;
  AddEncryption(options.metadata, headers);
  AddAbort(call, {id, call.target.key, call.context.now, options}, headers);
  if (options.algorithm) {
    headers.Add("x-amz-checksum-algorithm",
                std::string(call.headers().Get("x-amz-checksum-algorithm")));
    headers.Add("x-amz-checksum-type", options.full_object ? "FULL_OBJECT" : "COMPOSITE");
  }
  return AnswerXml(call, xml.Finish(), std::move(headers));
}

S3Result UploadPart(S3Call& call) {
  ASSIGN_OR_RETURN(const int number, ReadPartNumber(call));
  ASSIGN_OR_RETURN(const MultipartInfo info,
                   InS3(call.store.GetMultipart(NameOf(call)), call.target));
  ASSIGN_OR_RETURN(const BodyClaims claims, ReadClaims(call));
  RETURN_IF_ERROR(CheckPartAlgorithm(info, claims));
  ASSIGN_OR_RETURN(Seal seal, SealOfPart(call, info, number));
  ASSIGN_OR_RETURN(auto upload,
                   ReceivePart(call, claims, {number, NeededAlgorithm(info), std::move(seal)}));
  ASSIGN_OR_RETURN(const PartInfo part,
                   InS3(call.store.PutPart(NameOf(call), number, std::move(upload)), call.target));
  wire::Headers headers;
  headers.Add("ETag", Quoted(part.etag));
  const auto shown = Shown(part, claims.algorithm.value_or(NeededAlgorithm(info)));
  for (const auto& [name, value] : shown) headers.Add("x-amz-checksum-" + name, value);
  AddEncryption(info.options.metadata, headers);
  return Answer(call, 200, std::move(headers));
}

S3Result UploadPartCopy(S3Call& call) {
  ASSIGN_OR_RETURN(const int number, ReadPartNumber(call));
  ASSIGN_OR_RETURN(const MultipartInfo info,
                   InS3(call.store.GetMultipart(NameOf(call)), call.target));
  ASSIGN_OR_RETURN(const CopySource source, OpenCopySource(call));
  ByteRange range{0, source.object.info.size};
  const std::string_view header = call.headers().Get("x-amz-copy-source-range");
  if (!header.empty()) {
    ASSIGN_OR_RETURN(range, ParseCopyRange(header, source.object.info.size));
  }
  if (range.length > kSinglePutBytesMax) {
    return wire::Refuse("InvalidRequest", 400,
                        "The specified copy source is larger than the maximum allowable size for a "
                        "copy source: {}",
                        kSinglePutBytesMax);
  }
  ASSIGN_OR_RETURN(const Seal seal, SealOfPart(call, info, number));
  ASSIGN_OR_RETURN(auto upload, seal ? BeginUpload(call, seal, {NeededAlgorithm(info)})
                                     : InS3(call.store.BeginPart(NameOf(call), number, range.length,
                                                                 {NeededAlgorithm(info)}),
                                            call.target));
  RETURN_IF_ERROR(InS3(WriteRange(call.store, source.object, range, *upload), call.target));
  ASSIGN_OR_RETURN(const PartInfo part,
                   InS3(call.store.PutPart(NameOf(call), number, std::move(upload)), call.target));
  XmlWriter xml("CopyPartResult");
  xml.Element("LastModified", FormatIso8601(part.modified)).Element("ETag", Quoted(part.etag));
  WriteChecksums(xml, Shown(part, NeededAlgorithm(info)), false);
  wire::Headers headers;
  AddSourceVersion(call, source, headers);
  AddEncryption(info.options.metadata, headers);
  return AnswerXml(call, xml.Finish(), std::move(headers));
}

S3Result CompleteMultipartUpload(S3Call& call) {
  ASSIGN_OR_RETURN(const CompleteOptions options, ReadExpected(call));
  ASSIGN_OR_RETURN(const std::string document, ReceiveDocument(call, {}));
  ASSIGN_OR_RETURN(const std::vector<PartInfo> parts, ParseCompleteMultipart(document));
  // The parts may have to be copied into one file, which may take minutes.
  return AnswerXmlWhenDone(call, [&]() -> wire::AwsResult<XmlAnswer> {
    ASSIGN_OR_RETURN(const ObjectInfo info,
                     InS3(call.store.CompleteMultipart(NameOf(call), parts, options), call.target));
    XmlWriter xml("CompleteMultipartUploadResult");
    xml.Element("Location", fmt::format("{}/{}/{}", call.context.endpoint, call.target.bucket,
                                        NameEncoding{true}(call.target.key)));
    xml.Element("Bucket", call.target.bucket).Element("Key", call.target.key);
    xml.Element("ETag", Quoted(info.etag));
    WriteChecksums(xml, info.checksums, true);
    XmlAnswer answer;
    AddVersion(call, info.version_id, answer.headers);
    AddExpiration(call, info, answer.headers);
    AddEncryption(info.metadata, answer.headers);
    answer.document = xml.Finish();
    return answer;
  });
}

S3Result AbortMultipartUpload(S3Call& call) {
  RETURN_IF_ERROR(InS3(call.store.AbortMultipart(NameOf(call)), call.target));
  return Answer(call, 204);
}

}  // namespace sabia::s3
