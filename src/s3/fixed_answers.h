// Questions about what no bucket here can have, and requests to turn it off: the truth is the same
// for all buckets.
#pragma once

#include <string_view>

#include "s3/call.h"

namespace sabia::s3 {

// False: the operation is none of them.
struct FixedAnswer;
const FixedAnswer* FindFixedAnswer(std::string_view operation);
S3Result GiveFixedAnswer(S3Call& call, const FixedAnswer& answer);

// PutBucketNotificationConfiguration and the like: the empty document, or the one that says what is
// the case anyway, is accepted; everything else is refused by name.
S3Result PutBucketAccelerateConfiguration(S3Call& call);
S3Result PutBucketLogging(S3Call& call);
S3Result PutBucketNotificationConfiguration(S3Call& call);
S3Result PutBucketRequestPayment(S3Call& call);

}  // namespace sabia::s3
