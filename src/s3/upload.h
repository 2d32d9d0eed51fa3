// Request bodies: verified against everything the client said about them before anybody relies on
// them.
//
// Threading: as the call. Errors: BadDigest, InvalidDigest, InvalidRequest, EntityTooLarge,
// IncompleteBody, and what the body itself refuses (signatures, hashes).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "objects/sealed_upload.h"
#include "s3/call.h"

namespace sabia::s3 {

// What the headers announce about the content.
struct BodyClaims {
  std::optional<std::string> md5;              // raw bytes
  std::optional<ChecksumAlgorithm> algorithm;  // of the checksum below, or of a trailer
  std::optional<std::string> checksum;         // base64; absent: it comes in a trailer
  // What to compute: the claimed algorithm, or CRC32.
  std::vector<ChecksumAlgorithm> Algorithms() const;
};
wire::AwsResult<BodyClaims> ReadClaims(const S3Call& call);

// Streams the body into an upload and checks all claims.
using Seal = std::optional<objects::UploadSeal>;
wire::AwsResult<std::unique_ptr<Upload>> ReceiveObject(S3Call& call, const BodyClaims& claims,
                                                       const Seal& seal);
// The same for a part; `needed`: the algorithm that its upload is made with.
struct PartToReceive {
  int number = 0;
  ChecksumAlgorithm needed = ChecksumAlgorithm::kCrc32;
  Seal seal;
};
wire::AwsResult<std::unique_ptr<Upload>> ReceivePart(S3Call& call, const BodyClaims& claims,
                                                     const PartToReceive& part);

// A whole XML body, checked the same way; without claims, only as the body vouches for itself.
wire::AwsResult<std::string> ReceiveDocument(S3Call& call, const BodyClaims& claims);

// x-amz-checksum-crc32 and x-amz-checksum-type of an answer.
void AddChecksums(const std::map<std::string, std::string>& checksums, wire::Headers& headers);
// ChecksumCRC32 and, where asked for, ChecksumType.
void WriteChecksums(XmlWriter& xml, const std::map<std::string, std::string>& checksums,
                    bool with_type);
// Of one part, by its place; empty when the object keeps none.
std::map<std::string, std::string> PartChecksum(const ObjectInfo& object, std::size_t index);
// "CRC32" of "crc32".
std::string ToUpper(std::string_view name);
// COMPOSITE when the value counts parts.
std::string_view ChecksumTypeOf(std::string_view value);

}  // namespace sabia::s3
