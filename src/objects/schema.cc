#include "objects/schema.h"

namespace sabia::objects::index {
namespace {

// A table of current objects only, clustered by key: listing reads neighbours.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE buckets (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  region TEXT NOT NULL,
  created INTEGER NOT NULL
) STRICT;
CREATE TABLE objects (
  bucket INTEGER NOT NULL,
  key BLOB NOT NULL,
  size INTEGER NOT NULL,
  etag TEXT NOT NULL,
  modified INTEGER NOT NULL,
  blob TEXT NOT NULL,
  checksums TEXT NOT NULL,
  metadata TEXT NOT NULL,
  parts TEXT NOT NULL,
  origin TEXT NOT NULL,
  PRIMARY KEY (bucket, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE uploads (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  token TEXT NOT NULL UNIQUE,
  bucket INTEGER NOT NULL,
  key BLOB NOT NULL,
  initiated INTEGER NOT NULL,
  algorithm TEXT NOT NULL,
  full_object INTEGER NOT NULL,
  metadata TEXT NOT NULL
) STRICT;
CREATE INDEX uploads_by_key ON uploads (bucket, key, token);
CREATE TABLE parts (
  upload INTEGER NOT NULL,
  number INTEGER NOT NULL,
  size INTEGER NOT NULL,
  etag TEXT NOT NULL,
  modified INTEGER NOT NULL,
  blob TEXT NOT NULL,
  checksums TEXT NOT NULL,
  PRIMARY KEY (upload, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE garbage (blob TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
)sql";

// Versions that are not current, and every delete marker, have a table of their own, so that they
// never slow listings down. buckets.sequence counts the versions of a bucket; a version's number is
// in its id, so ids sort and are found without an index.
constexpr const char* kVersion2 = R"sql(
ALTER TABLE buckets ADD COLUMN versioning INTEGER NOT NULL DEFAULT 0;
ALTER TABLE buckets ADD COLUMN sequence INTEGER NOT NULL DEFAULT 0;
CREATE TABLE settings (
  bucket INTEGER NOT NULL,
  name TEXT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (bucket, name)
) STRICT, WITHOUT ROWID;
ALTER TABLE objects ADD COLUMN version TEXT NOT NULL DEFAULT '';
ALTER TABLE objects ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE objects ADD COLUMN class TEXT NOT NULL DEFAULT '';
ALTER TABLE objects ADD COLUMN tags TEXT NOT NULL DEFAULT '';
ALTER TABLE objects ADD COLUMN envelope TEXT NOT NULL DEFAULT '';
ALTER TABLE objects ADD COLUMN part_checksums BLOB NOT NULL DEFAULT x'';
CREATE TABLE versions (
  bucket INTEGER NOT NULL,
  key BLOB NOT NULL,
  seq INTEGER NOT NULL,
  version TEXT NOT NULL,
  marker INTEGER NOT NULL,
  size INTEGER NOT NULL,
  etag TEXT NOT NULL,
  modified INTEGER NOT NULL,
  blob TEXT NOT NULL,
  checksums TEXT NOT NULL,
  class TEXT NOT NULL,
  metadata TEXT NOT NULL,
  parts TEXT NOT NULL,
  origin TEXT NOT NULL,
  tags TEXT NOT NULL,
  envelope TEXT NOT NULL,
  part_checksums BLOB NOT NULL,
  PRIMARY KEY (bucket, key, seq DESC)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX null_versions ON versions (bucket, key) WHERE version = '';
ALTER TABLE uploads ADD COLUMN class TEXT NOT NULL DEFAULT '';
ALTER TABLE uploads ADD COLUMN tags TEXT NOT NULL DEFAULT '';
ALTER TABLE uploads ADD COLUMN envelope TEXT NOT NULL DEFAULT '';
)sql";

// uploads.joint names the file that takes parts at their final offsets; parts.place is the offset
// of a part in it, or -1 for a part with a file of its own. fresh holds the bytes of small objects
// whose files have not been synced yet.
constexpr const char* kVersion3 = R"sql(
ALTER TABLE uploads ADD COLUMN joint TEXT NOT NULL DEFAULT '';
ALTER TABLE parts ADD COLUMN place INTEGER NOT NULL DEFAULT -1;
CREATE TABLE fresh (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  blob TEXT NOT NULL,
  data BLOB NOT NULL
) STRICT;
)sql";

}  // namespace

std::vector<std::string> Migrations() { return {kVersion1, kVersion2, kVersion3}; }

}  // namespace sabia::objects::index
