// Current keys from a source: cached, and renewed before they expire.
//
// Keys with an expiry are renewed five minutes before it; when that fails, the old ones serve until
// the end. Without an expiry they are kept until Refused() says that an endpoint did not take them:
// then a profile is read again, and metadata asked again, at most once in ten seconds.
//
// Threading: thread-safe; Keys() may block on files or on one HTTP request of a few seconds.
// Errors: kNotFound when the source has no keys, kUnavailable when it does not answer.
#pragma once

#include <memory>
#include <optional>

#include "env/clock.h"
#include "wire/key_source.h"

namespace sabia::wire {

class KeyProvider {
 public:
  static std::shared_ptr<KeyProvider> Create(KeySource source, env::Clock& clock);
  virtual ~KeyProvider() = default;

  // nullopt: requests are not signed.
  virtual Result<std::optional<AwsKeys>> Keys() = 0;
  // An endpoint refused these keys. True: Keys() may now give others.
  virtual bool Refused(const AwsKeys& keys) = 0;
};

}  // namespace sabia::wire
