#include "api/storage_rules.h"

#include "objects/input_listing.h"
#include "wire/s3_uri.h"

namespace sabia::api {
namespace {

using wire::AwsResult;
using wire::Pass;
using wire::RefuseValidation;

AwsResult<void> CheckBucket(objects::Buckets& buckets, std::string_view uri,
                            std::string_view field) {
  const auto where = wire::ParseS3Uri(uri);
  if (!where) return RefuseValidation("{} '{}' is not an S3 URI", field, uri);
  const auto bucket = buckets.Source(where->bucket);
  if (!bucket) return Pass(bucket.error());
  const Status there = (*bucket)->CheckBucket();
  if (there) return {};
  // An endpoint outside that does not answer is the settings' fault: not worth a client's retries.
  const ErrorCode code = there.error().code;
  if (code == ErrorCode::kDenied || code == ErrorCode::kUnavailable ||
      code == ErrorCode::kTimeout) {
    return RefuseValidation("{} '{}' cannot be used: {}", field, uri, there.error().message);
  }
  if (there.error().code != ErrorCode::kNotFound) return Pass(there.error());
  return RefuseValidation(
      "{} '{}' names bucket '{}', which does not exist. Create the bucket first.", field, uri,
      where->bucket);
}

AwsResult<void> CheckOutput(objects::Buckets& buckets, const json::object& output) {
  const std::string uri = GetString(output, "S3OutputPath");
  RETURN_IF_ERROR(CheckBucket(buckets, uri, "S3OutputPath"));
  const std::string key = GetString(output, "KmsKeyId");
  if (key.empty()) return {};
  const auto bucket = buckets.Source(wire::ParseS3Uri(uri)->bucket);
  if (!bucket) return Pass(bucket.error());
  const Status usable = (*bucket)->CheckKey(key);
  if (usable) return {};
  if (usable.error().code != ErrorCode::kNotFound) return Pass(usable.error());
  return RefuseValidation(
      "KmsKeyId '{}' of OutputDataConfig is no key of this home. `sabia keys list` shows those "
      "that are, `sabia keys create` makes one.",
      key);
}

AwsResult<void> CheckChannel(objects::Buckets& buckets, const wire::CallContext& context,
                             const json::object& request, const json::object& channel) {
  const json::object& source = *FindObject(*FindObject(channel, "DataSource"), "S3DataSource");
  const std::string name = GetString(channel, "ChannelName");
  const objects::InputSource input{objects::ParseInputType(GetString(source, "S3DataType")),
                                   GetString(source, "S3Uri")};
  const objects::OpenBucket open = [&buckets](const std::string& bucket) {
    return buckets.Source(bucket);
  };
  const Status checked = objects::CheckInput(open, input);
  if (checked) return {};
  const Error& error = checked.error();
  if (error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kDenied) {
    return RefuseValidation("The input of channel '{}' cannot be used: {}", name, error.message);
  }
  if (error.code != ErrorCode::kNotFound) return Pass(error);
  return RefuseValidation(
      "{} Channel: {}",
      objects::EmptyInputMessage({input.s3_uri, context.region, GetString(request, "RoleArn"),
                                  error.message.starts_with("bucket")}),
      name);
}

}  // namespace

AwsResult<void> CheckStorage(objects::Buckets& buckets, const wire::CallContext& context,
                             const json::object& request) {
  RETURN_IF_ERROR(CheckOutput(buckets, *FindObject(request, "OutputDataConfig")));
  if (const json::object* checkpoint = FindObject(request, "CheckpointConfig");
      checkpoint != nullptr) {
    RETURN_IF_ERROR(
        CheckBucket(buckets, GetString(*checkpoint, "S3Uri"), "S3Uri of CheckpointConfig"));
  }
  const json::array* channels = FindArray(request, "InputDataConfig");
  if (channels == nullptr) return {};
  for (const json::value& channel : *channels) {
    RETURN_IF_ERROR(CheckChannel(buckets, context, request, channel.get_object()));
  }
  return {};
}

}  // namespace sabia::api
