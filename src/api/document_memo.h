// Answers that are a function of a stored document and its age, kept as text for as long as both
// stay the same.
//
// A hit costs a comparison of the documents, about a tenth of a microsecond, instead of decoding,
// building and encoding. Comparing the text itself, not a revision, makes a stale answer
// impossible: also after a name was deleted and taken again.
//
// Bounded: kSlots answers, the latest of each slot; documents and answers above kBytesMax are not
// kept. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "wire/action.h"

namespace sabia::api {

class DocumentMemo {
 public:
  static constexpr std::size_t kSlots = 1024;
  static constexpr std::size_t kBytesMax = 16 << 10;  // so at most 32 MiB; usually two

  using Encode = std::function<wire::AwsResult<wire::EncodedAnswer>(std::string_view document)>;

  struct Key {
    std::string_view name;
    std::string_view document;
    bool aged = false;
  };

  DocumentMemo();
  // The kept answer for exactly this document, or what encode makes of it. Errors are not kept.
  wire::AwsResult<wire::EncodedAnswer> Get(const Key& key, const Encode& encode);

 private:
  struct Slot {
    std::mutex mutex;
    std::string document;
    bool aged = false;
    wire::EncodedAnswer answer;
  };
  std::unique_ptr<std::array<Slot, kSlots>> slots_;
};

}  // namespace sabia::api
