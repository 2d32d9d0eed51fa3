#include "channels/pipe_items.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "channels/augmented_manifest.h"
#include "wire/s3_uri.h"

namespace sabia::channels {
namespace {

constexpr std::uint64_t kLinksPerDirectory = 10'000;

Result<env::UniqueFd> CopyToScratch(ObjectStream& stream, const env::Path& scratch) {
  ASSIGN_OR_RETURN(env::UniqueFd file, env::OpenFile(scratch, O_RDWR | O_TMPFILE, 0600));
  std::string buffer(256 << 10, '\0');
  while (true) {
    ASSIGN_OR_RETURN(const std::size_t n, stream.Read(buffer));
    if (n == 0) return file;
    RETURN_IF_ERROR(env::WriteAll(file.get(), {buffer.data(), n}));
  }
}

}  // namespace

Result<std::unique_ptr<PipeItems>> PipeItems::Open(PipeItemsOptions options, ObjectReader& reader) {
  std::unique_ptr<PipeItems> items(new PipeItems(std::move(options), reader));
  RETURN_IF_ERROR(items->OpenLines());
  if (!items->options_.attributes.empty()) RETURN_IF_ERROR(items->UseManifest());
  return items;
}

PipeItems::~PipeItems() { StopKeeping(); }

Status PipeItems::OpenLines() {
  ASSIGN_OR_RETURN(env::UniqueFd fd, env::OpenFile(options_.listing, O_RDONLY | O_NOFOLLOW));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return FailErrno(errno, "failed to look at the listing");
  lines_ = std::make_unique<LineIndex>(
      LineIndex::Text{std::move(fd), 0, static_cast<std::uint64_t>(info.st_size)});
  ASSIGN_OR_RETURN(const std::optional<std::string> first, lines_->Line(0));
  if (!first) return {};
  ASSIGN_OR_RETURN(const ListedObject object, ParseListedObject(*first));
  remote_ = !object.local();
  return {};
}

// The listing names the manifest; from here on its lines are the items.
Status PipeItems::UseManifest() {
  ASSIGN_OR_RETURN(const std::optional<std::string> line, lines_->Line(0));
  if (!line) return Fail(ErrorCode::kInvalidArgument, "the listing names no manifest");
  ASSIGN_OR_RETURN(const ListedObject object, ParseListedObject(*line));
  manifest_ = NameOf(object);
  ASSIGN_OR_RETURN(const std::unique_ptr<ObjectStream> stream, reader_.Open(object));
  LineIndex::Text text;
  if (const auto file = stream->File()) {
    text.fd.Reset(::fcntl(file->fd, F_DUPFD_CLOEXEC, 0));
    if (!text.fd) return FailErrno(errno, "failed to keep {} open", manifest_);
    text.offset = file->offset;
  } else {
    ASSIGN_OR_RETURN(text.fd, CopyToScratch(*stream, options_.scratch));
  }
  text.length = stream->size();
  lines_ = std::make_unique<LineIndex>(std::move(text));
  for (const std::string& name : options_.attributes) {
    remote_ = remote_ || name.ends_with(kReferenceSuffix);
  }
  return {};
}

Result<std::optional<PipeItem>> PipeItems::Item(std::uint64_t number) {
  auto line = lines_->Line(number);
  if (!line) {
    return Wrap(std::move(line).error(),
                manifest_.empty() ? "the listing" : "manifest " + manifest_);
  }
  if (!*line) return std::optional<PipeItem>();
  if ((*line)->find_first_not_of(" \t") == std::string::npos) return PipeItem();
  if (manifest_.empty()) return ObjectItem(number, **line);
  auto item = LineItem(number, **line);
  if (!item) {
    return Wrap(std::move(item).error(),
                fmt::format("line {} of the manifest {}", number + 1, manifest_));
  }
  return item;
}

Result<PipeItem> PipeItems::ObjectItem(std::uint64_t number, const std::string& line) {
  ASSIGN_OR_RETURN(ListedObject object, ParseListedObject(line));
  if (object.local() && number < kept_.load(std::memory_order_acquire)) {
    object.blob = KeptPath(number).native();
  }
  ASSIGN_OR_RETURN(std::unique_ptr<ObjectStream> stream, reader_.Open(object));
  PipeItem item;
  item.stream_bytes = stream->size();
  item.pieces.push_back({"", std::move(stream), NameOf(object)});
  return item;
}

Result<PipeItem> PipeItems::LineItem(std::uint64_t number, const std::string& line) {
  (void)number;
  ASSIGN_OR_RETURN(std::vector<AttributeValue> values, PickAttributes(line, options_.attributes));
  PipeItem item;
  for (AttributeValue& value : values) {
    Piece piece;
    if (value.reference) {
      auto where = wire::ParseS3Uri(value.text);
      if (!where) return tl::make_unexpected(std::move(where).error());
      ListedObject object;
      object.path = std::move(value.text);
      object.bucket = std::move(where->bucket);
      object.key = std::move(where->key);
      ASSIGN_OR_RETURN(piece.stream, reader_.Open(object));
      piece.name = NameOf(object);
      item.stream_bytes += piece.stream->size();
    } else {
      piece.text = std::move(value.text);
    }
    item.pieces.push_back(std::move(piece));
  }
  return item;
}

env::Path PipeItems::KeptPath(std::uint64_t number) const {
  return options_.scratch / std::to_string(number / kLinksPerDirectory) / std::to_string(number);
}

void PipeItems::StartKeeping() {
  if (!manifest_.empty() || remote_) return;  // the manifest is open; remote objects are not ours
  keeper_ = std::thread([this] { (void)Keep(); });
}

void PipeItems::StopKeeping() {
  stop_ = true;
  if (keeper_.joinable()) keeper_.join();
}

Status PipeItems::Keep() {
  for (std::uint64_t number = 0; !stop_.load(); ++number) {
    ASSIGN_OR_RETURN(const std::optional<std::string> line, lines_->Line(number));
    if (!line) return {};
    const env::Path path = KeptPath(number);
    if (number % kLinksPerDirectory == 0 && ::mkdir(path.parent_path().c_str(), 0700) != 0 &&
        errno != EEXIST) {
      return FailErrno(errno, "failed to make a directory for links");
    }
    ASSIGN_OR_RETURN(const ListedObject object, ParseListedObject(*line));
    if (::link(object.blob.c_str(), path.c_str()) != 0) {
      return FailErrno(errno, "failed to keep {}", NameOf(object));
    }
    kept_.store(number + 1, std::memory_order_release);
  }
  return {};
}

}  // namespace sabia::channels
