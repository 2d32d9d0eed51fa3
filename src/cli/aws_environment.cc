#include "cli/aws_environment.h"

#include <cstdlib>

#include "base/encoding.h"

namespace sabia::cli {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::string FileOf(const char* variable, const char* below_home) {
  std::string file = Variable(variable);
  const std::string home = Variable("HOME");
  if (file.empty() && !home.empty()) return home + below_home;
  if (file.starts_with("~/")) return home + file.substr(1);
  return file;
}

}  // namespace

wire::KeyEnvironment ReadKeyEnvironment() {
  wire::KeyEnvironment out;
  out.access_key_id = Variable("AWS_ACCESS_KEY_ID");
  out.secret_access_key = Variable("AWS_SECRET_ACCESS_KEY");
  out.session_token = Variable("AWS_SESSION_TOKEN");
  out.profile = Variable("AWS_PROFILE");
  out.credentials_file = FileOf("AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials");
  out.config_file = FileOf("AWS_CONFIG_FILE", "/.aws/config");
  out.container_relative_uri = Variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  out.container_full_uri = Variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  out.container_token = Variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  out.container_token_file = Variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  out.metadata_endpoint = Variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  out.metadata_disabled = EqualsIgnoreCase(Variable("AWS_EC2_METADATA_DISABLED"), "true");
  return out;
}

}  // namespace sabia::cli
