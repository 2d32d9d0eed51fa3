// Texts of columns that hold small maps and lists.
//
// Pure; any thread. Errors: kCorrupt when a text is not what we wrote.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sabia::objects::index {

// Metadata and tags as JSON. kInvalidArgument when a value is not UTF-8, which JSON cannot carry.
Result<std::string> EncodeMap(const std::map<std::string, std::string>& map);
Result<std::map<std::string, std::string>> DecodeMap(std::string_view text);
// "crc32 y/Q5Jg==": a listing decodes a thousand of them.
std::string EncodeChecksums(const std::map<std::string, std::string>& checksums);
Result<std::map<std::string, std::string>> DecodeChecksums(std::string_view text);
// Sizes of parts: "8388608x12 4711x1".
std::string EncodeSizes(const std::vector<std::uint64_t>& sizes);
Result<std::vector<std::uint64_t>> DecodeSizes(std::string_view text);

// A version's number and its id: the number in 16 hex digits, then 16 random ones.
std::string MakeVersionId(std::int64_t sequence, std::string_view random_hex);
// nullopt when the text cannot be an id.
std::optional<std::int64_t> SequenceOf(std::string_view version_id);

}  // namespace sabia::objects::index
