#include "objects/settler.h"

#include "base/log.h"
#include "objects/fresh_index.h"
#include "objects/object_index.h"

namespace sabia::objects {
namespace {

using store::Connection;

constexpr Millis kEvery{1000};
constexpr Millis kAfterFailure{60'000};
constexpr std::size_t kPendingBytesMax = 64U << 20;
// In one transaction, which others wait for.
constexpr std::size_t kForgottenAtOnce = 256;
constexpr std::size_t kReplayedAtOnce = 256;

Status ForgetUpTo(store::Database& database, std::int64_t last) {
  for (bool more = true; more;) {
    RETURN_IF_ERROR(database.Write([&](Connection& connection) -> Status {
      ASSIGN_OR_RETURN(more, index::ForgetFresh(connection, last, kForgottenAtOnce));
      return {};
    }));
  }
  return {};
}

Status ReplayFresh(BlobDirectory& blobs, store::Database& database,
                   const std::set<std::string>& wanted) {
  std::vector<index::FreshRow> rows;
  std::int64_t after = 0;
  do {
    RETURN_IF_ERROR(database.Read([&](Connection& connection) -> Status {
      ASSIGN_OR_RETURN(rows, index::ReadFresh(connection, after, kReplayedAtOnce));
      return {};
    }));
    for (const index::FreshRow& row : rows) {
      if (wanted.contains(row.blob_id)) RETURN_IF_ERROR(blobs.Rewrite(row.blob_id, row.data));
      after = row.sequence;
    }
  } while (!rows.empty());
  return {};
}

}  // namespace

Status RecoverBlobs(BlobDirectory& blobs, store::Database& database) {
  ASSIGN_OR_RETURN(const std::vector<std::string> left, blobs.ListTemporary());
  std::set<std::string> fresh, wanted;
  RETURN_IF_ERROR(database.Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(fresh, index::FreshBlobs(connection));
    std::set<std::string> candidates(left.begin(), left.end());
    candidates.insert(fresh.begin(), fresh.end());
    if (candidates.empty()) return {};
    ASSIGN_OR_RETURN(wanted, index::FindWanted(connection, candidates));
    return {};
  }));
  if (left.empty() && fresh.empty()) return {};
  for (const std::string& id : left) {
    if (!wanted.contains(id)) {
      blobs.RemoveTemporary(id);
    } else if (!fresh.contains(id)) {
      RETURN_IF_ERROR(blobs.PublishLeftOver(id));
    }
  }
  RETURN_IF_ERROR(ReplayFresh(blobs, database, wanted));
  LogInfo(
      "object store: {} files were left among the uploads, {} small objects were not settled; {} "
      "of them are wanted",
      left.size(), fresh.size(), wanted.size());
  return {};
}

Settler::Settler(store::Database& database, BlobDirectory& blobs)
    : database_(database),
      blobs_(blobs),
      thread_({.first_after = Millis(0), .linger = Millis(0)},
              [this](bool) -> std::optional<Millis> {
                if (pending_bytes_.exchange(0) == 0) return kEvery;
                const Status settled = Settle();
                if (settled) return kEvery;
                LogWarn("failed to settle small objects: {}", settled.error().message);
                pending_bytes_.fetch_add(1);
                return kAfterFailure;
              }) {}

Settler::~Settler() {
  if (const Status settled = Settle(); !settled) {
    LogWarn("small objects are left for the next start: {}", settled.error().message);
  }
}

void Settler::Committed(std::size_t bytes) {
  bytes += 1;  // an empty object is something to settle too
  const std::size_t before = pending_bytes_.fetch_add(bytes);
  if (before < kPendingBytesMax && before + bytes >= kPendingBytesMax) thread_.Wake();
}

Status Settler::Settle() {
  std::int64_t last = 0;
  RETURN_IF_ERROR(database_.Read([&](Connection& connection) -> Status {
    ASSIGN_OR_RETURN(last, index::LastFresh(connection));
    return {};
  }));
  if (last == 0) return {};
  RETURN_IF_ERROR(blobs_.SyncAll());
  return ForgetUpTo(database_, last);
}

}  // namespace sabia::objects
