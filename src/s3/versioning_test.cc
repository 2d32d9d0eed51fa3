#include <gmock/gmock.h>

#include "s3/testing/s3_fixture.h"

namespace sabia::s3 {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class S3VersioningTest : public testing::S3Fixture {
 protected:
  void SetVersioning(const std::string& status) {
    ASSERT_EQ(Outcome({"PUT",
                       "/bkt?versioning",
                       {},
                       "<VersioningConfiguration><Status>" + status +
                           "</Status></VersioningConfiguration>"}),
              "200 ");
  }
  // The id of the version that the put made.
  std::string PutVersion(const std::string& key, const std::string& body) {
    const auto put = Do({"PUT", "/bkt/" + key, {}, body});
    EXPECT_EQ(put.status, 200U);
    return std::string(put.headers.Get("x-amz-version-id"));
  }
};

TEST_F(S3VersioningTest, TheStateIsShownOnceItIsSet) {
  EXPECT_THAT(Do({"GET", "/bkt?versioning"}).body, Not(HasSubstr("Status")));
  EXPECT_FALSE(Do({"PUT", "/bkt/k", {}, "x"}).headers.Has("x-amz-version-id"));
  SetVersioning("Enabled");
  EXPECT_THAT(Do({"GET", "/bkt?versioning"}).body, HasSubstr("<Status>Enabled</Status>"));
  SetVersioning("Suspended");
  EXPECT_THAT(Do({"GET", "/bkt?versioning"}).body, HasSubstr("<Status>Suspended</Status>"));
}

TEST_F(S3VersioningTest, BadStatesAreRefused) {
  const auto put = [&](const std::string& inner) {
    return Outcome({"PUT",
                    "/bkt?versioning",
                    {},
                    "<VersioningConfiguration>" + inner + "</VersioningConfiguration>"});
  };
  EXPECT_EQ(put(""), "400 IllegalVersioningConfigurationException");
  EXPECT_EQ(put("<Status>On</Status>"), "400 MalformedXML");
  EXPECT_EQ(put("<Other/>"), "400 MalformedXML");
  EXPECT_EQ(put("<Status>Enabled</Status><MfaDelete>Enabled</MfaDelete>"), "501 NotImplemented");
  EXPECT_EQ(put("<Status>Enabled</Status><MfaDelete>Disabled</MfaDelete>"), "200 ");
  EXPECT_EQ(Outcome({"PUT", "/none?versioning", {}, "<VersioningConfiguration/>"}),
            "404 NoSuchBucket");
  EXPECT_EQ(Outcome({"PUT", "/bkt?versioning", {{"x-amz-mfa", "serial 123456"}}, ""}),
            "501 NotImplemented");
}

TEST_F(S3VersioningTest, OldVersionsStayReadable) {
  ASSERT_TRUE(Put("bkt", "k", "null"));
  SetVersioning("Enabled");
  const std::string first = PutVersion("k", "first");
  const std::string second = PutVersion("k", "second");
  EXPECT_NE(first, second);
  EXPECT_EQ(Do({"GET", "/bkt/k"}).body, "second");
  EXPECT_EQ(Do({"GET", "/bkt/k"}).headers.Get("x-amz-version-id"), second);
  EXPECT_EQ(Do({"GET", "/bkt/k?versionId=" + first}).body, "first");
  const auto null_version = Do({"GET", "/bkt/k?versionId=null"});
  EXPECT_EQ(null_version.body, "null");
  EXPECT_EQ(null_version.headers.Get("x-amz-version-id"), "null");
  EXPECT_EQ(Outcome({"GET", "/bkt/k?versionId=" + std::string(32, '0')}), "404 NoSuchVersion");
  EXPECT_EQ(Outcome({"GET", "/bkt/k?versionId=xyz"}), "400 InvalidArgument");
  EXPECT_EQ(Outcome({"GET", "/bkt/k?versionId="}), "400 InvalidArgument");
  EXPECT_EQ(Outcome({"DELETE", "/bkt"}), "409 BucketNotEmpty");
}

TEST_F(S3VersioningTest, ADeleteMakesAMarkerAndItsDeletionBringsTheObjectBack) {
  SetVersioning("Enabled");
  PutVersion("k", "kept");
  const auto deleted = Do({"DELETE", "/bkt/k"});
  EXPECT_EQ(deleted.status, 204U);
  EXPECT_EQ(deleted.headers.Get("x-amz-delete-marker"), "true");
  const std::string marker(deleted.headers.Get("x-amz-version-id"));
  const auto hidden = Do({"GET", "/bkt/k"});
  EXPECT_EQ(hidden.status, 404U);
  EXPECT_EQ(hidden.headers.Get("x-amz-delete-marker"), "true");
  EXPECT_EQ(hidden.headers.Get("x-amz-version-id"), marker);
  const auto named = Do({"HEAD", "/bkt/k?versionId=" + marker});
  EXPECT_EQ(named.status, 405U);
  EXPECT_EQ(named.headers.Get("allow"), "DELETE");
  EXPECT_EQ(Outcome({"GET", "/bkt/k?tagging&versionId=" + marker}), "405 MethodNotAllowed");
  const auto undone = Do({"DELETE", "/bkt/k?versionId=" + marker});
  EXPECT_EQ(undone.headers.Get("x-amz-delete-marker"), "true");
  EXPECT_EQ(undone.headers.Get("x-amz-version-id"), marker);
  EXPECT_EQ(Do({"GET", "/bkt/k"}).body, "kept");
}

TEST_F(S3VersioningTest, ListsVersionsGolden) {
  SetVersioning("Enabled");
  const std::string first = PutVersion("a b", "x");
  const std::string marker(Do({"DELETE", "/bkt/a%20b"}).headers.Get("x-amz-version-id"));
  PutVersion("p/q", "y");
  const std::string owner =
      "<Owner><ID>" + Between(Do({"GET", "/"}).body, "<ID>", "</ID>") + "</ID>";
  const std::string body =
      Do({"GET", "/bkt?versions&delimiter=%2F&encoding-type=url&max-keys=3"}).body;
  EXPECT_THAT(body, HasSubstr("<DeleteMarker><Key>a%20b</Key><VersionId>" + marker +
                              "</VersionId><IsLatest>true</IsLatest><LastModified>2023-11-14T22:"
                              "13:20.000Z</LastModified>" +
                              owner));
  EXPECT_THAT(body,
              HasSubstr("<Version><Key>a%20b</Key><VersionId>" + first +
                        "</VersionId><IsLatest>false</IsLatest><LastModified>2023-11-14T22:13:20."
                        "000Z</LastModified><ETag>&quot;9dd4e461268c8034f5c8564e155c67a6&quot;"
                        "</ETag><ChecksumAlgorithm>CRC32</ChecksumAlgorithm><ChecksumType>FULL_"
                        "OBJECT</ChecksumType><Size>1</Size>" +
                        owner));
  EXPECT_THAT(body, HasSubstr("<CommonPrefixes><Prefix>p/</Prefix></CommonPrefixes>"));
  EXPECT_THAT(body, HasSubstr("<IsTruncated>false</IsTruncated>"));
  const std::string page = Do({"GET", "/bkt?versions&max-keys=1"}).body;
  EXPECT_THAT(page, HasSubstr("<NextKeyMarker>a b</NextKeyMarker><NextVersionIdMarker>" + marker));
  const std::string next =
      Do({"GET", "/bkt?versions&key-marker=a%20b&version-id-marker=" + marker}).body;
  EXPECT_THAT(next, Not(HasSubstr("<DeleteMarker>")));
  EXPECT_THAT(next, HasSubstr("<VersionId>" + first));
  EXPECT_EQ(Outcome({"GET", "/bkt?versions&version-id-marker=" + marker}), "400 InvalidArgument");
  EXPECT_EQ(Outcome({"GET", "/bkt?versions&key-marker=a&version-id-marker="}),
            "400 InvalidArgument");
}

TEST_F(S3VersioningTest, CopiesNameVersions) {
  SetVersioning("Enabled");
  const std::string first = PutVersion("k", "first");
  PutVersion("k", "second");
  const auto restored = Do({"PUT", "/bkt/k", {{"x-amz-copy-source", "bkt/k?versionId=" + first}}});
  EXPECT_EQ(restored.status, 200U) << "an old version may be copied onto its own key";
  EXPECT_EQ(restored.headers.Get("x-amz-copy-source-version-id"), first);
  EXPECT_NE(restored.headers.Get("x-amz-version-id"), first);
  EXPECT_EQ(Do({"GET", "/bkt/k"}).body, "first");
  const std::string marker(Do({"DELETE", "/bkt/k"}).headers.Get("x-amz-version-id"));
  EXPECT_EQ(Outcome({"PUT", "/bkt/c", {{"x-amz-copy-source", "bkt/k?versionId=" + marker}}}),
            "400 InvalidRequest");
  EXPECT_EQ(Outcome({"PUT", "/bkt/c", {{"x-amz-copy-source", "bkt/k"}}}), "404 NoSuchKey");
}

TEST_F(S3VersioningTest, DeletesManyVersions) {
  SetVersioning("Enabled");
  const std::string first = PutVersion("k", "first");
  PutVersion("k", "second");
  const std::string body = Do({"POST",
                               "/bkt?delete",
                               {},
                               "<Delete><Object><Key>k</Key><VersionId>" + first +
                                   "</VersionId></Object><Object><Key>k</Key></Object>"
                                   "<Object><Key>k</Key><ETag>\"no\"</ETag></Object></Delete>"})
                               .body;
  EXPECT_THAT(body,
              HasSubstr("<Deleted><Key>k</Key><VersionId>" + first + "</VersionId></Deleted>"));
  EXPECT_THAT(body, HasSubstr("<Deleted><Key>k</Key><DeleteMarker>true</DeleteMarker>"
                              "<DeleteMarkerVersionId>"));
  EXPECT_THAT(body, HasSubstr("<Error><Key>k</Key><Code>NoSuchKey</Code>"));
}

TEST_F(S3VersioningTest, TagsBelongToVersions) {
  SetVersioning("Enabled");
  const std::string first = PutVersion("k", "first");
  const auto tagging = [](const std::string& value) {
    return "<Tagging><TagSet><Tag><Key>a</Key><Value>" + value +
           "</Value></Tag></TagSet></Tagging>";
  };
  PutVersion("k", "second");
  const auto set = Do({"PUT", "/bkt/k?tagging&versionId=" + first, {}, tagging("1")});
  EXPECT_EQ(set.headers.Get("x-amz-version-id"), first);
  EXPECT_THAT(Do({"GET", "/bkt/k?tagging"}).body, HasSubstr("<TagSet></TagSet>"));
  EXPECT_THAT(Do({"GET", "/bkt/k?tagging&versionId=" + first}).body,
              HasSubstr("<Tag><Key>a</Key><Value>1</Value></Tag>"));
  EXPECT_EQ(Do({"HEAD", "/bkt/k?versionId=" + first}).headers.Get("x-amz-tagging-count"), "1");
  EXPECT_EQ(Outcome({"DELETE", "/bkt/k?tagging&versionId=" + first}), "204 ");
  EXPECT_FALSE(Do({"HEAD", "/bkt/k?versionId=" + first}).headers.Has("x-amz-tagging-count"));
}

}  // namespace
}  // namespace sabia::s3
