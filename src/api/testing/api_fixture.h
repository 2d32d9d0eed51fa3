// A whole back end in a temporary directory, and calls that pass the schema before a handler sees
// them, as the dispatcher does it. For tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/check.h"
#include "env/posix/posix_files.h"
#include "env/random.h"
#include "env/testing/manual_clock.h"
#include "env/testing/temporary_directory.h"
#include "objects/bucket_source.h"
#include "store/database.h"
#include "store/resources.h"
#include "wire/action.h"
#include "wire/null_members.h"
#include "wire/schema.h"

namespace sabia::api {

class ApiFixture : public ::testing::Test {
 protected:
  ApiFixture();

  using Answer = wire::AwsResult<json::object>;
  // Checks the input against the schema, then calls the handler.
  Answer Call(const std::string& service, const std::string& action, const json::object& input);
  // The same for text; the test fails when it is no JSON object.
  Answer Call(const std::string& service, const std::string& action, std::string_view input);
  // The answer; the test fails when it is an error.
  json::object Ok(const std::string& service, const std::string& action, std::string_view input);
  // "Code: message"; the test fails when it is an answer.
  std::string Refusal(const std::string& service, const std::string& action,
                      std::string_view input);

  void PutObject(const std::string& bucket, const std::string& key, std::string_view content);

  wire::CallContext Context();

  env::TemporaryDirectory directory_;
  env::ManualClock clock_;
  env::SeededRandom random_{7};
  std::unique_ptr<store::Database> database_;
  std::unique_ptr<store::Resources> resources_;
  env::PosixFiles files_;
  std::unique_ptr<objects::ObjectStore> objects_;
  std::unique_ptr<objects::Buckets> buckets_;
  wire::ActionTable table_;
};

inline ApiFixture::ApiFixture() {
  auto database = store::Database::Open(
      {.path = directory_.path() / "resources.db", .migrations = store::Resources::Migrations()});
  CHECK_MSG(database.has_value(), database.error().message);
  database_ = std::move(*database);
  resources_ = std::make_unique<store::Resources>(*database_);
  objects::ObjectStoreOptions options{.paths = store::Paths(directory_.path())};
  auto objects = objects::ObjectStore::Open(options, clock_, random_);
  CHECK_MSG(objects.has_value(), objects.error().message);
  objects_ = std::move(*objects);
  auto buckets = objects::Buckets::Open(*objects_, {.file = directory_.path() / "external-s3.conf"},
                                        files_, clock_);
  CHECK_MSG(buckets.has_value(), buckets.error().message);
  buckets_ = std::move(*buckets);
}

inline wire::CallContext ApiFixture::Context() {
  wire::CallContext context;
  context.principal = {"123456789012", "AKIATEST", "arn:aws:iam::123456789012:root"};
  context.region = "us-west-2";
  context.request_id = "r-1";
  context.endpoint = "http://127.0.0.1:9000";
  context.now = clock_.Wall();
  return context;
}

inline ApiFixture::Answer ApiFixture::Call(const std::string& service, const std::string& action,
                                           const json::object& input) {
  const wire::ServiceSchema* schema = wire::FindService(service);
  CHECK(schema != nullptr);
  const wire::Operation* operation = schema->FindOperation(action);
  CHECK(operation != nullptr);
  if (operation->input != nullptr) RETURN_IF_ERROR(wire::Validate(*operation->input, input));
  json::object members = input;
  wire::DropNullMembers(members);
  const wire::ActionHandler* handler = table_.Find(service, action);
  CHECK_MSG(handler != nullptr, action);
  return (*handler)(Context(), members);
}

inline ApiFixture::Answer ApiFixture::Call(const std::string& service, const std::string& action,
                                           std::string_view input) {
  auto parsed = ParseJsonObject(input);
  CHECK_MSG(parsed.has_value(), std::string(input));
  return Call(service, action, *parsed);
}

inline json::object ApiFixture::Ok(const std::string& service, const std::string& action,
                                   std::string_view input) {
  Answer answer = Call(service, action, input);
  if (!answer) {
    ADD_FAILURE() << action << ": " << answer.error().code << ": " << answer.error().message;
    return {};
  }
  return *answer;
}

inline std::string ApiFixture::Refusal(const std::string& service, const std::string& action,
                                       std::string_view input) {
  const Answer answer = Call(service, action, input);
  if (answer) {
    ADD_FAILURE() << action << " was not refused: " << json::serialize(*answer);
    return {};
  }
  return answer.error().code + ": " + answer.error().message;
}

inline void ApiFixture::PutObject(const std::string& bucket, const std::string& key,
                                  std::string_view content) {
  if (!objects_->GetBucket(bucket)) CHECK(objects_->CreateBucket(bucket, "us-west-2").has_value());
  auto upload = objects_->BeginUpload({});
  CHECK(upload.has_value());
  CHECK((*upload)->Write(content).has_value());
  CHECK(objects_->Put(bucket, key, std::move(*upload), {}).has_value());
}

}  // namespace sabia::api
