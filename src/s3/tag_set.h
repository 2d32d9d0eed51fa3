// Tags of objects and buckets: the header's form, the document's form, and AWS's rules for both.
//
// Pure; any thread. Errors: InvalidTag, BadRequest (too many), MalformedXML, InvalidArgument.
#pragma once

#include <string>
#include <string_view>

#include "s3/engine.h"
#include "s3/xml.h"
#include "wire/http.h"

namespace sabia::s3 {

inline constexpr std::size_t kObjectTagsMax = 10;
inline constexpr std::size_t kBucketTagsMax = 50;

// x-amz-tagging: "a=1&b=2", encoded as a query string.
wire::AwsResult<Tags> ParseTagHeader(std::string_view header);
// <Tagging><TagSet><Tag><Key/><Value/></Tag>…
wire::AwsResult<Tags> ParseTagging(std::string_view document, std::size_t max);
std::string WriteTagging(const Tags& tags);

// x-amz-tagging-count, where there are tags.
void AddTagCount(const Tags& tags, wire::Headers& headers);

}  // namespace sabia::s3
