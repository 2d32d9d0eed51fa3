// Which buckets live at S3 endpoints outside, and how to reach each: external-s3.conf in the home.
//
//   [default]                       every bucket that the embedded store does not hold
//   endpoint = https://s3.example.org:9000     absent: AWS's own of the region
//   region = eu-central-1                      absent: of the profile, else us-east-1
//   addressing = auto | path | virtual         auto: virtual for amazonaws.com, path elsewhere
//   credentials = chain | anonymous | profile NAME
//   ca_bundle = FILE                           absent: the system's certificates
//   [bucket NAME]                   one bucket, whether or not the embedded store has it
//   …                               the same settings; what is absent is taken from [default]
//
// Threading: immutable; thread-safe. Endpoints share keys and retry budget with all clients made
// from them. Errors: kInvalidArgument naming section, setting and what is allowed.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "env/clock.h"
#include "env/files.h"
#include "wire/s3_client.h"

namespace sabia::wire {

// How to reach one external bucket, as a daemon tells it to an agent. Holds secrets.
struct ExternalEndpoint {
  std::string url;
  std::string region;
  bool bucket_in_host = false;
  std::string ca_bundle;
  KeySource source;

  json::object ToJson() const;
  static Result<ExternalEndpoint> FromJson(const json::object& document);
  // With keys and retry budget of its own.
  S3Endpoint Open(env::Clock& clock) const;
};

class ExternalBuckets {
 public:
  struct Entry {
    ExternalEndpoint endpoint;
    S3Endpoint open;
  };

  // None at all.
  ExternalBuckets() = default;
  static Result<ExternalBuckets> Parse(std::string_view text, const KeyEnvironment& environment,
                                       env::Files& files, env::Clock& clock);

  // The bucket's own section; nullptr: it has none.
  const Entry* Named(std::string_view bucket) const;
  // [default]; nullptr: there is none.
  const Entry* fallback() const { return fallback_ ? &*fallback_ : nullptr; }

 private:
  std::optional<Entry> fallback_;
  std::map<std::string, Entry, std::less<>> named_;
};

}  // namespace sabia::wire
