// Where the keys for an S3 endpoint outside come from: the chain that AWS's clients walk.
//
// A source says where keys are, not what they are (but for kStatic), so that it may be handed to an
// agent, which then reads and refreshes them itself. Order, as in AWS's SDKs: an explicit profile;
// AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; the profile of AWS_PROFILE or "default" in the
// shared credentials and config files; the container endpoint; the instance metadata service.
// Profiles that take their keys from elsewhere (role_arn, sso, credential_process, web identity)
// are refused by name.
//
// A KeySource may hold secrets: never log it, never put it into argv. Threading: thread-compatible.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/time.h"
#include "env/files.h"

namespace sabia::wire {

// Keys as requests are signed with.
struct AwsKeys {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;  // "" for long-lived keys
  std::optional<WallTime> expires;
};

struct KeySource {
  enum class Kind {
    kAnonymous,  // requests are not signed
    kStatic,     // `keys`
    kProfile,    // a section of the shared files, read again when its keys are refused
    kContainer,  // HTTP GET of `url`
    kInstance,   // IMDSv2 at `url`
  };
  Kind kind = Kind::kAnonymous;
  AwsKeys keys;
  std::string credentials_file;
  std::string config_file;
  std::string profile;
  std::string url;
  std::string token;       // kContainer: Authorization; "" when there is none, or
  std::string token_file;  // read before every request

  json::object ToJson() const;
  static Result<KeySource> FromJson(const json::object& document);
};

std::string_view Name(KeySource::Kind kind);

// What the process was started with, read once by cli/.
struct KeyEnvironment {
  std::string access_key_id;      // AWS_ACCESS_KEY_ID
  std::string secret_access_key;  // AWS_SECRET_ACCESS_KEY
  std::string session_token;      // AWS_SESSION_TOKEN
  std::string profile;            // AWS_PROFILE
  std::string credentials_file;   // AWS_SHARED_CREDENTIALS_FILE, else ~/.aws/credentials
  std::string config_file;        // AWS_CONFIG_FILE, else ~/.aws/config
  std::string container_relative_uri;
  std::string container_full_uri;
  std::string container_token;
  std::string container_token_file;
  std::string metadata_endpoint;   // AWS_EC2_METADATA_SERVICE_ENDPOINT
  bool metadata_disabled = false;  // AWS_EC2_METADATA_DISABLED
};

// The first source of the chain that has something to say. profile: "" for the chain, else only
// this one. Touches files, no network. kNotFound lists where it looked; kInvalidArgument names what
// is wrong with a profile or with the container endpoint.
Result<KeySource> ChooseKeySource(const KeyEnvironment& environment, const std::string& profile,
                                  env::Files& files);

// The keys of a profile. kNotFound: it has none.
Result<AwsKeys> ReadProfile(const KeySource& source, env::Files& files);

// "region" of a profile, or "".
std::string ProfileRegion(const KeyEnvironment& environment, const std::string& profile,
                          env::Files& files);

}  // namespace sabia::wire
