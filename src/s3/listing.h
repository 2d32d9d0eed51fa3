// What the listings of objects, versions and uploads have in common.
//
// Threading: as the call.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "s3/call.h"

namespace sabia::s3 {

inline constexpr std::size_t kPageMax = 1000;

// InvalidArgument when one of the parameters is not UTF-8.
S3Result CheckUtf8(const S3Call& call, std::initializer_list<std::string_view> parameters);

// LastModified, ETag, the kind of checksum, Size.
void WriteFacts(XmlWriter& xml, const ObjectInfo& object);
void WritePrefixes(XmlWriter& xml, const std::vector<std::string>& prefixes,
                   const NameEncoding& encode);

}  // namespace sabia::s3
