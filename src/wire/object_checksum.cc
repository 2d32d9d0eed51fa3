#include "wire/object_checksum.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "base/encoding.h"

namespace sabia::wire {
namespace {

constexpr std::size_t kReadStep = 1 << 20;
constexpr std::uint64_t kPartsMax = 10'000;

// "value-5" → "value" and 5; without a count: 0.
std::uint64_t TakeCount(std::string_view& text) {
  const std::size_t dash = text.rfind('-');
  if (dash == text.npos) return 0;
  const std::string_view digits = text.substr(dash + 1);
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return 0;
  if (count == 0 || count > kPartsMax) return 0;
  text = text.substr(0, dash);
  return count;
}

std::optional<ObjectChecksum> FromField(const Headers& headers, ChecksumAlgorithm algorithm) {
  const auto field = headers.Find(fmt::format("x-amz-checksum-{}", Name(algorithm)));
  if (!field) return std::nullopt;
  std::string_view text = *field;
  ObjectChecksum out;
  out.algorithm = algorithm;
  out.parts = TakeCount(text);
  out.kind = out.parts == 0 ? ObjectChecksum::Kind::kWhole : ObjectChecksum::Kind::kParts;
  const auto value = Base64Decode(text);
  if (!value || value->size() != ChecksumSize(algorithm)) return std::nullopt;
  out.value = *value;
  return out;
}

ObjectChecksum FromEtag(const Headers& headers) {
  constexpr std::size_t kMd5Digits = 32;
  ObjectChecksum out;
  std::string_view etag = headers.Get("ETag");
  if (etag.size() < 2 || etag.front() != '"' || etag.back() != '"') return out;
  if (headers.Get("x-amz-server-side-encryption").starts_with("aws:kms")) return out;
  if (headers.Has("x-amz-server-side-encryption-customer-algorithm")) return out;
  etag = etag.substr(1, etag.size() - 2);
  const std::uint64_t parts = TakeCount(etag);
  const auto value = etag.size() == kMd5Digits ? HexDecode(etag) : Result<std::string>("");
  if (!value || value->empty()) return out;
  out.value = *value;
  out.parts = parts;
  out.kind = parts == 0 ? ObjectChecksum::Kind::kWhole : ObjectChecksum::Kind::kParts;
  return out;
}

Status HashSpan(int fd, std::uint64_t offset, std::uint64_t length, Hasher& hasher) {
  std::vector<char> block(std::min<std::uint64_t>(kReadStep, std::max<std::uint64_t>(1, length)));
  for (std::uint64_t done = 0; done < length;) {
    const std::size_t wanted = std::min<std::uint64_t>(block.size(), length - done);
    const ssize_t n = ::pread(fd, block.data(), wanted, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno(errno, "failed to read what was downloaded");
    if (n == 0) return Fail(ErrorCode::kIo, "what was downloaded became shorter");
    hasher.Update({block.data(), static_cast<std::size_t>(n)});
    done += static_cast<std::uint64_t>(n);
  }
  return {};
}

}  // namespace

ObjectChecksum ChecksumOf(const Headers& headers) {
  // By what they cost: CRCs first.
  constexpr std::array kAlgorithms = {ChecksumAlgorithm::kCrc32, ChecksumAlgorithm::kCrc32c,
                                      ChecksumAlgorithm::kCrc64Nvme, ChecksumAlgorithm::kSha1,
                                      ChecksumAlgorithm::kSha256};
  std::optional<ObjectChecksum> of_parts;
  for (const ChecksumAlgorithm algorithm : kAlgorithms) {
    auto found = FromField(headers, algorithm);
    if (!found) continue;
    if (found->kind == ObjectChecksum::Kind::kWhole) return std::move(*found);
    if (!of_parts) of_parts = std::move(found);
  }
  ObjectChecksum etag = FromEtag(headers);
  if (of_parts && etag.kind != ObjectChecksum::Kind::kWhole) return std::move(*of_parts);
  return etag;
}

std::unique_ptr<Hasher> NewHasherOf(const ObjectChecksum& checksum) {
  return checksum.algorithm ? NewHasher(*checksum.algorithm) : NewMd5();
}

Status CompareChecksum(const ObjectChecksum& announced, std::string_view computed) {
  if (announced.value == computed) return {};
  return Fail(ErrorCode::kCorrupt, "the {} of the content is {}, but {} was announced",
              announced.algorithm ? Name(*announced.algorithm) : "MD5", HexEncode(computed),
              HexEncode(announced.value));
}

Status VerifyFile(int fd, std::uint64_t size, const ObjectChecksum& announced) {
  switch (announced.kind) {
    case ObjectChecksum::Kind::kNone:
      return {};
    case ObjectChecksum::Kind::kWhole: {
      const auto hasher = NewHasherOf(announced);
      RETURN_IF_ERROR(HashSpan(fd, 0, size, *hasher));
      return CompareChecksum(announced, hasher->Finish());
    }
    case ObjectChecksum::Kind::kParts:
      break;
  }
  if (announced.part_size == 0) return {};
  const auto whole = NewHasherOf(announced);
  for (std::uint64_t offset = 0; offset < size; offset += announced.part_size) {
    const auto part = NewHasherOf(announced);
    RETURN_IF_ERROR(HashSpan(fd, offset, std::min(announced.part_size, size - offset), *part));
    whole->Update(part->Finish());
  }
  return CompareChecksum(announced, whole->Finish());
}

}  // namespace sabia::wire
