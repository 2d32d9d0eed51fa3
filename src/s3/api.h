// The S3 REST API over an ObjectStore: REST-XML, path style and virtual hosts.
//
// Who may do what is decided in access.h. What is honoured, refused and different:
// docs/semantics/s3.md.
//
// Threading: thread-safe; Handle() blocks on the disk and on the client.
#pragma once

#include "s3/call.h"
#include "s3/engine.h"
#include "s3/router.h"
#include "wire/s3_handler.h"

namespace sabia::s3 {

class S3Api final : public wire::S3Handler {
 public:
  // The store must outlive this.
  explicit S3Api(ObjectStore& store, S3ApiOptions options = {})
      : store_(store), options_(std::move(options)) {}
  void Handle(wire::Exchange& exchange, const wire::CallContext& context,
              wire::S3Body& body) override;

 private:
  struct Request {
    wire::Exchange& exchange;
    const wire::CallContext& context;
    wire::S3Body& body;
  };
  // Without the fields of the caller where the request is unsigned: the owner's account instead.
  void HandleAs(wire::Exchange& exchange, const wire::CallContext& context, wire::S3Body& body);
  // common: what an error answer must carry too.
  S3Result Run(const Request& request, wire::Headers& common);

  ObjectStore& store_;
  const S3ApiOptions options_;
  const S3Router router_;
  BucketRulesCache rules_;
};

}  // namespace sabia::s3
