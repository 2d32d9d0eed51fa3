#include "wire/checksum.h"

#include <openssl/evp.h>

#include <array>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "base/encoding.h"
#include "wire/crc_fold.h"

namespace sabia::wire {
namespace {

// Polynomials in reflected bit order.
constexpr std::uint32_t kPolynomialCrc32 = 0xEDB88320U;
constexpr std::uint32_t kPolynomialCrc32c = 0x82F63B78U;
constexpr std::uint64_t kPolynomialCrc64Nvme = 0x9A6C9329AC4BC9B5ULL;

template <typename Word>
std::string BigEndian(Word value) {
  std::string out(sizeof(Word), '\0');
  for (std::size_t i = 0; i < sizeof(Word); ++i) {
    out[sizeof(Word) - 1 - i] = static_cast<char>(value & 0xFF);
    value = static_cast<Word>(value >> 8);
  }
  return out;
}

template <typename Word>
Word FromBigEndian(std::string_view bytes) {
  CHECK(bytes.size() == sizeof(Word));
  Word out = 0;
  for (const char c : bytes) out = static_cast<Word>(out << 8) | static_cast<unsigned char>(c);
  return out;
}

// tables[k][b]: the CRC of byte b followed by k zero bytes, so that eight bytes cost eight look-ups
// and no chain.
template <typename Word>
using Tables = std::array<std::array<Word, 256>, 8>;

template <typename Word>
constexpr Tables<Word> MakeTables(Word polynomial) {
  Tables<Word> tables{};
  for (unsigned b = 0; b < 256; ++b) {
    Word crc = b;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 1) != 0 ? static_cast<Word>(crc >> 1) ^ polynomial : static_cast<Word>(crc >> 1);
    }
    tables[0][b] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t b = 0; b < 256; ++b) {
      const Word before = tables[k - 1][b];
      tables[k][b] = static_cast<Word>(before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}

constexpr Tables<std::uint32_t> kTablesCrc32 = MakeTables(kPolynomialCrc32);
constexpr Tables<std::uint32_t> kTablesCrc32c = MakeTables(kPolynomialCrc32c);
constexpr Tables<std::uint64_t> kTablesCrc64Nvme = MakeTables(kPolynomialCrc64Nvme);
static_assert(std::endian::native == std::endian::little,
              "the eight-byte step reads little endian");

constexpr FoldPlan kFoldCrc32 = MakeFoldPlan(kPolynomialCrc32, 32);
constexpr FoldPlan kFoldCrc32c = MakeFoldPlan(kPolynomialCrc32c, 32);
constexpr FoldPlan kFoldCrc64Nvme = MakeFoldPlan(kPolynomialCrc64Nvme, 64);

// Long inputs are folded to a few bytes, which then go through the tables as short ones do.
template <typename Word>
class Crc final : public Hasher {
 public:
  Crc(const Tables<Word>& tables, const FoldPlan& plan) : tables_(tables), plan_(plan) {}

  void Update(std::string_view data) override {
    if (data.size() >= kFoldLeast && CanFold()) {
      char folded[kFolded];
      const std::size_t n = data.size() / kFolded * kFolded;
      Fold(plan_, crc_, data.substr(0, n), folded);
      crc_ = 0;  // it is in the folded bytes
      UpdateShort({folded, sizeof folded});
      data.remove_prefix(n);
    }
    UpdateShort(data);
  }

  std::string Finish() override { return BigEndian<Word>(~crc_); }

 private:
  void UpdateShort(std::string_view data) {
    Word crc = crc_;
    while (data.size() >= 8) {
      std::uint64_t chunk = 0;
      std::memcpy(&chunk, data.data(), 8);
      chunk ^= crc;
      Word next = 0;
      for (std::size_t i = 0; i < 8; ++i) next ^= tables_[7 - i][(chunk >> (8 * i)) & 0xFF];
      crc = next;
      data.remove_prefix(8);
    }
    for (const char c : data) {
      crc = static_cast<Word>(crc >> 8) ^ tables_[0][(crc ^ static_cast<unsigned char>(c)) & 0xFF];
    }
    crc_ = crc;
  }

  const Tables<Word>& tables_;
  const FoldPlan& plan_;
  Word crc_ = static_cast<Word>(~Word{0});
};

class EvpHasher final : public Hasher {
 public:
  explicit EvpHasher(const EVP_MD* kind) : context_(::EVP_MD_CTX_new(), &::EVP_MD_CTX_free) {
    CHECK(context_ != nullptr && ::EVP_DigestInit_ex(context_.get(), kind, nullptr) == 1);
  }
  void Update(std::string_view data) override {
    CHECK(::EVP_DigestUpdate(context_.get(), data.data(), data.size()) == 1);
  }
  std::string Finish() override {
    if (value_.empty()) {
      std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
      unsigned size = 0;
      CHECK(::EVP_DigestFinal_ex(context_.get(), out.data(), &size) == 1);
      value_.assign(reinterpret_cast<const char*>(out.data()), size);
    }
    return value_;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&::EVP_MD_CTX_free)> context_;
  std::string value_;
};

// The product of two polynomials modulo P, in reflected bit order.
template <typename Word>
Word MultiplyModulo(Word a, Word b, Word polynomial) {
  Word product = 0;
  for (Word bit = Word{1} << (8 * sizeof(Word) - 1); bit != 0; bit = static_cast<Word>(bit >> 1)) {
    if ((a & bit) != 0) product ^= b;
    b = (b & 1) != 0 ? static_cast<Word>(b >> 1) ^ polynomial : static_cast<Word>(b >> 1);
  }
  return product;
}

// crc(A B) = crc(A) * x^(8 * |B|) + crc(B) modulo P.
template <typename Word>
Word Combine(Word a, Word b, std::uint64_t length_b, Word polynomial) {
  constexpr unsigned kBits = 8 * sizeof(Word);
  Word power = Word{1} << (kBits - 1 - 8);  // x^8: one byte
  Word shift = Word{1} << (kBits - 1);      // x^0
  for (std::uint64_t n = length_b; n != 0; n >>= 1) {
    if ((n & 1) != 0) shift = MultiplyModulo(power, shift, polynomial);
    power = MultiplyModulo(power, power, polynomial);
  }
  return MultiplyModulo(shift, a, polynomial) ^ b;
}

template <typename Word>
std::string CombineBytes(std::string_view a, std::string_view b, std::uint64_t length_b,
                         Word polynomial) {
  return BigEndian(Combine(FromBigEndian<Word>(a), FromBigEndian<Word>(b), length_b, polynomial));
}

}  // namespace

std::string_view Name(ChecksumAlgorithm algorithm) {
  switch (algorithm) {
    case ChecksumAlgorithm::kCrc32:
      return "crc32";
    case ChecksumAlgorithm::kCrc32c:
      return "crc32c";
    case ChecksumAlgorithm::kCrc64Nvme:
      return "crc64nvme";
    case ChecksumAlgorithm::kSha1:
      return "sha1";
    case ChecksumAlgorithm::kSha256:
      return "sha256";
  }
  return "";
}

std::optional<ChecksumAlgorithm> ParseChecksumAlgorithm(std::string_view name) {
  using enum ChecksumAlgorithm;
  for (const ChecksumAlgorithm a : {kCrc32, kCrc32c, kCrc64Nvme, kSha1, kSha256}) {
    if (EqualsIgnoreCase(name, Name(a))) return a;
  }
  return std::nullopt;
}

bool IsCrc(ChecksumAlgorithm algorithm) {
  return algorithm != ChecksumAlgorithm::kSha1 && algorithm != ChecksumAlgorithm::kSha256;
}

std::size_t ChecksumSize(ChecksumAlgorithm algorithm) {
  switch (algorithm) {
    case ChecksumAlgorithm::kCrc32:
    case ChecksumAlgorithm::kCrc32c:
      return 4;
    case ChecksumAlgorithm::kCrc64Nvme:
      return 8;
    case ChecksumAlgorithm::kSha1:
      return 20;
    case ChecksumAlgorithm::kSha256:
      return 32;
  }
  return 0;
}

std::unique_ptr<Hasher> NewHasher(ChecksumAlgorithm algorithm) {
  switch (algorithm) {
    case ChecksumAlgorithm::kCrc32:
      return std::make_unique<Crc<std::uint32_t>>(kTablesCrc32, kFoldCrc32);
    case ChecksumAlgorithm::kCrc32c:
      return std::make_unique<Crc<std::uint32_t>>(kTablesCrc32c, kFoldCrc32c);
    case ChecksumAlgorithm::kCrc64Nvme:
      return std::make_unique<Crc<std::uint64_t>>(kTablesCrc64Nvme, kFoldCrc64Nvme);
    case ChecksumAlgorithm::kSha1:
      return std::make_unique<EvpHasher>(::EVP_sha1());
    case ChecksumAlgorithm::kSha256:
      return std::make_unique<EvpHasher>(::EVP_sha256());
  }
  return nullptr;
}

std::unique_ptr<Hasher> NewMd5() { return std::make_unique<EvpHasher>(::EVP_md5()); }

std::string CombineCrc(ChecksumAlgorithm algorithm, std::string_view crc_a, std::string_view crc_b,
                       std::uint64_t length_b) {
  CHECK(IsCrc(algorithm));
  if (algorithm == ChecksumAlgorithm::kCrc64Nvme) {
    return CombineBytes<std::uint64_t>(crc_a, crc_b, length_b, kPolynomialCrc64Nvme);
  }
  const std::uint32_t polynomial =
      algorithm == ChecksumAlgorithm::kCrc32 ? kPolynomialCrc32 : kPolynomialCrc32c;
  return CombineBytes<std::uint32_t>(crc_a, crc_b, length_b, polynomial);
}

}  // namespace sabia::wire
