#include "objects/reaper.h"

#include "base/log.h"
#include "objects/object_index.h"

namespace sabia::objects {
namespace {

constexpr std::size_t kBatch = 1024;
constexpr Millis kLinger{100};

}  // namespace

Reaper::Reaper(store::Database& database, BlobDirectory& blobs)
    : database_(database),
      blobs_(blobs),
      thread_({.first_after = std::nullopt, .linger = kLinger}, [this](bool) {
        const Result<bool> more = RemoveSome();
        if (!more) LogWarn("failed to remove old objects: {}", more.error().message);
        // A full batch was no trickle: the next one starts at once.
        return more && *more ? std::optional<Millis>(0) : std::nullopt;
      }) {
  Wake();  // for what an earlier process left
}

Result<bool> Reaper::RemoveSome() {
  std::vector<std::string> ids;
  RETURN_IF_ERROR(database_.Read([&](store::Connection& connection) -> Status {
    ASSIGN_OR_RETURN(ids, index::ReadGarbage(connection, kBatch));
    return {};
  }));
  if (ids.empty()) return false;
  RETURN_IF_ERROR(blobs_.Remove(ids));
  RETURN_IF_ERROR(database_.Write(
      [&](store::Connection& connection) { return index::ForgetGarbage(connection, ids); }));
  return ids.size() == kBatch;
}

}  // namespace sabia::objects
