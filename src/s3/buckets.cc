#include "base/encoding.h"
#include "s3/actions.h"
#include "s3/upload.h"

namespace sabia::s3 {
namespace {

constexpr std::size_t kBucketsPerPage = 10'000;
constexpr std::string_view kClassicRegion = "us-east-1";  // named by an empty location

}  // namespace

S3Result ListBuckets(S3Call& call) {
  ASSIGN_OR_RETURN(const auto buckets, InS3(call.store.ListBuckets(), call.target));
  ASSIGN_OR_RETURN(const std::size_t limit,
                   ReadCount(call, "max-buckets", kBucketsPerPage, kBucketsPerPage));
  if (limit == 0) {
    return wire::Refuse("InvalidArgument", 400,
                        "Argument max-buckets must be an integer between 1 and 10000");
  }
  const std::string_view prefix = call.Parameter("prefix");
  const std::string_view region = call.Parameter("bucket-region");
  const auto after = Base64Decode(call.Parameter("continuation-token"));
  if (!after) {
    return wire::Refuse("InvalidArgument", 400, "The continuation token provided is incorrect");
  }
  XmlWriter xml("ListAllMyBucketsResult");
  WriteOwner(xml, call.context);
  xml.Open("Buckets");
  std::size_t count = 0;
  std::string last;
  bool truncated = false;
  for (const BucketHandle& bucket : buckets) {
    if (bucket->name <= *after || !bucket->name.starts_with(prefix)) continue;
    if (!region.empty() && bucket->region != region) continue;
    if (count++ == limit) {
      truncated = true;
      break;
    }
    last = bucket->name;
    xml.Open("Bucket").Element("Name", bucket->name);
    xml.Element("CreationDate", FormatIso8601(bucket->created));
    xml.Element("BucketRegion", bucket->region).Close();
  }
  xml.Close();
  if (truncated) xml.Element("ContinuationToken", Base64Encode(last));
  if (!prefix.empty()) xml.Element("Prefix", prefix);
  return AnswerXml(call, xml.Finish());
}

S3Result CreateBucket(S3Call& call) {
  const std::string& bucket = call.target.bucket;
  if (!IsLegalBucketName(bucket)) {
    auto refusal = wire::Refuse("InvalidBucketName", 400, "The specified bucket is not valid.");
    refusal.value().details.emplace_back("BucketName", bucket);
    return refusal;
  }
  ASSIGN_OR_RETURN(const BodyClaims claims, ReadClaims(call));
  ASSIGN_OR_RETURN(const std::string document, ReceiveDocument(call, claims));
  ASSIGN_OR_RETURN(const BucketConfiguration wanted, ParseCreateBucket(document));
  const std::string& here = call.context.region;
  if (wanted.location.empty() ? here != kClassicRegion : wanted.location != here) {
    return wire::Refuse(
        "IllegalLocationConstraintException", 400,
        "The {} location constraint is incompatible for the region specific endpoint this request "
        "was sent to.",
        wanted.location.empty() ? std::string_view("unspecified") : wanted.location);
  }
  const Status created = call.store.CreateBucket(bucket, here);
  if (!created && created.error().code == ErrorCode::kAlreadyExists) {
    // The oldest region keeps the oldest behaviour: creating one's own bucket again succeeds there.
    if (here != kClassicRegion) {
      auto refusal = wire::Refuse("BucketAlreadyOwnedByYou", 409,
                                  "Your previous request to create the named bucket succeeded and "
                                  "you already own it.");
      refusal.value().details.emplace_back("BucketName", bucket);
      return refusal;
    }
  } else if (!created) {
    return tl::unexpected<wire::AwsError>(ToS3Error(created.error(), call.target));
  }
  wire::Headers headers;
  headers.Add("Location", "/" + bucket);
  return Answer(call, 200, std::move(headers));
}

S3Result HeadBucket(S3Call& call) {
  RETURN_IF_ERROR(RequireBucket(call));
  wire::Headers headers;
  headers.Add("x-amz-bucket-region", call.bucket->region);
  headers.Add("x-amz-access-point-alias", "false");
  headers.Add("Content-Type", "application/xml");
  return Answer(call, 200, std::move(headers));
}

S3Result DeleteBucket(S3Call& call) {
  const Status deleted = call.store.DeleteBucket(call.target.bucket);
  if (!deleted && deleted.error().code == ErrorCode::kConflict) {
    auto refusal =
        wire::Refuse("BucketNotEmpty", 409, "The bucket you tried to delete is not empty");
    refusal.value().details.emplace_back("BucketName", call.target.bucket);
    return refusal;
  }
  if (!deleted) return tl::unexpected<wire::AwsError>(ToS3Error(deleted.error(), call.target));
  return Answer(call, 204);
}

S3Result GetBucketLocation(S3Call& call) {
  RETURN_IF_ERROR(RequireBucket(call));
  XmlWriter xml("LocationConstraint");
  if (call.bucket->region != kClassicRegion) xml.Text(call.bucket->region);
  return AnswerXml(call, xml.Finish());
}

S3Result GetAcl(S3Call& call) {
  RETURN_IF_ERROR(RequireBucket(call));
  wire::Headers headers;
  if (!call.target.key.empty()) {
    ASSIGN_OR_RETURN(const VersionChoice version, ReadVersion(call));
    ASSIGN_OR_RETURN(
        const ObjectInfo object,
        InS3(call.store.Head(call.target.bucket, call.target.key, version), call.target));
    if (object.delete_marker) return RefuseMarker(call, object);
    AddVersion(call, object.version_id, headers);
  }
  XmlWriter xml("AccessControlPolicy");
  WriteOwner(xml, call.context);
  xml.Open("AccessControlList").Open("Grant");
  xml.Open("Grantee",
           "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:type=\"CanonicalUser\"");
  xml.Element("ID", OwnerId(call.context)).Element("DisplayName", call.context.principal.account);
  xml.Close().Element("Permission", "FULL_CONTROL");
  return AnswerXml(call, xml.Finish(), std::move(headers));
}

}  // namespace sabia::s3
