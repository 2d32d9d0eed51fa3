// The tree below $SABIA_HOME, drawn once, beside the functions that build its paths.
//
// clang-format off
//   <home>/                  mode 0700
//     format                 "1": version of this tree; a newer one is refused
//     lock                   flock'ed by the running daemon; holds its pid
//     credentials.json       access key id and secret of the root user, mode 0600
//     account.json           account id and default region
//     endpoint.json          how to reach the running daemon: http and https addresses, pid
//     external-s3.conf       written by people: buckets at S3 endpoints outside
//     prices/<date>.csv      written by people: price lists (cost/price_lists.h)
//     tls/                   the local CA (ca.pem, ca.key 0600), server's certificate, bundle.pem
//     aws-models/            what AWS_DATA_PATH points at: endpoints that lead clients here
//     resources.db           jobs, tags, instances, ledger, series (SQLite, WAL)
//     objects.db             index of buckets and objects (SQLite, WAL)
//     keys/                  master keys of encrypted objects, mode 0600
//     blobs/<2 hex>/<32 hex> one immutable file per object version, mode 0444; tmp/: uploads
//     lost+found/<time>/     what `sabia fsck --repair` took out, with report.jsonl
//     cache/                 objects of buckets outside (channels/object_cache.h); may be deleted
//     logs/<group>/          log events (docs/formats/log.md); names percent-encoded:
//       <stream>.log         a stream without "/" in its name
//       <job>.d/<rest>.log   stream "<job>/<rest>": those of one job are found without listing all
//     instances/<id>/        one instance of a job (model/instance.h): spec.json, orders.json,
//                            report.json, metrics.log, lock, root/ (what becomes /opt/ml), scratch/
//     run/                   wake.sock: agents poke the daemon; spare/, system/: docs/adr/0010-*
// clang-format on
#pragma once

#include <string_view>
#include <utility>

#include "env/files.h"

namespace sabia::store {

// A value; copies freely. Builds paths only, touches no disk.
class Paths {
 public:
  explicit Paths(env::Path home) : home_(std::move(home)) {}

  const env::Path& home() const { return home_; }
  env::Path format() const { return home_ / "format"; }
  env::Path lock() const { return home_ / "lock"; }
  env::Path credentials() const { return home_ / "credentials.json"; }
  env::Path account() const { return home_ / "account.json"; }
  env::Path endpoint() const { return home_ / "endpoint.json"; }
  env::Path external_s3() const { return home_ / "external-s3.conf"; }
  env::Path prices() const { return home_ / "prices"; }
  env::Path tls() const { return home_ / "tls"; }
  env::Path ca_bundle() const { return tls() / "bundle.pem"; }
  env::Path aws_models() const { return home_ / "aws-models"; }
  env::Path resources_db() const { return home_ / "resources.db"; }
  env::Path objects_db() const { return home_ / "objects.db"; }
  env::Path blobs() const { return home_ / "blobs"; }
  env::Path blobs_tmp() const { return home_ / "blobs" / "tmp"; }
  env::Path lost_and_found() const { return home_ / "lost+found"; }
  env::Path cache() const { return home_ / "cache"; }
  env::Path logs() const { return home_ / "logs"; }
  env::Path instances() const { return home_ / "instances"; }
  env::Path run() const { return home_ / "run"; }
  env::Path wake_socket() const { return run() / "wake.sock"; }

  // REQUIRES: blob_id is 32 lower-case hex digits; instance_id is [a-z0-9-]+ (both are made by us).
  env::Path blob(std::string_view blob_id) const;
  env::Path instance(std::string_view instance_id) const;
  // Group and stream names come from users; percent-encoded they are harmless components of a path.
  // REQUIRES: FitsLogGroup(group), FitsLogStream(stream).
  env::Path log_group(std::string_view group) const;
  env::Path log_stream(std::string_view group, std::string_view stream) const;
  // The directory of the streams whose names begin with `head` and "/".
  env::Path log_streams_of(std::string_view group, std::string_view head) const;
  // Not empty, and each encoded component fits a file name: 200 bytes, where "/" and the like take
  // three.
  static bool FitsLogGroup(std::string_view group);
  static bool FitsLogStream(std::string_view stream);

 private:
  env::Path home_;
};

}  // namespace sabia::store
