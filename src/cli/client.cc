#include "cli/client.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "cli/endpoint.h"
#include "wire/credentials.h"

namespace sabia::cli {

Result<std::unique_ptr<Client>> Client::Connect(const store::Paths& paths) {
  std::unique_ptr<Client> client(new Client());
  ASSIGN_OR_RETURN(const EndpointFile address, ReadEndpoint(client->files_, paths));
  ASSIGN_OR_RETURN(const wire::AccessKey key,
                   wire::ReadRootKey(client->files_, paths.credentials()));
  wire::ServiceEndpoint endpoint;
  endpoint.url = address.http;
  endpoint.identity.region = address.region;
  endpoint.identity.access_key_id = key.id;
  endpoint.identity.secret_access_key = key.secret;
  ASSIGN_OR_RETURN(
      client->client_,
      wire::JsonClient::Create(std::move(endpoint), {.patience = Millis(5'000)}, client->clock_));
  return client;
}

Result<json::object> Client::SageMaker(const std::string& action, const json::object& input) {
  return client_->CallAction({"sagemaker", "SageMaker." + action}, input);
}

Result<json::object> Client::Logs(const std::string& action, const json::object& input) {
  return client_->CallAction({"logs", "Logs_20140328." + action}, input);
}

Result<json::object> Client::Extension(const std::string& path, const json::object& input) {
  return client_->CallExtension(path, input);
}

Error AboutJob(Error error, const std::string& job) {
  if (error.message.find("'" + job + "'") != std::string::npos) return error;
  return Annotate(std::move(error), "training job '" + job + "'");
}

void Pause(Millis duration) { ::poll(nullptr, 0, static_cast<int>(duration.count())); }

std::string LocalTime(WallTime time) {
  const std::time_t seconds = std::chrono::floor<Seconds>(time).time_since_epoch().count();
  std::tm parts{};
  localtime_r(&seconds, &parts);
  std::array<char, 32> buffer{};
  const std::size_t n = std::strftime(buffer.data(), buffer.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return std::string(buffer.data(), n);
}

std::string Table::ToString() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] + 2 - row[i].size(), ' ');
    }
    out += line + "\n";
  }
  return out;
}

}  // namespace sabia::cli
