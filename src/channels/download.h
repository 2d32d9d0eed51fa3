// Remote objects of a listing into a directory, several at a time, each whole or not at all.
//
// Threading and errors: as fetch.h.
#pragma once

#include <span>

#include "channels/fetch.h"

namespace sabia::channels {

// Local objects are skipped. `root` exists.
Status DownloadObjects(std::span<const ListedObject> objects, const env::Path& root,
                       const MakeClient& make_client, const Cancelled& cancelled);

}  // namespace sabia::channels
