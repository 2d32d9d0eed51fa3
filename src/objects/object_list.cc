#include "objects/columns.h"
#include "objects/key_scope.h"
#include "objects/object_index.h"

namespace sabia::objects::index {
namespace {

using store::BlobView;
using store::Connection;
using store::Statement;

const std::string kKeysFrom = fmt::format(
    "SELECT {} FROM objects WHERE bucket = ? AND key >= ? ORDER BY key", kListedColumns);
const std::string kKeysBelow =
    fmt::format("SELECT {} FROM objects WHERE bucket = ? AND key >= ? AND key < ? ORDER BY key",
                kListedColumns);

class Lister {
 public:
  Lister(BucketId bucket, const ListOptions& options)
      : bucket_(bucket),
        scope_{options.prefix, options.delimiter},
        start_after_(options.start_after),
        limit_(options.limit),
        behind_(AfterPrefix(options.prefix)) {}

  Result<Listing> Run(Connection& connection) {
    std::optional<std::string> from = scope_.FirstKey(start_after_);
    if (limit_ == 0) from.reset();
    ASSIGN_OR_RETURN(Statement rows, connection.Prepare(behind_ ? kKeysBelow : kKeysFrom));
    rows.Bind(1, bucket_);
    if (behind_) rows.Bind(3, BlobView{*behind_});
    while (from) {
      rows.Bind(2, BlobView{*from});
      ASSIGN_OR_RETURN(from, Scan(rows));
      rows.Rewind();
    }
    return std::move(out_);
  }

 private:
  // Reads keys from here until the first that folds into a common prefix; gives the key behind that
  // prefix.
  Result<std::optional<std::string>> Scan(Statement& rows) {
    while (true) {
      ASSIGN_OR_RETURN(const bool row, rows.Step());
      if (!row) return std::nullopt;
      if (count_ == limit_) {
        out_.truncated = true;
        return std::nullopt;
      }
      ++count_;
      const std::string_view key = rows.Blob(0);
      if (const auto end = scope_.CommonPrefixEnd(key)) {
        out_.next_start_after = std::string(key.substr(0, *end));
        out_.common_prefixes.push_back(out_.next_start_after);
        return AfterPrefix(out_.next_start_after);
      }
      ASSIGN_OR_RETURN(ObjectInfo object, ListedFrom(rows));
      out_.next_start_after = object.key;
      out_.objects.push_back(std::move(object));
    }
  }

  const BucketId bucket_;
  const KeyScope scope_;
  const std::string& start_after_;
  const std::size_t limit_;
  const std::optional<std::string> behind_;
  std::size_t count_ = 0;
  Listing out_;
};

}  // namespace

Result<Listing> ListObjects(Connection& connection, BucketId bucket, const ListOptions& options) {
  ASSIGN_OR_RETURN(Listing out, Lister(bucket, options).Run(connection));
  if (!out.truncated) out.next_start_after.clear();
  return out;
}

}  // namespace sabia::objects::index
