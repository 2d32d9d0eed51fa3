#include "api/document_memo.h"

namespace sabia::api {

DocumentMemo::DocumentMemo() : slots_(std::make_unique<std::array<Slot, kSlots>>()) {}

wire::AwsResult<wire::EncodedAnswer> DocumentMemo::Get(const Key& key, const Encode& encode) {
  Slot& slot = (*slots_)[std::hash<std::string_view>()(key.name) % kSlots];
  {
    const std::lock_guard lock(slot.mutex);
    if (slot.answer && slot.aged == key.aged && slot.document == key.document) return slot.answer;
  }
  ASSIGN_OR_RETURN(wire::EncodedAnswer answer, encode(key.document));
  if (key.document.size() <= kBytesMax && answer->size() <= kBytesMax) {
    const std::lock_guard lock(slot.mutex);
    slot.document = key.document;
    slot.aged = key.aged;
    slot.answer = answer;
  }
  return answer;
}

}  // namespace sabia::api
