// Answers that take long to find: whitespace keeps the connection alive until they are known, as S3
// does when it joins parts.
//
// Clients give up on a connection that is silent for a minute. From the first interval on the
// answer is a 200 whose XML declaration is sent and whose document is still to come; a failure is
// then an <Error> document in it, which AWS clients look for. Headers that only the result knows
// are left out of such an answer.
//
// Threading: as the call's Exchange; a thread of its own writes to it while the work runs, which
// must not touch it.
#pragma once

#include <functional>

#include "base/time.h"
#include "s3/call.h"

namespace sabia::s3 {

inline constexpr Millis kWhitespaceEvery{10'000};

struct XmlAnswer {
  std::string document;
  wire::Headers headers;
};

// REQUIRES: the request's body is read.
S3Result AnswerXmlWhenDone(S3Call& call, const std::function<wire::AwsResult<XmlAnswer>()>& work,
                           Millis interval = kWhitespaceEvery);

}  // namespace sabia::s3
