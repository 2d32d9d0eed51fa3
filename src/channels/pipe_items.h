// What a Pipe channel consists of: the objects of its listing, or the lines of its augmented
// manifest, each opened when its turn comes.
//
// Objects of the embedded store are kept from the start on: a thread gives each blob a second name
// (a hard link), so that an object that is replaced or deleted while the job runs is still there in
// later epochs. The job sees the objects that were there when it began. Nothing here is read
// before its turn but the listing's lines (line_index.h).
//
// Threading: thread-safe. Errors: kInvalidArgument (a bad line or URI), those of ObjectReader.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "channels/line_index.h"
#include "channels/object_reader.h"

namespace sabia::channels {

// A part of an item that becomes one record: an attribute's own text, or the bytes of an object.
struct Piece {
  std::string text;
  std::unique_ptr<ObjectStream> stream;
  std::string name;  // of the object, for messages
};

struct PipeItem {
  std::vector<Piece> pieces;
  std::uint64_t stream_bytes = 0;
};

struct PipeItemsOptions {
  env::Path listing;
  // Of an augmented manifest, which is the only object of the listing; empty: the objects
  // themselves.
  std::vector<std::string> attributes;
  env::Path scratch;  // exists; for links and copies
};

class PipeItems {
 public:
  // The reader outlives this. Reads a remote manifest to the scratch directory.
  static Result<std::unique_ptr<PipeItems>> Open(PipeItemsOptions options, ObjectReader& reader);
  ~PipeItems();

  // Nothing beyond the last.
  Result<std::optional<PipeItem>> Item(std::uint64_t number);
  Result<std::uint64_t> Count() { return lines_->Count(); }
  // Whether opening an item may wait for an endpoint, so that several at once gain something.
  bool remote() const { return remote_; }

  // Begins to keep the objects. Once.
  void StartKeeping();
  // Ends it, finished or not.
  void StopKeeping();

 private:
  PipeItems(PipeItemsOptions options, ObjectReader& reader)
      : options_(std::move(options)), reader_(reader) {}
  Status OpenLines();
  Status UseManifest();
  Result<PipeItem> ObjectItem(std::uint64_t number, const std::string& line);
  Result<PipeItem> LineItem(std::uint64_t number, const std::string& line);
  Status Keep();
  env::Path KeptPath(std::uint64_t number) const;

  const PipeItemsOptions options_;
  ObjectReader& reader_;
  std::unique_ptr<LineIndex> lines_;
  std::string manifest_;  // its name
  bool remote_ = false;
  std::atomic<std::uint64_t> kept_{0};  // items below this number have a link
  std::atomic<bool> stop_{false};
  std::thread keeper_;
};

}  // namespace sabia::channels
