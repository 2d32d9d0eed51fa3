#include "objects/index.h"

namespace sabia::objects::index {
namespace {

using store::BlobView;
using store::Connection;
using store::Statement;

// Where a common prefix ends in the key: just behind the first delimiter that follows the prefix.
std::optional<std::size_t> CommonPrefixEnd(std::string_view key, const ListOptions& options) {
  if (options.delimiter.empty()) return std::nullopt;
  const std::size_t at = key.find(options.delimiter, options.prefix.size());
  if (at == std::string_view::npos) return std::nullopt;
  return at + options.delimiter.size();
}

// The first key that may be returned; nullopt when none can.
std::optional<std::string> FirstKey(const ListOptions& options) {
  if (options.start_after < options.prefix) return options.prefix;
  if (!options.start_after.starts_with(options.prefix)) {
    // Behind every key with the prefix, or, with both empty, the very beginning.
    return std::nullopt;
  }
  if (options.start_after.empty()) return std::string();
  // What lies in a common prefix that was returned before would only give it again.
  if (const auto end = CommonPrefixEnd(options.start_after, options)) {
    return AfterPrefix(options.start_after.substr(0, *end));
  }
  return options.start_after + '\0';
}

ObjectInfo ObjectFrom(const Statement& row) {
  ObjectInfo out;
  out.key = std::string(row.Blob(0));
  out.size = static_cast<std::uint64_t>(row.Int(1));
  out.etag = row.String(2);
  out.modified = FromUnixMillis(row.Int(3));
  out.blob_id = row.String(4);
  return out;
}

class Lister {
 public:
  Lister(BucketId bucket, const ListOptions& options)
      : bucket_(bucket), options_(options), behind_(AfterPrefix(options.prefix)) {}

  Result<Listing> Run(Connection& connection) {
    std::optional<std::string> from = FirstKey(options_);
    if (options_.limit == 0) from.reset();
    ASSIGN_OR_RETURN(
        Statement rows,
        connection.Prepare(behind_ ? "SELECT key, size, etag, modified, blob, checksums FROM "
                                     "objects WHERE bucket = ? AND key >= ? AND key < ?"
                                     " ORDER BY key"
                                   : "SELECT key, size, etag, modified, blob, checksums FROM "
                                     "objects WHERE bucket = ? AND key >= ? ORDER BY key"));
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
      if (count_ == options_.limit) {
        out_.truncated = true;
        return std::nullopt;
      }
      ++count_;
      const std::string_view key = rows.Blob(0);
      if (const auto end = CommonPrefixEnd(key, options_)) {
        out_.next_start_after = std::string(key.substr(0, *end));
        out_.common_prefixes.push_back(out_.next_start_after);
        return AfterPrefix(out_.next_start_after);
      }
      ObjectInfo object = ObjectFrom(rows);
      ASSIGN_OR_RETURN(object.checksums, DecodeChecksums(rows.Text(5)));
      out_.next_start_after = object.key;
      out_.objects.push_back(std::move(object));
    }
  }

  const BucketId bucket_;
  const ListOptions& options_;
  const std::optional<std::string> behind_;
  std::size_t count_ = 0;
  Listing out_;
};

}  // namespace

std::optional<std::string> AfterPrefix(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xFF') prefix.pop_back();
  if (prefix.empty()) return std::nullopt;
  prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

Result<Listing> ListObjects(Connection& connection, BucketId bucket, const ListOptions& options) {
  ASSIGN_OR_RETURN(Listing out, Lister(bucket, options).Run(connection));
  if (!out.truncated) out.next_start_after.clear();
  return out;
}

}  // namespace sabia::objects::index
