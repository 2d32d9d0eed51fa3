#include "s3/encryption.h"

#include "base/encoding.h"
#include "base/json.h"
#include "s3/actions.h"
#include "s3/metadata.h"
#include "s3/settings.h"
#include "s3/upload.h"

namespace sabia::s3 {
namespace {

constexpr std::string_view kHeader = "x-amz-server-side-encryption";
constexpr std::string_view kKeyHeader = "x-amz-server-side-encryption-aws-kms-key-id";
constexpr std::string_view kBucketKeyHeader = "x-amz-server-side-encryption-bucket-key-enabled";
constexpr std::string_view kContextHeader = "x-amz-server-side-encryption-context";
constexpr std::string_view kS3 = "AES256";
constexpr std::string_view kKms = "aws:kms";

tl::unexpected<wire::AwsError> Invalid(std::string message) {
  return wire::Refuse("InvalidArgument", 400, "{}", message);
}

wire::AwsResult<std::string> ReadContext(std::string_view header) {
  if (header.empty()) return std::string();
  const auto decoded = Base64Decode(header);
  const auto document = decoded ? ParseJsonObject(*decoded) : Result<json::object>(json::object());
  bool good = decoded && document;
  if (good) {
    for (const auto& member : *document) good = good && member.value().is_string();
  }
  if (!good) {
    return Invalid(
        "The header x-amz-server-side-encryption-context must be base64 of a JSON object of "
        "strings");
  }
  return json::serialize(*document);
}

// What the headers say; nothing when they say nothing.
wire::AwsResult<std::optional<EncryptionPlan>> ReadHeaders(const wire::Headers& headers) {
  EncryptionPlan out;
  out.how.algorithm = headers.Get(kHeader);
  out.how.key_id = headers.Get(kKeyHeader);
  ASSIGN_OR_RETURN(out.how.context, ReadContext(headers.Get(kContextHeader)));
  const std::string_view bucket_key = headers.Get(kBucketKeyHeader);
  if (!bucket_key.empty()) {
    if (bucket_key != "true" && bucket_key != "false") {
      return Invalid(fmt::format("Value for {} header is invalid.", kBucketKeyHeader));
    }
    out.bucket_key = bucket_key == "true";
  }
  if (out.how.algorithm != kKms && (!out.how.key_id.empty() || !out.how.context.empty())) {
    return Invalid(
        "Server Side Encryption with AWS KMS managed key requires HTTP header "
        "x-amz-server-side-encryption : aws:kms");
  }
  if (!out.any()) return std::optional<EncryptionPlan>();
  return std::optional(std::move(out));
}

tl::unexpected<wire::AwsError> RefuseKey(const Error& error, const S3Call& call,
                                         std::string_view name) {
  if (error.code != ErrorCode::kNotFound) {
    return tl::unexpected<wire::AwsError>(ToS3Error(error, call.target));
  }
  const std::string shown =
      name.starts_with("arn:") ? std::string(name) : call.store.keys().ArnOf(name);
  return wire::Refuse("KMS.NotFoundException", 400, "Key '{}' does not exist",
                      name.starts_with("alias/") ? std::string(name) : shown);
}

}  // namespace

wire::AwsResult<EncryptionPlan> PlanEncryption(const S3Call& call) {
  ASSIGN_OR_RETURN(const auto said, ReadHeaders(call.headers()));
  if (said) return *said;
  if (!call.rules || !call.rules->encryption) return EncryptionPlan{};
  const BucketEncryption& fallback = *call.rules->encryption;
  return EncryptionPlan{fallback.how, fallback.how.algorithm == kKms
                                          ? std::optional(fallback.bucket_key)
                                          : std::nullopt};
}

wire::AwsResult<EncryptionPlan> PlanCopy(const S3Call& call, const ObjectInfo& source) {
  ASSIGN_OR_RETURN(EncryptionPlan plan, PlanEncryption(call));
  if (!plan.any() && !source.envelope.empty()) plan.how.algorithm = kS3;
  return plan;
}

wire::AwsResult<std::optional<objects::UploadSeal>> MakeSeal(const S3Call& call,
                                                             const EncryptionPlan& plan,
                                                             Metadata& metadata) {
  std::erase_if(metadata, [](const auto& entry) { return entry.first.starts_with(kHeader); });
  if (!plan.any()) return std::optional<objects::UploadSeal>();
  auto made = call.store.keys().NewDataKey(plan.how);
  if (!made) return RefuseKey(made.error(), call, plan.how.key_id);
  metadata[std::string(kHeader)] = plan.how.algorithm;
  if (!made->key_arn.empty()) metadata[std::string(kKeyHeader)] = made->key_arn;
  if (plan.bucket_key)
    metadata[std::string(kBucketKeyHeader)] = *plan.bucket_key ? "true" : "false";
  return std::optional(
      objects::UploadSeal{made->key, std::move(made->envelope), plan.how.algorithm == kKms, 0});
}

wire::AwsResult<std::optional<objects::UploadSeal>> SealOfPart(const S3Call& call,
                                                               const MultipartInfo& upload,
                                                               int part_number) {
  const std::string& envelope = upload.options.envelope;
  if (envelope.empty()) return std::optional<objects::UploadSeal>();
  ASSIGN_OR_RETURN(const auto how, InS3(objects::ReadEnvelope(envelope), call.target));
  const auto key = call.store.keys().Open(envelope);
  if (!key) return RefuseKey(key.error(), call, how.key_id);
  return std::optional(objects::UploadSeal{*key, envelope, how.algorithm == kKms, part_number});
}

wire::AwsResult<std::unique_ptr<Upload>> BeginUpload(const S3Call& call,
                                                     const std::optional<objects::UploadSeal>& seal,
                                                     std::vector<ChecksumAlgorithm> algorithms) {
  if (!seal) return InS3(call.store.BeginUpload(std::move(algorithms)), call.target);
  return InS3(call.store.BeginSealedUpload(*seal, std::move(algorithms)), call.target);
}

wire::AwsResult<bool> SharesFile(const S3Call& call, const EncryptionPlan& plan,
                                 const ObjectInfo& source) {
  ASSIGN_OR_RETURN(const auto how, InS3(objects::ReadEnvelope(source.envelope), call.target));
  if (how.algorithm != plan.how.algorithm) return false;
  if (!plan.any() || how.algorithm == kS3) return true;
  if (how.context != plan.how.context) return false;
  const std::string_view name =
      plan.how.key_id.empty() ? objects::kDefaultAlias : std::string_view(plan.how.key_id);
  const auto key = call.store.keys().Find(name);
  if (!key) return RefuseKey(key.error(), call, name);
  return key->id == how.key_id;
}

S3Result GetBucketEncryption(S3Call& call) { return AnswerSetting(call, kEncryptionSetting); }

S3Result PutBucketEncryption(S3Call& call) {
  RETURN_IF_ERROR(RequireBucket(call));
  ASSIGN_OR_RETURN(const BodyClaims claims, ReadClaims(call));
  ASSIGN_OR_RETURN(const std::string document, ReceiveDocument(call, claims));
  ASSIGN_OR_RETURN(const BucketEncryption encryption, ParseBucketEncryption(document));
  return PutSetting(call, kEncryptionSetting, WriteBucketEncryption(encryption));
}

S3Result DeleteBucketEncryption(S3Call& call) {
  RETURN_IF_ERROR(RequireBucket(call));
  return DeleteSetting(call, kEncryptionSetting);
}

}  // namespace sabia::s3
