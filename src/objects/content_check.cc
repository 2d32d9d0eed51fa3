#include "objects/content_check.h"

#include <algorithm>

#include "base/encoding.h"

namespace sabia::objects {

ContentCheck::ContentCheck(const ObjectInfo& expected, bool hashed_etag)
    : expected_(expected), hashed_etag_(hashed_etag) {
  if (!expected.parts.empty()) left_in_part_ = expected.parts.front();
  for (const auto& [name, value] : expected.checksums) {
    const auto algorithm = ParseChecksumAlgorithm(name);
    if (!algorithm) {
      unknown_.push_back(name);
      continue;
    }
    Sum sum{name, value, *algorithm, NewHasher(*algorithm), nullptr, {}};
    if (!expected.parts.empty()) sum.part = NewHasher(*algorithm);
    sums_.push_back(std::move(sum));
  }
}

void ContentCheck::Update(std::string_view data) {
  const bool parted = !expected_.parts.empty();
  while (!data.empty()) {
    while (part_ < expected_.parts.size() && left_in_part_ == 0) EndPart();
    // Bytes behind the last part belong to none: the size tells.
    const bool inside = part_ < expected_.parts.size();
    const std::string_view piece = inside ? data.substr(0, left_in_part_) : data;
    for (Sum& sum : sums_) {
      if (!Composite(sum)) sum.whole->Update(piece);
      if (sum.part) sum.part->Update(piece);
    }
    (parted ? part_md5_ : md5_)->Update(piece);
    size_ += piece.size();
    if (inside) left_in_part_ -= piece.size();
    data.remove_prefix(piece.size());
  }
}

void ContentCheck::EndPart() {
  md5_->Update(part_md5_->Finish());
  part_md5_ = NewMd5();
  for (Sum& sum : sums_) {
    const std::string raw = sum.part->Finish();
    if (Composite(sum)) sum.whole->Update(raw);
    sum.raw_parts += raw;
    sum.part = NewHasher(sum.algorithm);
  }
  ++part_;
  if (part_ < expected_.parts.size()) left_in_part_ = expected_.parts[part_];
}

void ContentCheck::CheckEtag(std::vector<std::string>& out) {
  std::string etag = HexEncode(md5_->Finish());
  if (!expected_.parts.empty()) etag += fmt::format("-{}", expected_.parts.size());
  if (etag != expected_.etag) {
    out.push_back(fmt::format("has the ETag {}, not {}", etag, expected_.etag));
  }
}

std::vector<std::string> ContentCheck::Finish() {
  while (part_ < expected_.parts.size()) EndPart();
  std::vector<std::string> out;
  if (size_ != expected_.size) {
    out.push_back(fmt::format("is {} bytes long, not {}", size_, expected_.size));
  }
  if (hashed_etag_) CheckEtag(out);
  for (const Sum& sum : sums_) {
    std::string value = Base64Encode(sum.whole->Finish());
    if (Composite(sum)) value += fmt::format("-{}", expected_.parts.size());
    if (value != sum.value) {
      out.push_back(fmt::format("has the {} {}, not {}", sum.name, value, sum.value));
    }
    const bool kept = !expected_.part_checksums.empty() && expected_.checksums.size() == 1;
    if (kept && sum.raw_parts != expected_.part_checksums) {
      out.push_back(fmt::format("has other {} checksums of its parts", sum.name));
    }
  }
  for (const std::string& name : unknown_) {
    out.push_back(fmt::format("has a checksum '{}', which nobody can compute", name));
  }
  return out;
}

}  // namespace sabia::objects
