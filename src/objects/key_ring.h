// The master keys of this home, and the data keys of objects under them.
//
// One file per master key, <home>/keys/<id>.json, mode 0600 in a directory of mode 0700; whoever
// loses it loses what was encrypted under it. Two kinds: those of S3 itself (SSE-S3), of which the
// newest seals and the older ones still open; and those of the local stand-in for KMS (SSE-KMS),
// which are named by id, ARN or alias. `aws/s3`, the KMS key of those who name none, and the first
// key of S3 are made when they are first needed.
//
// An object has a data key of its own, kept sealed under a master key in its envelope: a JSON text
// that says how, under which key, and for which encryption context, all covered by the seal.
//
// Threading: thread-safe; another process may add keys meanwhile, which are then found. Errors:
// kNotFound when a key is not in the ring, kCorrupt when a file or an envelope is not what we
// wrote, and those of the disk.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "env/clock.h"
#include "env/files.h"
#include "env/random.h"
#include "objects/sealing.h"
#include "objects/types.h"
#include "store/paths.h"

namespace sabia::objects {

inline constexpr std::string_view kS3Keys = "s3";
inline constexpr std::string_view kKmsKeys = "kms";
inline constexpr std::string_view kDefaultAlias = "alias/aws/s3";

struct MasterKey {
  std::string id;     // a UUID
  std::string use;    // kS3Keys or kKmsKeys
  std::string alias;  // "alias/…", or "" for none
  WallTime created;
  DataKey secret{};
};

// How an object is encrypted, as requests and answers call it.
struct Encryption {
  std::string algorithm;  // "AES256" or "aws:kms"; "" for not at all
  std::string key_id;     // of KMS; "" for the default one
  std::string context;    // of KMS, as JSON; "" for none
};

struct SealedKey {
  DataKey key{};
  std::string envelope;
  std::string key_arn;  // of KMS; "" for S3's own
};

// <home>/keys
env::Path KeyDirectory(const store::Paths& paths);

struct KeyRingOptions {
  env::Path directory;
  std::string account;  // of ARNs
  std::string region;
};

class KeyRing {
 public:
  KeyRing(KeyRingOptions options, env::Files& files, env::Clock& clock, env::Random& random)
      : options_(std::move(options)), files_(files), clock_(clock), random_(random) {}

  // A new data key. kNotFound: there is no such key of KMS.
  Result<SealedKey> NewDataKey(const Encryption& encryption);
  // That of an envelope.
  Result<DataKey> Open(std::string_view envelope);
  // Of KMS, by id, ARN or alias, also with the alias's ARN.
  Result<MasterKey> Find(std::string_view name);
  std::string ArnOf(std::string_view id) const;
  std::string AliasArnOf(std::string_view alias) const;

  // By time of creation.
  Result<std::vector<MasterKey>> List();
  // A key of KMS, or the new newest of S3. kAlreadyExists: the alias is taken.
  Result<MasterKey> Create(std::string_view use, std::string_view alias = "");

 private:
  // Those below with mutex_ held.
  Status Reload();
  Result<MasterKey> ById(std::string_view id);
  Result<MasterKey> FindKms(std::string_view name);
  Result<MasterKey> Newest();
  Result<MasterKey> Make(std::string_view use, std::string_view alias);

  const KeyRingOptions options_;
  env::Files& files_;
  env::Clock& clock_;
  env::Random& random_;
  std::mutex mutex_;
  std::map<std::string, MasterKey, std::less<>> keys_;  // by id; guarded by mutex_
};

// What an envelope says; nothing of "". key_id is the id itself.
Result<Encryption> ReadEnvelope(std::string_view envelope);
// Of an object that was joined from parts of these numbers.
Result<std::string> NumberParts(std::string_view envelope, const std::vector<int>& numbers);
// Where the content lies in the file. REQUIRES: the object has an envelope.
Result<std::vector<Segment>> SegmentsOf(const ObjectInfo& info);

}  // namespace sabia::objects
