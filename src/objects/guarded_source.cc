#include "objects/guarded_source.h"

namespace sabia::objects {
namespace {

class GuardedSource final : public BucketSource {
 public:
  GuardedSource(std::unique_ptr<BucketSource> source, std::string bucket, ReadCheck check)
      : source_(std::move(source)), bucket_(std::move(bucket)), check_(std::move(check)) {}

  Status CheckBucket() override { return source_->CheckBucket(); }
  Status CheckKey(std::string_view kms_key) override { return source_->CheckKey(kms_key); }

  Result<Listing> List(const ListOptions& options) override {
    RETURN_IF_ERROR(check_({ReadWish::Kind::kList, bucket_, options.prefix}));
    ASSIGN_OR_RETURN(Listing page, source_->List(options));
    for (const ObjectInfo& object : page.objects) RETURN_IF_ERROR(CheckRead(object.key));
    return page;
  }

  Result<ObjectInfo> Head(std::string_view key) override {
    RETURN_IF_ERROR(CheckRead(key));
    return source_->Head(key);
  }

  Result<std::string> Read(std::string_view key, std::size_t limit) override {
    RETURN_IF_ERROR(CheckRead(key));
    return source_->Read(key, limit);
  }

 private:
  Status CheckRead(std::string_view key) { return check_({ReadWish::Kind::kRead, bucket_, key}); }

  const std::unique_ptr<BucketSource> source_;
  const std::string bucket_;
  const ReadCheck check_;
};

}  // namespace

std::unique_ptr<BucketSource> GuardSource(std::unique_ptr<BucketSource> source, std::string bucket,
                                          ReadCheck check) {
  return std::make_unique<GuardedSource>(std::move(source), std::move(bucket), std::move(check));
}

}  // namespace sabia::objects
