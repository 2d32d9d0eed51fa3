#include "s3/actions.h"
#include "s3/settings.h"
#include "s3/tag_set.h"
#include "s3/upload.h"

namespace sabia::s3 {
namespace {

wire::AwsResult<ObjectInfo> HeadVersion(const S3Call& call) {
  ASSIGN_OR_RETURN(const VersionChoice version, ReadVersion(call));
  ASSIGN_OR_RETURN(
      ObjectInfo object,
      InS3(call.store.Head(call.target.bucket, call.target.key, version), call.target));
  if (object.delete_marker) return RefuseMarker(call, object);
  return object;
}

S3Result SetTags(S3Call& call, const Tags& tags, unsigned status) {
  ASSIGN_OR_RETURN(const VersionChoice version, ReadVersion(call));
  ASSIGN_OR_RETURN(
      const ObjectInfo object,
      InS3(call.store.SetTags({call.target.bucket, call.target.key, version}, tags), call.target));
  if (object.delete_marker) return RefuseMarker(call, object);
  wire::Headers headers;
  AddVersion(call, object.version_id, headers);
  return Answer(call, status, std::move(headers));
}

}  // namespace

S3Result GetObjectTagging(S3Call& call) {
  ASSIGN_OR_RETURN(const ObjectInfo object, HeadVersion(call));
  wire::Headers headers;
  AddVersion(call, object.version_id, headers);
  return AnswerXml(call, WriteTagging(object.tags), std::move(headers));
}

S3Result PutObjectTagging(S3Call& call) {
  ASSIGN_OR_RETURN(const BodyClaims claims, ReadClaims(call));
  ASSIGN_OR_RETURN(const std::string document, ReceiveDocument(call, claims));
  ASSIGN_OR_RETURN(const Tags tags, ParseTagging(document, kObjectTagsMax));
  return SetTags(call, tags, 200);
}

S3Result DeleteObjectTagging(S3Call& call) { return SetTags(call, {}, 204); }

S3Result GetBucketTagging(S3Call& call) { return AnswerSetting(call, kTaggingSetting); }

S3Result PutBucketTagging(S3Call& call) {
  RETURN_IF_ERROR(RequireBucket(call));
  ASSIGN_OR_RETURN(const BodyClaims claims, ReadClaims(call));
  ASSIGN_OR_RETURN(const std::string document, ReceiveDocument(call, claims));
  ASSIGN_OR_RETURN(const Tags tags, ParseTagging(document, kBucketTagsMax));
  return PutSetting(call, kTaggingSetting, WriteTagging(tags), 204);
}

S3Result DeleteBucketTagging(S3Call& call) { return DeleteSetting(call, kTaggingSetting); }

}  // namespace sabia::s3
