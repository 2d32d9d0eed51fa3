// Objects of an endpoint as files that are downloaded when they are opened and forgotten with their
// stream: whole and checked before their first byte is seen, in no memory, at the price of a disk's
// width of scratch space per object under way.
//
// Threading: thread-safe; as many clients are made as objects are opened at once. An endpoint that
// is away is waited for until Cancel, in steps of the clients' patience.
#pragma once

#include <memory>

#include "channels/download.h"
#include "channels/object_reader.h"

namespace sabia::channels {

// scratch: exists.
std::unique_ptr<ObjectReader> MakeDownloadingReader(MakeClient make_client, env::Path scratch);

}  // namespace sabia::channels
