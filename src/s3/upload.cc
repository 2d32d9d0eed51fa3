#include "s3/upload.h"

#include "s3/encryption.h"

#include <algorithm>

#include "base/encoding.h"

namespace sabia::s3 {
namespace {

constexpr std::size_t kReadStep = 256U << 10;
// 1,000 keys of 1,024 bytes, each byte perhaps a reference of six characters, and the elements
// around them; also 10,000 parts with checksums.
constexpr std::size_t kDocumentBytesMax = 8U << 20;
constexpr std::string_view kChecksumPrefix = "x-amz-checksum-";

std::string HeaderOf(ChecksumAlgorithm algorithm) {
  return fmt::format("{}{}", kChecksumPrefix, Name(algorithm));
}

wire::AwsResult<std::string> DecodeDigest(std::string_view text, std::size_t size,
                                          std::string_view header) {
  auto raw = Base64Decode(text);
  if (raw && raw->size() == size) return std::move(*raw);
  if (header == "Content-MD5") {
    return wire::Refuse("InvalidDigest", 400, "The Content-MD5 you specified was invalid.");
  }
  return wire::Refuse("InvalidRequest", 400, "Value for {} header is invalid.", header);
}

// The algorithm that a trailer announces in x-amz-trailer.
wire::AwsResult<std::optional<ChecksumAlgorithm>> TrailerAlgorithm(std::string_view names) {
  std::optional<ChecksumAlgorithm> out;
  while (!names.empty()) {
    const std::size_t comma = std::min(names.find(','), names.size());
    std::string name = ToLower(names.substr(0, comma));
    std::erase(name, ' ');
    names.remove_prefix(std::min(comma + 1, names.size()));
    if (!name.starts_with(kChecksumPrefix)) continue;
    const auto algorithm =
        ParseChecksumAlgorithm(std::string_view(name).substr(kChecksumPrefix.size()));
    if (!algorithm || out) {
      return wire::Refuse("InvalidRequest", 400,
                          "The value specified in the x-amz-trailer header is not supported");
    }
    out = algorithm;
  }
  return out;
}

tl::unexpected<wire::AwsError> BadDigest(std::string_view what) {
  return wire::Refuse("BadDigest", 400,
                      "The {} you specified did not match the calculated checksum.", what);
}

// The claims against what was computed; called once the body has vouched for itself.
S3Result CheckClaims(const S3Call& call, const BodyClaims& claims, Upload& upload) {
  if (claims.md5 && HexEncode(*claims.md5) != upload.FinishMd5()) {
    return wire::Refuse("BadDigest", 400,
                        "The Content-MD5 you specified did not match what we received.");
  }
  if (!claims.algorithm) return {};
  std::string expected;
  if (claims.checksum) {
    expected = *claims.checksum;
  } else {
    const auto trailer = call.body.trailers().Find(HeaderOf(*claims.algorithm));
    if (!trailer) {
      return wire::Refuse("MalformedTrailerError", 400,
                          "The request contained trailing data that was not well-formed or did not "
                          "conform to our published schema.");
    }
    expected = std::string(*trailer);
  }
  if (upload.FinishChecksum(*claims.algorithm) != expected) {
    return BadDigest(ToUpper(Name(*claims.algorithm)));
  }
  return {};
}

// Feeds the body to the sink to its end; only then is it vouched for.
template <typename Sink>
S3Result Drain(S3Call& call, std::uint64_t limit, Sink&& sink) {
  const std::uint64_t announced = call.body.content_length().value_or(kReadStep);
  std::string buffer(std::clamp<std::uint64_t>(announced, 4096, kReadStep), '\0');
  std::uint64_t total = 0;
  // Whole buffers, as far as the body goes: each costs a step of every hash and a write.
  for (bool ended = false; !ended;) {
    std::size_t held = 0;
    while (held < buffer.size() && !ended) {
      auto got = call.body.Read({buffer.data() + held, buffer.size() - held});
      if (!got) return tl::unexpected<wire::AwsError>(call.body.Refusal(got.error()));
      held += *got;
      ended = *got == 0;
    }
    if (held == 0) return {};
    total += held;
    if (total > limit) {
      return wire::Refuse("EntityTooLarge", 400,
                          "Your proposed upload exceeds the maximum allowed size");
    }
    const Status taken = sink(std::string_view(buffer.data(), held));
    if (!taken) return tl::unexpected<wire::AwsError>(ToS3Error(taken.error(), call.target));
  }
  return {};
}

}  // namespace

std::vector<ChecksumAlgorithm> BodyClaims::Algorithms() const {
  return {algorithm.value_or(ChecksumAlgorithm::kCrc32)};
}

wire::AwsResult<BodyClaims> ReadClaims(const S3Call& call) {
  BodyClaims out;
  if (const auto md5 = call.headers().Find("content-md5")) {
    ASSIGN_OR_RETURN(out.md5, DecodeDigest(*md5, 16, "Content-MD5"));
  }
  using enum ChecksumAlgorithm;
  for (const ChecksumAlgorithm algorithm : {kCrc32, kCrc32c, kCrc64Nvme, kSha1, kSha256}) {
    const auto value = call.headers().Find(HeaderOf(algorithm));
    if (!value) continue;
    if (out.algorithm) {
      return wire::Refuse("InvalidRequest", 400,
                          "Expecting a single x-amz-checksum- header. Multiple checksum Types are "
                          "not allowed.");
    }
    RETURN_IF_ERROR(DecodeDigest(*value, ChecksumSize(algorithm), HeaderOf(algorithm)));
    out.algorithm = algorithm;
    out.checksum = std::string(*value);
  }
  if (!out.algorithm) {
    ASSIGN_OR_RETURN(out.algorithm, TrailerAlgorithm(call.headers().Get("x-amz-trailer")));
  }
  const std::string_view announced = call.headers().Get("x-amz-sdk-checksum-algorithm");
  if (!announced.empty() && ParseChecksumAlgorithm(announced) != out.algorithm) {
    return wire::Refuse("InvalidRequest", 400,
                        "x-amz-sdk-checksum-algorithm specified, but no corresponding "
                        "x-amz-checksum-* or x-amz-trailer headers were found.");
  }
  return out;
}

namespace {

wire::AwsResult<std::uint64_t> AnnouncedSize(const S3Call& call) {
  const auto announced = call.body.content_length();
  if (!announced) {
    return wire::Refuse("MissingContentLength", 411,
                        "You must provide the Content-Length HTTP header.");
  }
  if (*announced > kSinglePutBytesMax) {
    return wire::Refuse("EntityTooLarge", 400,
                        "Your proposed upload exceeds the maximum allowed size");
  }
  return *announced;
}

S3Result ReceiveInto(S3Call& call, const BodyClaims& claims, Upload& upload) {
  RETURN_IF_ERROR(
      Drain(call, kSinglePutBytesMax, [&](std::string_view data) { return upload.Write(data); }));
  if (upload.size() != call.body.content_length()) {
    return wire::Refuse("IncompleteBody", 400,
                        "You did not provide the number of bytes specified by the Content-Length "
                        "HTTP header");
  }
  return CheckClaims(call, claims, upload);
}

}  // namespace

wire::AwsResult<std::unique_ptr<Upload>> ReceiveObject(S3Call& call, const BodyClaims& claims,
                                                       const Seal& seal) {
  RETURN_IF_ERROR(AnnouncedSize(call));
  ASSIGN_OR_RETURN(auto upload, BeginUpload(call, seal, claims.Algorithms()));
  RETURN_IF_ERROR(ReceiveInto(call, claims, *upload));
  return upload;
}

wire::AwsResult<std::unique_ptr<Upload>> ReceivePart(S3Call& call, const BodyClaims& claims,
                                                     const PartToReceive& part) {
  ASSIGN_OR_RETURN(const std::uint64_t size, AnnouncedSize(call));
  std::vector<ChecksumAlgorithm> algorithms = claims.Algorithms();
  if (part.needed != algorithms.front()) algorithms.push_back(part.needed);
  const objects::UploadName name{call.target.bucket, call.target.key,
                                 std::string(call.Parameter("uploadId"))};
  // A sealed part is longer than its place in a joint file would be.
  ASSIGN_OR_RETURN(
      auto upload,
      part.seal ? BeginUpload(call, part.seal, algorithms)
                : InS3(call.store.BeginPart(name, part.number, size, algorithms), call.target));
  RETURN_IF_ERROR(ReceiveInto(call, claims, *upload));
  return upload;
}

wire::AwsResult<std::string> ReceiveDocument(S3Call& call, const BodyClaims& claims) {
  std::string out;
  const S3Result drained = Drain(call, kDocumentBytesMax, [&](std::string_view data) -> Status {
    out.append(data);
    return {};
  });
  if (!drained && drained.error().code == "EntityTooLarge") {
    return wire::Refuse("MaxMessageLengthExceeded", 400, "Your request was too big.");
  }
  RETURN_IF_ERROR(drained);
  const auto md5 = NewMd5();
  md5->Update(out);
  if (claims.md5 && *claims.md5 != md5->Finish()) {
    return wire::Refuse("BadDigest", 400,
                        "The Content-MD5 you specified did not match what we received.");
  }
  if (claims.algorithm) {
    const auto hasher = NewHasher(*claims.algorithm);
    hasher->Update(out);
    const std::string_view expected = claims.checksum
                                          ? std::string_view(*claims.checksum)
                                          : call.body.trailers().Get(HeaderOf(*claims.algorithm));
    if (Base64Encode(hasher->Finish()) != expected) return BadDigest(Name(*claims.algorithm));
  }
  return out;
}

std::map<std::string, std::string> PartChecksum(const ObjectInfo& object, std::size_t index) {
  if (object.checksums.size() != 1) return {};
  const std::string& name = object.checksums.begin()->first;
  const auto algorithm = ParseChecksumAlgorithm(name);
  if (!algorithm) return {};
  const std::size_t size = ChecksumSize(*algorithm);
  if ((index + 1) * size > object.part_checksums.size()) return {};
  return {{name, Base64Encode(std::string_view(object.part_checksums).substr(index * size, size))}};
}

std::string ToUpper(std::string_view name) {
  std::string out(name);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

std::string_view ChecksumTypeOf(std::string_view value) {
  return value.find('-') == std::string_view::npos ? "FULL_OBJECT" : "COMPOSITE";
}

void AddChecksums(const std::map<std::string, std::string>& checksums, wire::Headers& headers) {
  for (const auto& [name, value] : checksums) {
    headers.Add(fmt::format("{}{}", kChecksumPrefix, name), value);
    headers.Set("x-amz-checksum-type", std::string(ChecksumTypeOf(value)));
  }
}

void WriteChecksums(XmlWriter& xml, const std::map<std::string, std::string>& checksums,
                    bool with_type) {
  for (const auto& [name, value] : checksums) {
    xml.Element("Checksum" + ToUpper(name), value);
    if (with_type) xml.Element("ChecksumType", ChecksumTypeOf(value));
  }
}

}  // namespace sabia::s3
