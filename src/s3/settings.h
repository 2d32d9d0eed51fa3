// Documents that are kept with a bucket and say how it behaves: their names, and the three actions
// that all of them have.
//
// A document is kept in the form in which it is answered, written by us from what was understood of
// the request. Threading: as the call.
#pragma once

#include <string>
#include <string_view>

#include "s3/call.h"

namespace sabia::s3 {

struct SettingKind {
  std::string_view name;  // in the store
  // What its absence is called.
  std::string_view absent_code;
  std::string_view absent_message;
};

inline constexpr SettingKind kTaggingSetting = {"tagging", "NoSuchTagSet",
                                                "The TagSet does not exist"};

inline constexpr SettingKind kLifecycleSetting = {"lifecycle", "NoSuchLifecycleConfiguration",
                                                  "The lifecycle configuration does not exist"};
inline constexpr SettingKind kTransitionSizeSetting = {"lifecycle-transition-size", "", ""};
inline constexpr SettingKind kCorsSetting = {"cors", "NoSuchCORSConfiguration",
                                             "The CORS configuration does not exist"};

inline constexpr SettingKind kPolicySetting = {"policy", "NoSuchBucketPolicy",
                                               "The bucket policy does not exist"};
inline constexpr SettingKind kEncryptionSetting = {
    "encryption", "ServerSideEncryptionConfigurationNotFoundError",
    "The server side encryption configuration was not found"};
// Absent: all four are on. Empty: it was deleted, and none is.
inline constexpr SettingKind kPublicAccessSetting = {
    "public-access-block", "NoSuchPublicAccessBlockConfiguration",
    "The public access block configuration was not found"};

// The document, or nullptr.
const std::string* FindSetting(const BucketInfo& bucket, const SettingKind& kind);

// The document as the answer, or 404 with the kind's code.
S3Result AnswerSetting(S3Call& call, const SettingKind& kind);
tl::unexpected<wire::AwsError> RefuseAbsent(const S3Call& call, const SettingKind& kind);
S3Result PutSetting(S3Call& call, const SettingKind& kind, std::string document,
                    unsigned status = 200);
S3Result DeleteSetting(S3Call& call, const SettingKind& kind);

}  // namespace sabia::s3
