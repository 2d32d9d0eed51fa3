#include "s3/settings.h"

namespace sabia::s3 {

const std::string* FindSetting(const BucketInfo& bucket, const SettingKind& kind) {
  const auto found = bucket.settings.find(kind.name);
  return found == bucket.settings.end() ? nullptr : &found->second;
}

tl::unexpected<wire::AwsError> RefuseAbsent(const S3Call& call, const SettingKind& kind) {
  auto refusal = wire::Refuse(kind.absent_code, 404, "{}", kind.absent_message);
  refusal.value().details.emplace_back("BucketName", call.target.bucket);
  return refusal;
}

S3Result AnswerSetting(S3Call& call, const SettingKind& kind) {
  RETURN_IF_ERROR(RequireBucket(call));
  const std::string* const document = FindSetting(*call.bucket, kind);
  if (document == nullptr) return RefuseAbsent(call, kind);
  return AnswerXml(call, *document);
}

S3Result PutSetting(S3Call& call, const SettingKind& kind, std::string document, unsigned status) {
  RETURN_IF_ERROR(
      InS3(call.store.PutSetting(call.target.bucket, kind.name, std::move(document)), call.target));
  return Answer(call, status);
}

S3Result DeleteSetting(S3Call& call, const SettingKind& kind) {
  RETURN_IF_ERROR(
      InS3(call.store.PutSetting(call.target.bucket, kind.name, std::nullopt), call.target));
  return Answer(call, 204);
}

}  // namespace sabia::s3
