#include "wire/credentials.h"

#include "base/check.h"
#include "base/encoding.h"
#include "base/json.h"
#include "wire/sha256.h"

namespace sabia::wire {
namespace {

constexpr std::size_t kIdSuffix = 16;  // behind "AKIA" or "ASIA"
constexpr std::size_t kSecretLength = 40;
constexpr std::size_t kNonceDigits = 16;
constexpr std::size_t kTokenMax = 4096;
constexpr std::size_t kMacHex = 64;
constexpr std::size_t kCredentialsFileMax = 4096;

// 16 of AWS's alphabet for ids: base32 without digits that look like letters.
std::string IdSuffix(std::string_view random_bytes) {
  constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  CHECK(random_bytes.size() >= kIdSuffix);
  std::string suffix;
  for (std::size_t i = 0; i < kIdSuffix; ++i) {
    suffix += kAlphabet[static_cast<unsigned char>(random_bytes[i]) % 32];
  }
  return suffix;
}

// 40 characters of base64 from 30 bytes; "+" and "/" would be legal, but break naive scripts.
std::string SecretFrom(std::string_view random_bytes) {
  CHECK(random_bytes.size() >= 30);
  std::string secret = Base64Encode(random_bytes.substr(0, 30));
  for (char& c : secret) {
    if (c == '+') c = 'p';
    if (c == '/') c = 's';
  }
  CHECK(secret.size() == kSecretLength);
  return secret;
}

std::string RandomBytes(env::Random& random, std::size_t n) {
  std::string bytes(n, '\0');
  random.Fill({reinterpret_cast<unsigned char*>(bytes.data()), n});
  return bytes;
}

Result<AccessKey> ParseRootKey(std::string_view text, const env::Path& file) {
  const auto document = ParseJsonObject(text);
  AccessKey key;
  if (document) {
    key = {GetString(*document, "AccessKeyId"), GetString(*document, "SecretAccessKey")};
  }
  if (key.id.size() < 16 || key.id.size() > 128 || key.secret.size() < 16) {
    return Fail(ErrorCode::kCorrupt,
                "'{}' holds no AccessKeyId and SecretAccessKey; move it away and a new key is made",
                file.native());
  }
  return key;
}

std::string DerivedId(const AccessKey& root, std::string_view nonce) {
  return "ASIA" + IdSuffix(Bytes(HmacSha256(root.secret, fmt::format("sabia id\n{}", nonce))));
}
std::string DerivedSecret(const AccessKey& root, std::string_view payload) {
  return SecretFrom(Bytes(HmacSha256(root.secret, fmt::format("sabia secret\n{}", payload))));
}
std::string TokenMac(const AccessKey& root, std::string_view payload) {
  return Hex(HmacSha256(root.secret, fmt::format("sabia token\n{}", payload)));
}

// "arn:aws:iam::123456789012:role/service-role/name" as its session is called.
std::string AssumedRoleArn(std::string_view account, std::string_view role_arn,
                           std::string_view session) {
  const std::string_view name = role_arn.substr(role_arn.rfind('/') + 1);
  return fmt::format("arn:aws:sts::{}:assumed-role/{}/{}", account, name, session);
}

}  // namespace

Result<AccessKey> ReadRootKey(env::Files& files, const env::Path& file) {
  const auto text = files.Read(file, kCredentialsFileMax);
  if (!text) return Wrap(text.error(), "failed to read the key");
  return ParseRootKey(*text, file);
}

Result<AccessKey> LoadOrCreateRootKey(env::Files& files, env::Random& random,
                                      const env::Path& file) {
  auto read = ReadRootKey(files, file);
  if (read || read.error().code != ErrorCode::kNotFound) return read;
  const AccessKey key{"AKIA" + IdSuffix(RandomBytes(random, kIdSuffix)),
                      SecretFrom(RandomBytes(random, 30))};
  const json::object document{{"AccessKeyId", key.id}, {"SecretAccessKey", key.secret}};
  RETURN_IF_ERROR(files.WriteAtomically(file, json::serialize(document) + "\n", {.mode = 0600}));
  return key;
}

CredentialAuthority::CredentialAuthority(AccessKey root, std::string account)
    : root_(std::move(root)), account_(std::move(account)) {}

Principal CredentialAuthority::RootPrincipal() const {
  return {account_, root_.id, fmt::format("arn:aws:iam::{}:root", account_), false, {}};
}

TemporaryCredentials CredentialAuthority::Mint(const SessionClaims& claims,
                                               env::Random& random) const {
  const std::string nonce = random.Hex(kNonceDigits);
  const std::string payload = fmt::format("1\n{}\n{}\n{}\n{}\n{}", nonce, account_, claims.role_arn,
                                          claims.session_name, ToUnixMillis(claims.expires));
  TemporaryCredentials minted;
  minted.key = {DerivedId(root_, nonce), DerivedSecret(root_, payload)};
  minted.session_token = Base64Encode(TokenMac(root_, payload) + payload);
  minted.assumed_role_arn = AssumedRoleArn(account_, claims.role_arn, claims.session_name);
  minted.expires = claims.expires;
  return minted;
}

AuthResult<CredentialAuthority::Known> CredentialAuthority::Find(std::string_view access_key_id,
                                                                 std::string_view session_token,
                                                                 WallTime now) const {
  if (access_key_id == root_.id) {
    if (!session_token.empty()) return NotAuthentic(AuthProblem::kInvalidToken);
    return Known{root_.secret, RootPrincipal()};
  }
  if (!access_key_id.starts_with("ASIA")) return NotAuthentic(AuthProblem::kUnknownKey);
  return FindTemporary(access_key_id, session_token, now);
}

AuthResult<CredentialAuthority::Known> CredentialAuthority::FindTemporary(
    std::string_view access_key_id, std::string_view session_token, WallTime now) const {
  if (session_token.size() > kTokenMax) return NotAuthentic(AuthProblem::kInvalidToken);
  const auto token = Base64Decode(session_token);
  if (!token || token->size() <= kMacHex) return NotAuthentic(AuthProblem::kInvalidToken);
  const std::string_view payload = std::string_view(*token).substr(kMacHex);
  if (!EqualInConstantTime(TokenMac(root_, payload), token->substr(0, kMacHex))) {
    return NotAuthentic(AuthProblem::kInvalidToken);
  }
  // From here on the bytes are ours: version, nonce, account, role, session, expiry.
  std::vector<std::string> lines(1);
  for (const char c : payload) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  if (lines.size() != 6 || lines[0] != "1") return NotAuthentic(AuthProblem::kInvalidToken);
  if (access_key_id != DerivedId(root_, lines[1])) return NotAuthentic(AuthProblem::kInvalidToken);
  if (ToUnixMillis(now) >= std::stoll(lines[5])) return NotAuthentic(AuthProblem::kExpiredToken);
  Known known;
  known.secret = DerivedSecret(root_, payload);
  known.principal = {lines[2], std::string(access_key_id),
                     AssumedRoleArn(lines[2], lines[3], lines[4]), false, lines[3]};
  return known;
}

}  // namespace sabia::wire
