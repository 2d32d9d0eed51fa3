// Storage classes: all bytes lie on the same disk, so a class is a label that is kept and shown.
//
// Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "wire/aws_error.h"
#include "wire/http.h"

namespace sabia::s3 {

// x-amz-storage-class; "" for STANDARD, as the engine keeps it. InvalidStorageClass for what is
// none; NotImplemented for the archives, from which an object could not be read at once.
wire::AwsResult<std::string> ReadStorageClass(const wire::Headers& headers);

// As listings print it.
std::string_view ShownClass(std::string_view storage_class);
// x-amz-storage-class of an answer, which S3 leaves out for STANDARD.
void AddStorageClass(std::string_view storage_class, wire::Headers& headers);

}  // namespace sabia::s3
