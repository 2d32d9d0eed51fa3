#include "objects/fresh_index.h"

namespace sabia::objects::index {

using store::BlobView;
using store::Connection;
using store::Statement;

Status InsertFresh(Connection& connection, std::string_view blob_id, std::string_view data) {
  return connection.Run("INSERT INTO fresh (blob, data) VALUES (?, ?)", blob_id, BlobView{data});
}

Result<std::int64_t> LastFresh(Connection& connection) {
  ASSIGN_OR_RETURN(Statement last, connection.Prepare("SELECT max(seq) FROM fresh"));
  ASSIGN_OR_RETURN(const bool row, last.Step());
  return row ? last.Int(0) : 0;
}

Result<std::set<std::string>> FreshBlobs(Connection& connection) {
  ASSIGN_OR_RETURN(Statement all, connection.Prepare("SELECT blob FROM fresh"));
  std::set<std::string> out;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, all.Step());
    if (!row) return out;
    out.insert(all.String(0));
  }
}

Result<std::vector<FreshRow>> ReadFresh(Connection& connection, std::int64_t after,
                                        std::size_t limit) {
  ASSIGN_OR_RETURN(Statement rows, connection.Prepare("SELECT seq, blob, data FROM fresh WHERE "
                                                      "seq > ? ORDER BY seq LIMIT ?"));
  rows.BindAll(after, limit);
  std::vector<FreshRow> out;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return out;
    out.push_back({rows.Int(0), rows.String(1), std::string(rows.Blob(2))});
  }
}

Result<bool> ForgetFresh(Connection& connection, std::int64_t last, std::size_t limit) {
  RETURN_IF_ERROR(
      connection.Run("DELETE FROM fresh WHERE seq IN (SELECT seq FROM fresh WHERE seq <= ? ORDER "
                     "BY seq LIMIT ?)",
                     last, limit));
  return connection.Changes() == static_cast<std::int64_t>(limit);
}

}  // namespace sabia::objects::index
