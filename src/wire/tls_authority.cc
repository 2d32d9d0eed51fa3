#include "wire/tls_authority.h"

#include "base/log.h"
#include "wire/certificate.h"

namespace sabia::wire {
namespace {

constexpr std::chrono::hours kDay{24};
constexpr auto kAuthorityLife = 3652 * kDay;  // ten years
constexpr auto kAuthorityRenewal =
    365 * kDay;                           // so that every server certificate ends before its issuer
constexpr auto kServerLife = 365 * kDay;  // some clients refuse longer ones
constexpr auto kServerRenewal = 30 * kDay;
constexpr auto kClockSkew = kDay;  // valid a little earlier, for clocks that are behind
constexpr std::size_t kPemMax = 64 << 10;
constexpr std::size_t kBundleMax = 16 << 20;

struct PairPaths {
  env::Path certificate;
  env::Path key;
};

std::vector<std::string> ServerNames(const TlsAuthorityOptions& options) {
  const std::string& region = options.region;
  std::vector<std::string> names{"localhost",
                                 "127.0.0.1",
                                 "::1",
                                 "*.amazonaws.com",
                                 fmt::format("*.{}.amazonaws.com", region),
                                 fmt::format("sts.{}.amazonaws.com", region),
                                 fmt::format("*.s3.{}.amazonaws.com", region),
                                 fmt::format("*.sagemaker.{}.amazonaws.com", region)};
  names.insert(names.end(), options.more_names.begin(), options.more_names.end());
  return names;
}

Result<KeyPair> LoadPair(env::Files& files, const PairPaths& paths) {
  ASSIGN_OR_RETURN(const std::string certificate, files.Read(paths.certificate, kPemMax));
  ASSIGN_OR_RETURN(const std::string key, files.Read(paths.key, kPemMax));
  return ParseKeyPair(certificate, key);
}

Status StorePair(env::Files& files, const PairPaths& paths, const KeyPair& pair) {
  RETURN_IF_ERROR(files.WriteAtomically(paths.key, ToPem(*pair.key), {.mode = 0600}));
  return files.WriteAtomically(paths.certificate, ToPem(*pair.certificate), {.mode = 0644});
}

Status WriteBundle(env::Files& files, const TlsAuthorityOptions& options, const TlsFiles& tls,
                   const KeyPair& authority) {
  std::string bundle;
  auto system = files.Read(options.system_bundle, kBundleMax);
  if (system) {
    bundle = std::move(*system);
    if (!bundle.empty() && !bundle.ends_with('\n')) bundle += '\n';
  } else {
    LogWarn("bundle.pem holds only our own authority: {}", system.error().message);
  }
  bundle += ToPem(*authority.certificate);
  if (const auto old = files.Read(tls.bundle, kBundleMax); old && *old == bundle) return {};
  return files.WriteAtomically(tls.bundle, bundle, {.mode = 0644});
}

}  // namespace

Result<TlsFiles> TlsAuthority::Ensure(const TlsAuthorityOptions& options) {
  const env::Path& directory = options.directory;
  const PairPaths authority_paths{directory / "ca.pem", directory / "ca.key"};
  const PairPaths server_paths{directory / "server.pem", directory / "server.key"};
  const TlsFiles tls{{server_paths.certificate, server_paths.key},
                     authority_paths.certificate,
                     directory / "bundle.pem"};
  const WallTime now = clock_.Wall();
  RETURN_IF_ERROR(files_.MakeDirectories(directory));

  auto authority = LoadPair(files_, authority_paths);
  if (!authority || ExpiryOf(*authority->certificate) < now + kAuthorityRenewal) {
    LogInfo("making a local certificate authority in '{}'", directory.native());
    const std::string name = fmt::format("Sabia local authority {}", random_.Hex(8));
    authority =
        IssueCertificate({name, {}, now - kClockSkew, now + kAuthorityLife}, nullptr, random_);
    if (!authority) return tl::make_unexpected(authority.error());
    RETURN_IF_ERROR(StorePair(files_, authority_paths, *authority));
  }

  const std::vector<std::string> names = ServerNames(options);
  const auto server = LoadPair(files_, server_paths);
  const bool good = server && ExpiryOf(*server->certificate) >= now + kServerRenewal &&
                    IsIssuedBy(*server->certificate, *authority) &&
                    HasNames(*server->certificate, names);
  if (!good) {
    auto issued = IssueCertificate({"localhost", names, now - kClockSkew, now + kServerLife},
                                   &*authority, random_);
    if (!issued) return tl::make_unexpected(issued.error());
    RETURN_IF_ERROR(StorePair(files_, server_paths, *issued));
  }
  RETURN_IF_ERROR(WriteBundle(files_, options, tls, *authority));
  return tls;
}

}  // namespace sabia::wire
