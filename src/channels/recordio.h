// The framing of RecordIO as MXNet defined it and SageMaker writes it in Pipe mode: a record is the
// magic number and the payload's length, both 32 bits little endian, the payload, and zeros up to
// the next multiple of four.
//
// The upper three bits of the length are flags for records in several parts. Readers disagree on
// how parts are joined (dmlc puts a magic number between them, others nothing), so every record
// here has one part, and a payload is below 2^29 bytes.
//
// Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace sabia::channels {

inline constexpr std::uint64_t kRecordIoPayloadMax = (std::uint64_t{1} << 29) - 1;

// REQUIRES: length <= kRecordIoPayloadMax.
std::array<char, 8> RecordIoHeader(std::uint64_t length);

// The zeros behind a payload: none to three.
std::string_view RecordIoPadding(std::uint64_t length);

}  // namespace sabia::channels
