// The engine's names that every file of this folder speaks of.
#pragma once

#include "objects/checksum.h"
#include "objects/object_store.h"

namespace sabia::s3 {

using objects::BucketInfo;
using objects::ChecksumAlgorithm;
using objects::ChecksumSize;
using objects::CompleteOptions;
using objects::CopyConditions;
using objects::IsCrc;
using objects::kKeyBytesMax;
using objects::kPartBytesMin;
using objects::kPartNumberMax;
using objects::kSinglePutBytesMax;
using objects::Listing;
using objects::ListMultipartsOptions;
using objects::ListOptions;
using objects::Metadata;
using objects::MultipartInfo;
using objects::MultipartListing;
using objects::MultipartOptions;
using objects::Name;
using objects::NewHasher;
using objects::NewMd5;
using objects::ObjectInfo;
using objects::ObjectStore;
using objects::ParseChecksumAlgorithm;
using objects::PartInfo;
using objects::PutOptions;
using objects::Upload;
using objects::UploadName;

}  // namespace sabia::s3
