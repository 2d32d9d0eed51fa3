// The rows of objects.db that hold the bytes of small objects until their files are synced.
//
// Threading and errors as object_index.h.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/connection.h"

namespace sabia::objects::index {

struct FreshRow {
  std::int64_t sequence = 0;
  std::string blob_id;
  std::string data;
};

Status InsertFresh(store::Connection& connection, std::string_view blob_id, std::string_view data);
// The greatest number that a row has; 0 when there is none.
Result<std::int64_t> LastFresh(store::Connection& connection);
Result<std::set<std::string>> FreshBlobs(store::Connection& connection);
// Rows behind a number, in order, as many as the limit.
Result<std::vector<FreshRow>> ReadFresh(store::Connection& connection, std::int64_t after,
                                        std::size_t limit);
// Of rows up to a number, the first ones, as many as the limit. Whether there may be more.
Result<bool> ForgetFresh(store::Connection& connection, std::int64_t last, std::size_t limit);

}  // namespace sabia::objects::index
