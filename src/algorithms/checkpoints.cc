#include "algorithms/checkpoints.h"

#include <fcntl.h>
#include <stdio.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "env/posix/posix_files.h"

namespace sabia::algorithms {
namespace {

constexpr std::string_view kName = "xgboost-checkpoint.";
constexpr std::string_view kTemporary = ".sagemaker-ignore";
constexpr std::string_view kUploading = ".sagemaker-uploading";
constexpr std::string_view kUploaded = ".sagemaker-uploaded";

// "sabia-ck", CRC-32 of the model and its length, both little-endian.
constexpr std::string_view kMagic = "sabia-ck";
constexpr std::size_t kTrailer = 8 + 4 + 8;
constexpr std::size_t kModelBytesMax = std::size_t{4} << 30;

void AppendInteger(std::uint64_t value, int bytes, std::string* out) {
  for (int i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

std::uint32_t Crc(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      ::crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

std::string TrailerOf(std::string_view model) {
  std::string trailer(kMagic);
  AppendInteger(Crc(model), 4, &trailer);
  AppendInteger(model.size(), 8, &trailer);
  return trailer;
}

bool Exists(const std::filesystem::path& path, std::string_view suffix) {
  std::error_code ignored;
  return std::filesystem::exists(path.string() + std::string(suffix), ignored);
}

}  // namespace

std::string SealCheckpoint(std::string_view model) { return std::string(model) + TrailerOf(model); }

Result<std::string> UnsealCheckpoint(std::string_view sealed) {
  if (sealed.size() < kTrailer) return Fail(ErrorCode::kCorrupt, "it is cut short");
  const std::string_view model = sealed.substr(0, sealed.size() - kTrailer);
  const std::string_view trailer = sealed.substr(model.size());
  if (!trailer.starts_with(kMagic)) {
    return Fail(ErrorCode::kCorrupt, "it is cut short or was not written by this algorithm");
  }
  if (trailer != TrailerOf(model)) return Fail(ErrorCode::kCorrupt, "its checksum does not match");
  return std::string(model);
}

std::filesystem::path Checkpoints::PathOf(int round) const {
  return directory_ / fmt::format("{}{}", kName, round);
}

Status Checkpoints::Open() {
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  if (error) return FailErrno(error.value(), "failed to make '{}'", directory_.string());
  for (std::filesystem::directory_iterator at(directory_, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::error_code ignored;
    if (name.starts_with(kName) && name.ends_with(kTemporary))
      std::filesystem::remove(at->path(), ignored);
  }
  const std::vector<int> rounds = Rounds();
  present_ = {rounds.begin(), rounds.end()};
  return {};
}

std::vector<int> Checkpoints::Rounds() const {
  std::vector<int> rounds;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory_, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(kName)) continue;
    int round = 0;
    const char* const last = name.data() + name.size();
    const auto [after, problem] = std::from_chars(name.data() + kName.size(), last, round);
    if (problem == std::errc() && after == last && round >= 0) rounds.push_back(round);
  }
  std::sort(rounds.rbegin(), rounds.rend());
  return rounds;
}

Result<std::string> Checkpoints::Read(int round) const {
  env::PosixFiles files;
  ASSIGN_OR_RETURN(const std::string sealed, files.Read(PathOf(round), kModelBytesMax));
  return UnsealCheckpoint(sealed);
}

Status Checkpoints::Write(int round, std::string_view model) {
  const std::filesystem::path path = PathOf(round);
  const std::string temporary = path.string() + std::string(kTemporary);
  {
    ASSIGN_OR_RETURN(const env::UniqueFd fd,
                     env::OpenFile(temporary, O_WRONLY | O_CREAT | O_TRUNC));
    Status status = env::WriteAll(fd.get(), model);
    if (status) status = env::WriteAll(fd.get(), TrailerOf(model));
    if (!status) {
      ::unlink(temporary.c_str());
      return Wrap(std::move(status).error(), fmt::format("failed to write '{}'", path.string()));
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    return FailErrno(errno, "failed to rename '{}'", temporary);
  }
  present_.insert(round);
  return {};
}

void Checkpoints::Prune(bool wait) {
  const std::vector<int> rounds(present_.rbegin(), present_.rend());
  for (std::size_t i = kKept; i < rounds.size(); ++i) {
    const std::filesystem::path path = PathOf(rounds[i]);
    if (wait && Exists(path, kUploading) && !Exists(path, kUploaded)) continue;
    std::error_code error;
    std::filesystem::remove(path, error);
    if (error) log_.Warning("Cannot remove old checkpoint {}: {}", path.string(), error.message());
    present_.erase(rounds[i]);
  }
}

}  // namespace sabia::algorithms
