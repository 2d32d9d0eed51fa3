#include "wire/routed_s3_client.h"

#include <map>

namespace sabia::wire {
namespace {

class RoutedS3Client final : public S3Client {
 public:
  explicit RoutedS3Client(S3Route route) : route_(std::move(route)) {}

  Result<std::vector<S3Object>> List(const std::string& bucket,
                                     const std::string& prefix) override {
    ASSIGN_OR_RETURN(S3Client * client, Of(bucket));
    return client->List(bucket, prefix);
  }
  Result<S3Page> ListPage(const S3PageQuery& query) override {
    ASSIGN_OR_RETURN(S3Client * client, Of(query.bucket));
    return client->ListPage(query);
  }
  Result<S3Object> Head(const S3Location& what) override {
    ASSIGN_OR_RETURN(S3Client * client, Of(what.bucket));
    return client->Head(what);
  }
  Result<S3Details> Describe(const S3Location& what) override {
    ASSIGN_OR_RETURN(S3Client * client, Of(what.bucket));
    return client->Describe(what);
  }
  Result<std::string> Get(const S3Location& from, std::size_t limit) override {
    ASSIGN_OR_RETURN(S3Client * client, Of(from.bucket));
    return client->Get(from, limit);
  }
  Status Read(const S3Range& range, const S3Sink& sink) override {
    ASSIGN_OR_RETURN(S3Client * client, Of(range.from.bucket));
    return client->Read(range, sink);
  }
  Status Download(const S3Location& from, const env::Path& target) override {
    ASSIGN_OR_RETURN(S3Client * client, Of(from.bucket));
    return client->Download(from, target);
  }
  Status Put(const S3Location& to, std::string_view content) override {
    ASSIGN_OR_RETURN(S3Client * client, Of(to.bucket));
    return client->Put(to, content);
  }
  Status Upload(const env::Path& source, const S3Target& to) override {
    ASSIGN_OR_RETURN(S3Client * client, Of(to.bucket));
    return client->Upload(source, to);
  }
  Status Delete(const S3Location& what) override {
    ASSIGN_OR_RETURN(S3Client * client, Of(what.bucket));
    return client->Delete(what);
  }

 private:
  Result<S3Client*> Of(const std::string& bucket) {
    std::unique_ptr<S3Client>& client = clients_[route_.name(bucket)];
    if (!client) {
      ASSIGN_OR_RETURN(client, route_.connect(bucket));
    }
    return client.get();
  }

  const S3Route route_;
  std::map<std::string, std::unique_ptr<S3Client>> clients_;
};

}  // namespace

std::unique_ptr<S3Client> MakeRoutedS3Client(S3Route route) {
  return std::make_unique<RoutedS3Client>(std::move(route));
}

}  // namespace sabia::wire
