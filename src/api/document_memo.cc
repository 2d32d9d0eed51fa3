#include "api/document_memo.h"

namespace sabia::api {

DocumentMemo::DocumentMemo() : slots_(std::make_unique<std::array<Slot, kSlots>>()) {}

wire::AwsResult<wire::EncodedAnswer> DocumentMemo::Get(std::string_view name,
                                                       std::string_view document,
                                                       const Encode& encode) {
  Slot& slot = (*slots_)[std::hash<std::string_view>()(name) % kSlots];
  {
    const std::lock_guard lock(slot.mutex);
    if (slot.answer && slot.document == document) return slot.answer;
  }
  ASSIGN_OR_RETURN(wire::EncodedAnswer answer, encode(document));
  if (document.size() <= kBytesMax && answer->size() <= kBytesMax) {
    const std::lock_guard lock(slot.mutex);
    slot.document = document;
    slot.answer = answer;
  }
  return answer;
}

}  // namespace sabia::api
