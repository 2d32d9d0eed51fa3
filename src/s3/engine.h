// The engine's names that every file of this folder speaks of.
#pragma once

#include "objects/checksum.h"
#include "objects/object_store.h"

namespace sabia::s3 {

using objects::BucketHandle;
using objects::BucketInfo;
using objects::ChecksumAlgorithm;
using objects::ChecksumSize;
using objects::CompleteOptions;
using objects::CopyOptions;
using objects::Deleted;
using objects::DeleteOptions;
using objects::IsCrc;
using objects::kKeyBytesMax;
using objects::kPartBytesMin;
using objects::kPartNumberMax;
using objects::kSinglePutBytesMax;
using objects::Listing;
using objects::ListMultipartsOptions;
using objects::ListOptions;
using objects::ListVersionsOptions;
using objects::Metadata;
using objects::MultipartInfo;
using objects::MultipartListing;
using objects::MultipartOptions;
using objects::Name;
using objects::NewHasher;
using objects::NewMd5;
using objects::ObjectInfo;
using objects::ObjectName;
using objects::ObjectStore;
using objects::ParseChecksumAlgorithm;
using objects::PartInfo;
using objects::PutOptions;
using objects::Settings;
using objects::Tags;
using objects::Upload;
using objects::UploadName;
using objects::VersionChoice;
using objects::Versioning;
using objects::VersionListing;

}  // namespace sabia::s3
