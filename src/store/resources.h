// Named, versioned documents: training jobs, instances and everything else that the API describes.
//
// A resource is a typed row (kind, name, status, times, revision) and its JSON document. Every
// change is a compare-and-set on the revision. A Commit is atomic over all its changes and durable
// when it returns.
//
// Threading: thread-safe. Errors: kNotFound, kAlreadyExists (insert of a taken name), kConflict
// (the revision moved: read again and repeat), and those of Database.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/ledger_entry.h"
#include "store/database.h"

namespace sabia::store {

// Stored as its number: append only, never renumber.
enum class Kind : int {
  kTrainingJob = 1,
  kInstance = 2,
  kTrialComponent = 3,
  kTuningJob = 10,
  kTuningTrial = 11,
};

std::string_view Name(Kind kind);  // "training job", for messages

struct Resource {
  Kind kind = Kind::kTrainingJob;
  std::string name;
  std::string status;  // what StatusEquals compares; for instances their internal state
  WallTime created;
  WallTime modified;          // set by the writer of the change; never goes back
  bool live = true;           // a controller still has work with it; restart loads only live ones
  std::string parent;         // of instances the job's name, of trials the tuning job's; indexed
  std::int64_t revision = 0;  // 0: not stored yet
  std::string document;       // JSON text
};

using Tags = std::vector<std::pair<std::string, std::string>>;  // in order of insertion

inline constexpr std::size_t kTagsMax = 50;  // of one ARN

// One change of a commit.
//   kInsert      the whole resource, which gets revision 1; `tags` are all that `arn` has
//   afterwards kUpdate      status, modified, live, parent and document of the resource at the
//   revision that was read;
//                name and created stay. `modified` never goes back: the later of stored and given
//                wins
//   kDelete      the resource (kind, name, revision) and, when `arn` is given, its tags
//   kSetTags     adds `tags` to `arn`; an existing key gets the new value and keeps its place
//   kRemoveTags  removes the keys of `tags` from `arn`; values are not read, absent keys are fine
struct Change {
  enum class Op { kInsert, kUpdate, kDelete, kSetTags, kRemoveTags };
  Op op = Op::kInsert;
  Resource resource;
  Tags tags;
  std::string arn;      // owner of the tags; required when `tags` is not empty
  bool silent = false;  // OnCommit's listener does not hear of it: the writer tells who must know
  // Uses of instances that end with this change (ledger.h): written with it, each once for ever.
  std::vector<model::LedgerEntry> ledger = {};
};

struct ListQuery {
  enum class SortBy { kName, kCreationTime, kStatus, kModifiedTime };
  Kind kind = Kind::kTrainingJob;
  std::optional<std::string> status;
  std::optional<std::string> parent;
  std::string name_contains;                // "" matches all; without case, as AWS does
  std::optional<WallTime> created_after;    // exclusive
  std::optional<WallTime> created_before;   // exclusive
  std::optional<WallTime> modified_after;   // exclusive
  std::optional<WallTime> modified_before;  // exclusive
  // Further conditions on the document: a filter in memory over rows that match the rest. May be
  // empty. Its identity (for example the condition as text) is bound into the token.
  std::function<bool(const Resource&)> filter;
  std::string filter_identity;
  SortBy sort_by = SortBy::kCreationTime;
  bool ascending = false;
  std::size_t limit = 10;
  std::string token;  // of the previous page; "" starts
};

// A page may be short or empty while a token says that more follows, as on AWS: the rows looked at
// per call are bounded, so a condition that hardly any row meets costs many quick calls instead of
// one that blocks.
struct Page {
  std::vector<Resource> rows;
  std::string next_token;  // "" at the end
};

class Resources {
 public:
  explicit Resources(Database& database);
  // The migrations that Database::Open needs before a Resources can work on it.
  static std::vector<std::string> Migrations();

  Result<Resource> Get(Kind kind, std::string_view name);
  // Stable while rows are added or removed: a token names the last row seen (sort key and row id),
  // not a count. It is bound to the query: with other filters it is refused with kInvalidArgument,
  // as is a forged one.
  Result<Page> List(const ListQuery& query);
  // Everything a controller must look at after a restart, without limit.
  Result<std::vector<Resource>> Live(Kind kind);
  Result<std::vector<Resource>> Children(Kind kind, std::string_view parent);

  // All or nothing. Tags beyond kTagsMax for one ARN fail with kResourceExhausted.
  Status Commit(const std::vector<Change>& changes);
  // The same without waiting: see Database::WriteLater.
  void CommitLater(std::vector<Change> changes, Database::Done done);

  Result<Tags> GetTags(std::string_view arn);

  // Called after each durable commit, on the thread of one of the committers, with the kinds and
  // names touched. Must be cheap: it wakes a controller. Set before the first commit.
  void OnCommit(std::function<void(Kind, const std::string&)> listener);

 private:
  void Tell(const std::vector<Change>& changes) const;

  Database& database_;
  std::function<void(Kind, const std::string&)> listener_;
};

}  // namespace sabia::store
