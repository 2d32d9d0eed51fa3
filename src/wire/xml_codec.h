// The schema's JSON form as XML, for the answers of the query protocol.
//
// Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "wire/aws_error.h"
#include "wire/schema.h"

namespace sabia::wire {

// Text with the five special characters and control characters escaped; bytes that are not UTF-8
// become U+FFFD.
std::string EscapeXml(std::string_view text);

// "<name>value</name>", or several of them for a flattened list.
void EncodeXml(const Member& member, const json::value& value, std::string& out);
// The members of a structure, one after the other.
void EncodeXmlMembers(const Shape& structure, const json::object& value, std::string& out);

}  // namespace sabia::wire
