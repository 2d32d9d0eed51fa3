// A bucket that answers only what its reader may read.
//
// Threading: as the source inside. Errors: kDenied, in the check's words.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "objects/bucket_source.h"

namespace sabia::objects {

struct ReadWish {
  enum class Kind { kList, kRead };
  Kind kind = Kind::kRead;
  std::string_view bucket;
  std::string_view name;  // the prefix of a listing, the key of an object
};
// kDenied says what is forbidden to whom.
using ReadCheck = std::function<Status(const ReadWish& wish)>;

// A listing is refused as a whole when one of its objects may not be read.
std::unique_ptr<BucketSource> GuardSource(std::unique_ptr<BucketSource> source, std::string bucket,
                                          ReadCheck check);

}  // namespace sabia::objects
