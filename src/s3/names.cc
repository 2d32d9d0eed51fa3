#include "s3/names.h"

#include <algorithm>
#include <array>

#include "base/encoding.h"
#include "wire/s3_uri.h"

namespace sabia::s3 {
namespace {

bool IsDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool LooksLikeIpv4(std::string_view name) {
  int groups = 0;
  while (true) {
    const std::size_t dot = name.find('.');
    if (!IsDigits(name.substr(0, dot))) return false;
    ++groups;
    if (dot == std::string_view::npos) return groups == 4;
    name.remove_prefix(dot + 1);
  }
}

// "bucket" of "bucket.localhost:9000" and its kind; "" for every other host.
std::string BucketOfHost(std::string_view host) {
  const std::string name = ToLower(host.substr(0, host.rfind(':')));
  for (const std::string_view suffix : {".s3.localhost", ".localhost"}) {
    if (name.ends_with(suffix)) {
      std::string bucket = name.substr(0, name.size() - suffix.size());
      return bucket == "s3" ? std::string() : bucket;
    }
  }
  if (!name.ends_with(".amazonaws.com")) return {};
  // s3.us-west-2.amazonaws.com has no bucket in front; bucket names may hold ".s3." themselves, so
  // the last counts.
  const std::size_t at = name.rfind(".s3.");
  return at == std::string::npos ? std::string() : name.substr(0, at);
}

tl::unexpected<wire::AwsError> BadUri(std::string_view path) {
  return wire::Refuse("InvalidURI", 400, "Couldn't parse the specified URI: {}", path);
}

}  // namespace

wire::AwsResult<S3Target> ParseTarget(std::string_view raw_path, std::string_view host) {
  if (!raw_path.starts_with('/')) return BadUri(raw_path);
  S3Target out;
  out.bucket = BucketOfHost(host);
  std::string_view rest = raw_path.substr(1);
  if (out.bucket.empty()) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    auto bucket = UriDecode(rest.substr(0, slash));
    if (!bucket) return BadUri(raw_path);
    out.bucket = std::move(*bucket);
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  auto key = UriDecode(rest);
  if (!key) return BadUri(raw_path);
  if (out.bucket.empty() && !key->empty()) {
    return wire::Refuse("InvalidBucketName", 400, "The specified bucket is not valid.");
  }
  // Nothing else can be a name here, and an XML document could not repeat it.
  if (!IsUtf8(out.bucket) || !IsUtf8(*key)) return BadUri(raw_path);
  out.key = std::move(*key);
  return out;
}

bool IsLegalBucketName(std::string_view name) {
  if (!wire::IsBucketName(name) || name.find("..") != std::string_view::npos) return false;
  if (LooksLikeIpv4(name)) return false;
  constexpr std::array<std::string_view, 3> kPrefixes = {"xn--", "sthree-", "amzn-s3-demo-"};
  constexpr std::array<std::string_view, 4> kSuffixes = {"-s3alias", "--ol-s3", ".mrap", "--x-s3"};
  return std::none_of(kPrefixes.begin(), kPrefixes.end(),
                      [&](auto p) { return name.starts_with(p); }) &&
         std::none_of(kSuffixes.begin(), kSuffixes.end(),
                      [&](auto s) { return name.ends_with(s); });
}

wire::AwsResult<S3Source> ParseCopySource(std::string_view header) {
  const auto refuse = [](std::string_view why) {
    return wire::Refuse("InvalidArgument", 400,
                        "Copy Source must mention the source bucket and key: {}", why);
  };
  if (header.starts_with("arn:")) {
    return wire::Refuse("NotImplemented", 501, "Access points as copy source are not implemented.");
  }
  constexpr std::string_view kVersion = "?versionId=";
  const std::size_t question = std::min(header.find('?'), header.size());
  std::optional<std::string> version;
  if (question < header.size()) {
    if (!header.substr(question).starts_with(kVersion))
      return refuse("only ?versionId= may follow");
    version = header.substr(question + kVersion.size());
  }
  auto path = UriDecode(header.substr(0, question));
  if (!path) return refuse("bad percent encoding");
  std::string_view rest = *path;
  if (rest.starts_with('/')) rest.remove_prefix(1);
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == rest.size()) {
    return refuse("sourcebucket/sourcekey");
  }
  return S3Source{{std::string(rest.substr(0, slash)), std::string(rest.substr(slash + 1))},
                  std::move(version)};
}

}  // namespace sabia::s3
