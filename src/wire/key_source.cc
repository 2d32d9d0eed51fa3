#include "wire/key_source.h"

#include <algorithm>
#include <array>

#include "base/ini.h"

namespace sabia::wire {
namespace {

constexpr std::size_t kProfileFileMax = 1 << 20;
constexpr char kContainerHost[] = "http://169.254.170.2";
constexpr char kMetadataEndpoint[] = "http://169.254.169.254";

constexpr std::array kKinds = {KeySource::Kind::kAnonymous, KeySource::Kind::kStatic,
                               KeySource::Kind::kProfile, KeySource::Kind::kContainer,
                               KeySource::Kind::kInstance};

// A file that is not there is empty: people have neither, one or both.
Result<IniDocument> ReadShared(const std::string& path, env::Files& files) {
  if (path.empty()) return IniDocument();
  const auto text = files.Read(path, kProfileFileMax);
  if (!text && text.error().code == ErrorCode::kNotFound) return IniDocument();
  if (!text) return tl::make_unexpected(text.error());
  auto document = ParseIni(*text);
  if (!document) return Wrap(std::move(document).error(), "'" + path + "'");
  return document;
}

std::string ConfigSection(const std::string& profile) {
  return profile == "default" ? profile : "profile " + profile;
}

// In the order in which SDKs look: keys in the credentials file go before those of the config file.
AwsKeys KeysOf(const IniDocument& document, const std::string& section) {
  return {IniValue(document, section, "aws_access_key_id"),
          IniValue(document, section, "aws_secret_access_key"),
          IniValue(document, section, "aws_session_token"),
          {}};
}

Status RefuseIndirect(const IniDocument& document, const std::string& section,
                      const std::string& profile) {
  for (const char* key : {"role_arn", "credential_process", "sso_session", "sso_start_url",
                          "web_identity_token_file"}) {
    if (IniValue(document, section, key).empty()) continue;
    return Fail(ErrorCode::kInvalidArgument,
                "profile '{}' takes its keys by '{}', which is not supported: use a profile with "
                "aws_access_key_id and aws_secret_access_key, or the environment",
                profile, key);
  }
  return {};
}

bool IsTrustedHost(std::string_view url) {
  if (url.starts_with("https://")) return true;
  constexpr std::array<std::string_view, 6> kHosts = {
      "http://127.",          "http://localhost",      "http://[::1]",
      "http://169.254.170.2", "http://169.254.170.23", "http://[fd00:ec2::23]"};
  return std::any_of(kHosts.begin(), kHosts.end(), [&](std::string_view host) {
    if (!url.starts_with(host)) return false;
    const std::string_view rest = url.substr(host.size());
    return host.ends_with('.') || rest.empty() || rest.front() == '/' || rest.front() == ':';
  });
}

Result<KeySource> ContainerSource(const KeyEnvironment& environment) {
  KeySource source;
  source.kind = KeySource::Kind::kContainer;
  source.token = environment.container_token;
  source.token_file = environment.container_token_file;
  if (!environment.container_relative_uri.empty()) {
    source.url = kContainerHost + environment.container_relative_uri;
    return source;
  }
  source.url = environment.container_full_uri;
  if (!IsTrustedHost(source.url)) {
    return Fail(ErrorCode::kInvalidArgument,
                "AWS_CONTAINER_CREDENTIALS_FULL_URI '{}' is neither https nor a loopback or "
                "container address",
                source.url);
  }
  return source;
}

KeySource ProfileSource(const KeyEnvironment& environment, std::string profile) {
  KeySource source;
  source.kind = KeySource::Kind::kProfile;
  source.credentials_file = environment.credentials_file;
  source.config_file = environment.config_file;
  source.profile = std::move(profile);
  return source;
}

}  // namespace

std::string_view Name(KeySource::Kind kind) {
  switch (kind) {
    case KeySource::Kind::kAnonymous:
      return "anonymous";
    case KeySource::Kind::kStatic:
      return "static";
    case KeySource::Kind::kProfile:
      return "profile";
    case KeySource::Kind::kContainer:
      return "container";
    case KeySource::Kind::kInstance:
      return "instance";
  }
  return "";
}

json::object KeySource::ToJson() const {
  json::object out{{"kind", Name(kind)}};
  const auto add = [&out](const char* name, const std::string& value) {
    if (!value.empty()) out[name] = value;
  };
  add("access_key_id", keys.access_key_id);
  add("secret_access_key", keys.secret_access_key);
  add("session_token", keys.session_token);
  add("credentials_file", credentials_file);
  add("config_file", config_file);
  add("profile", profile);
  add("url", url);
  add("token", token);
  add("token_file", token_file);
  return out;
}

Result<KeySource> KeySource::FromJson(const json::object& document) {
  KeySource out;
  const std::string kind = GetString(document, "kind");
  const auto known =
      std::find_if(kKinds.begin(), kKinds.end(), [&](Kind each) { return Name(each) == kind; });
  if (known == kKinds.end()) return Fail(ErrorCode::kCorrupt, "no source of keys is '{}'", kind);
  out.kind = *known;
  out.keys = {GetString(document, "access_key_id"),
              GetString(document, "secret_access_key"),
              GetString(document, "session_token"),
              {}};
  out.credentials_file = GetString(document, "credentials_file");
  out.config_file = GetString(document, "config_file");
  out.profile = GetString(document, "profile");
  out.url = GetString(document, "url");
  out.token = GetString(document, "token");
  out.token_file = GetString(document, "token_file");
  return out;
}

Result<AwsKeys> ReadProfile(const KeySource& source, env::Files& files) {
  ASSIGN_OR_RETURN(const IniDocument credentials, ReadShared(source.credentials_file, files));
  AwsKeys keys = KeysOf(credentials, source.profile);
  if (!keys.access_key_id.empty() && !keys.secret_access_key.empty()) return keys;
  ASSIGN_OR_RETURN(const IniDocument config, ReadShared(source.config_file, files));
  const std::string section = ConfigSection(source.profile);
  RETURN_IF_ERROR(RefuseIndirect(credentials, source.profile, source.profile));
  RETURN_IF_ERROR(RefuseIndirect(config, section, source.profile));
  keys = KeysOf(config, section);
  if (!keys.access_key_id.empty() && !keys.secret_access_key.empty()) return keys;
  return Fail(ErrorCode::kNotFound, "profile '{}' has no keys in '{}' and '{}'", source.profile,
              source.credentials_file, source.config_file);
}

std::string ProfileRegion(const KeyEnvironment& environment, const std::string& profile,
                          env::Files& files) {
  std::string name = profile.empty() ? environment.profile : profile;
  if (name.empty()) name = "default";
  const auto config = ReadShared(environment.config_file, files);
  if (!config) return {};
  return IniValue(*config, ConfigSection(name), "region");
}

Result<KeySource> ChooseKeySource(const KeyEnvironment& environment, const std::string& profile,
                                  env::Files& files) {
  if (!profile.empty()) {
    KeySource source = ProfileSource(environment, profile);
    RETURN_IF_ERROR(ReadProfile(source, files).map([](const AwsKeys&) {}));
    return source;
  }
  if (!environment.access_key_id.empty() && !environment.secret_access_key.empty()) {
    KeySource source;
    source.kind = KeySource::Kind::kStatic;
    source.keys = {
        environment.access_key_id, environment.secret_access_key, environment.session_token, {}};
    return source;
  }
  KeySource source = ProfileSource(
      environment, environment.profile.empty() ? std::string("default") : environment.profile);
  const auto keys = ReadProfile(source, files);
  if (keys) return source;
  const bool absent = keys.error().code == ErrorCode::kNotFound;
  if (!absent || !environment.profile.empty()) return tl::make_unexpected(keys.error());
  if (!environment.container_relative_uri.empty() || !environment.container_full_uri.empty()) {
    return ContainerSource(environment);
  }
  if (environment.metadata_disabled) {
    return Fail(ErrorCode::kNotFound,
                "no AWS credentials: neither in the environment nor in a profile ({}), there is no "
                "container endpoint, and the instance metadata service is disabled",
                keys.error().message);
  }
  KeySource instance;
  instance.kind = KeySource::Kind::kInstance;
  instance.url =
      environment.metadata_endpoint.empty() ? kMetadataEndpoint : environment.metadata_endpoint;
  return instance;
}

}  // namespace sabia::wire
