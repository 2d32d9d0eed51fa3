"""S3 through boto3: keys of every kind, checksums, conditions, multipart, presigned URLs, TLS, kill -9."""
import io
import json
import os
import threading
import urllib.error
import urllib.request

import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

KEYS = ["a//b", "..", "../x", "dir/", "k" * 1024, "+ %&=?#", "é/鍵", "a\nb", "'\"<>&", " "]


@pytest.fixture
def s3(engine):
    return engine.client("s3")


@pytest.fixture
def bucket(s3, name):
    made = name.lower()
    s3.create_bucket(Bucket=made, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    return made


def refusal(call):
    with pytest.raises(ClientError) as caught:
        call()
    response = caught.value.response
    return response["ResponseMetadata"]["HTTPStatusCode"], response["Error"]["Code"]


def test_keys_are_bytes(s3, bucket):
    for key in KEYS:
        s3.put_object(Bucket=bucket, Key=key, Body=key.encode(), Metadata={"k": "v"})
    for key in KEYS:
        got = s3.get_object(Bucket=bucket, Key=key)
        assert got["Body"].read() == key.encode() and got["Metadata"] == {"k": "v"}
    ordered = sorted(KEYS, key=str.encode)
    for operation in ("list_objects", "list_objects_v2"):
        pages = s3.get_paginator(operation).paginate(Bucket=bucket, PaginationConfig={"PageSize": 3})
        assert [o["Key"] for page in pages for o in page["Contents"]] == ordered
    folded = s3.list_objects_v2(Bucket=bucket, Delimiter="/")
    assert [p["Prefix"] for p in folded["CommonPrefixes"]] == ["../", "a/", "dir/", "é/"]
    s3.copy_object(Bucket=bucket, Key="copy", CopySource={"Bucket": bucket, "Key": "+ %&=?#"})
    assert s3.get_object(Bucket=bucket, Key="copy")["Body"].read() == b"+ %&=?#"
    answer = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": k} for k in KEYS + ["copy"]]})
    assert "Errors" not in answer and len(answer["Deleted"]) == len(KEYS) + 1
    s3.delete_bucket(Bucket=bucket)


@pytest.mark.parametrize("algorithm", ["CRC32", "SHA1", "SHA256"])
def test_the_transfer_manager_and_checksums(s3, bucket, algorithm):
    data = os.urandom(20_000_000)
    s3.upload_fileobj(io.BytesIO(data), bucket, "big", ExtraArgs={"ChecksumAlgorithm": algorithm})
    back = io.BytesIO()
    s3.download_fileobj(bucket, "big", back)
    assert back.getvalue() == data
    head = s3.head_object(Bucket=bucket, Key="big", ChecksumMode="ENABLED")
    assert head["ChecksumType"] == "COMPOSITE" and head[f"Checksum{algorithm}"].endswith("-3")
    assert head["ETag"].endswith('-3"')
    s3.copy({"Bucket": bucket, "Key": "big"}, bucket, "copy")  # in parts, by ranges
    assert s3.get_object(Bucket=bucket, Key="copy")["Body"].read() == data
    s3.put_object(Bucket=bucket, Key="small", Body=b"x", ChecksumAlgorithm=algorithm)
    assert s3.get_object(Bucket=bucket, Key="small", ChecksumMode="ENABLED")["Body"].read() == b"x"
    assert s3.get_object(Bucket=bucket, Key="big", PartNumber=3)["ContentLength"] == 20_000_000 - 2 * (8 << 20)


def test_refusals_have_names(s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"0123456789")
    etag = s3.head_object(Bucket=bucket, Key="k")["ETag"]
    again = {"Bucket": bucket, "CreateBucketConfiguration": {"LocationConstraint": "us-west-2"}}
    assert refusal(lambda: s3.create_bucket(**again)) == (409, "BucketAlreadyOwnedByYou")
    assert refusal(lambda: s3.delete_bucket(Bucket=bucket)) == (409, "BucketNotEmpty")
    assert refusal(lambda: s3.head_object(Bucket=bucket, Key="none")) == (404, "404")
    assert refusal(lambda: s3.head_bucket(Bucket="nobody-has-this")) == (404, "404")
    assert refusal(lambda: s3.get_object(Bucket=bucket, Key="none")) == (404, "NoSuchKey")
    assert refusal(lambda: s3.get_object(Bucket=bucket, Key="k", IfNoneMatch=etag)) == (304, "304")
    assert refusal(lambda: s3.get_object(Bucket=bucket, Key="k", IfMatch='"x"')) == (412, "PreconditionFailed")
    assert refusal(lambda: s3.get_object(Bucket=bucket, Key="k", Range="bytes=10-")) == (416, "InvalidRange")
    assert refusal(lambda: s3.put_object(Bucket=bucket, Key="k", IfNoneMatch="*")) == (412, "PreconditionFailed")
    assert refusal(lambda: s3.head_bucket(Bucket=bucket, ExpectedBucketOwner="0" * 12)) == (403, "403")
    assert refusal(lambda: s3.put_object(Bucket=bucket, Key="k", Tagging="a=%3C")) == (400, "InvalidTag")
    assert refusal(lambda: s3.put_object(Bucket=bucket, Key="k", StorageClass="GLACIER")) == (501, "NotImplemented")
    assert refusal(lambda: s3.put_bucket_replication(Bucket=bucket, ReplicationConfiguration={
        "Role": "", "Rules": []})) == (501, "NotImplemented")
    assert refusal(lambda: s3.get_bucket_policy(Bucket=bucket)) == (404, "NoSuchBucketPolicy")
    assert s3.get_object(Bucket=bucket, Key="k")["Body"].read() == b"0123456789"


def test_versions(s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"null")
    assert "Status" not in s3.get_bucket_versioning(Bucket=bucket)
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    assert s3.get_bucket_versioning(Bucket=bucket)["Status"] == "Enabled"
    ids = [s3.put_object(Bucket=bucket, Key="k", Body=str(n).encode())["VersionId"] for n in range(3)]
    assert s3.get_object(Bucket=bucket, Key="k", VersionId=ids[0])["Body"].read() == b"0"
    assert s3.get_object(Bucket=bucket, Key="k", VersionId="null")["Body"].read() == b"null"
    marker = s3.delete_object(Bucket=bucket, Key="k")
    assert marker["DeleteMarker"] is True
    assert refusal(lambda: s3.get_object(Bucket=bucket, Key="k")) == (404, "NoSuchKey")
    assert refusal(lambda: s3.get_object(Bucket=bucket, Key="k", VersionId=marker["VersionId"])) == (
        405, "MethodNotAllowed")
    seen = []
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket, PaginationConfig={"PageSize": 2}):
        seen += [v["VersionId"] for v in page.get("DeleteMarkers", []) + page.get("Versions", [])]
    assert seen == [marker["VersionId"], *reversed(ids), "null"]
    s3.copy_object(Bucket=bucket, Key="k", CopySource={"Bucket": bucket, "Key": "k", "VersionId": ids[1]})
    assert s3.get_object(Bucket=bucket, Key="k")["Body"].read() == b"1"
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Suspended"})
    assert s3.put_object(Bucket=bucket, Key="k", Body=b"new null")["VersionId"] == "null"
    assert s3.get_object(Bucket=bucket, Key="k", VersionId="null")["Body"].read() == b"new null"
    versions = s3.list_object_versions(Bucket=bucket)
    everything = [{"Key": v["Key"], "VersionId": v["VersionId"]}
                  for v in versions["Versions"] + versions["DeleteMarkers"]]
    assert len(everything) == 6
    assert refusal(lambda: s3.delete_bucket(Bucket=bucket)) == (409, "BucketNotEmpty")
    assert "Errors" not in s3.delete_objects(Bucket=bucket, Delete={"Objects": everything})
    s3.delete_bucket(Bucket=bucket)


def test_tags_and_classes(s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"x", Tagging="a=1&b=2", StorageClass="STANDARD_IA",
                  WebsiteRedirectLocation="/there", CacheControl="no-store", ContentLanguage="pt")
    head = s3.head_object(Bucket=bucket, Key="k")
    assert (head["StorageClass"], head["WebsiteRedirectLocation"]) == ("STANDARD_IA", "/there")
    assert (head["CacheControl"], head["ContentLanguage"]) == ("no-store", "pt")
    assert s3.get_object(Bucket=bucket, Key="k")["TagCount"] == 2
    assert s3.get_object_tagging(Bucket=bucket, Key="k")["TagSet"] == [
        {"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}]
    s3.put_object_tagging(Bucket=bucket, Key="k", Tagging={"TagSet": [{"Key": "c", "Value": ""}]})
    s3.upload_fileobj(io.BytesIO(b"y" * 9_000_000), bucket, "parts", ExtraArgs={"Tagging": "p=1"})
    assert s3.get_object_tagging(Bucket=bucket, Key="parts")["TagSet"] == [{"Key": "p", "Value": "1"}]
    s3.delete_object_tagging(Bucket=bucket, Key="k")
    assert s3.get_object_tagging(Bucket=bucket, Key="k")["TagSet"] == []
    assert refusal(lambda: s3.get_bucket_tagging(Bucket=bucket)) == (404, "NoSuchTagSet")
    s3.put_bucket_tagging(Bucket=bucket, Tagging={"TagSet": [{"Key": "team", "Value": "x"}]})
    assert s3.get_bucket_tagging(Bucket=bucket)["TagSet"] == [{"Key": "team", "Value": "x"}]
    s3.delete_bucket_tagging(Bucket=bucket)


def test_attributes(s3, bucket):
    s3.put_object(Bucket=bucket, Key="k", Body=b"hello", ChecksumAlgorithm="SHA256")
    wanted = ["ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize"]
    small = s3.get_object_attributes(Bucket=bucket, Key="k", ObjectAttributes=wanted)
    assert (small["ObjectSize"], small["StorageClass"]) == (5, "STANDARD")
    assert small["Checksum"]["ChecksumSHA256"] == "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="
    s3.upload_fileobj(io.BytesIO(b"y" * 9_000_000), bucket, "parts", ExtraArgs={"ChecksumAlgorithm": "SHA256"})
    parts = s3.get_object_attributes(Bucket=bucket, Key="parts", ObjectAttributes=wanted)["ObjectParts"]
    assert parts["TotalPartsCount"] == 2 and [p["Size"] for p in parts["Parts"]] == [8 << 20, 9_000_000 - (8 << 20)]
    one = s3.get_object(Bucket=bucket, Key="parts", PartNumber=2, ChecksumMode="ENABLED")
    assert one["ChecksumSHA256"] == parts["Parts"][1]["ChecksumSHA256"] and one["PartsCount"] == 2


def test_lifecycle_rules_are_carried_out(s3, bucket):
    s3.put_object(Bucket=bucket, Key="logs/a", Body=b"x")
    s3.put_object(Bucket=bucket, Key="kept", Body=b"x")
    s3.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": [
        {"ID": "now", "Status": "Enabled", "Filter": {"Prefix": "logs/"},
         "Expiration": {"Date": "2020-01-01T00:00:00Z"}},
        {"ID": "later", "Status": "Enabled", "Filter": {"Prefix": ""}, "Expiration": {"Days": 30},
         "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7}}]})
    while "Contents" in s3.list_objects_v2(Bucket=bucket, Prefix="logs/"):
        pass
    assert 'rule-id="later"' in s3.head_object(Bucket=bucket, Key="kept")["Expiration"]
    assert s3.create_multipart_upload(Bucket=bucket, Key="up")["AbortRuleId"] == "later"
    rules = s3.get_bucket_lifecycle_configuration(Bucket=bucket)["Rules"]
    assert [r["ID"] for r in rules] == ["now", "later"]
    moved = {"Rules": [{"Status": "Enabled", "Filter": {"Prefix": ""},
                        "Transitions": [{"Days": 1, "StorageClass": "GLACIER"}]}]}
    assert refusal(lambda: s3.put_bucket_lifecycle_configuration(
        Bucket=bucket, LifecycleConfiguration=moved)) == (501, "NotImplemented")
    s3.delete_bucket_lifecycle(Bucket=bucket)


def test_browsers_are_told_what_the_bucket_allows(engine, s3, bucket):
    url = f"{engine.endpoint()}/{bucket}/k"

    def ask(method, **headers):
        request = urllib.request.Request(url, headers={k.replace("_", "-"): v for k, v in headers.items()}, method=method)
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, answer.headers
        except urllib.error.HTTPError as error:
            return error.code, error.headers

    origin = "http://console.example"
    assert ask("OPTIONS", Origin=origin, Access_Control_Request_Method="GET")[0] == 403
    s3.put_bucket_cors(Bucket=bucket, CORSConfiguration={"CORSRules": [
        {"AllowedOrigins": [origin], "AllowedMethods": ["GET"], "AllowedHeaders": ["*"], "ExposeHeaders": ["ETag"]}]})
    status, headers = ask("OPTIONS", Origin=origin, Access_Control_Request_Method="GET",
                          Access_Control_Request_Headers="authorization")
    assert status == 200 and headers["Access-Control-Allow-Origin"] == origin
    assert headers["Access-Control-Allow-Headers"] == "authorization"
    status, headers = ask("GET", Origin=origin)  # unsigned: refused, but readable for the page
    assert status == 403 and headers["Access-Control-Allow-Origin"] == origin
    assert s3.get_bucket_cors(Bucket=bucket)["CORSRules"][0]["ExposeHeaders"] == ["ETag"]
    s3.delete_bucket_cors(Bucket=bucket)
    assert refusal(lambda: s3.get_bucket_cors(Bucket=bucket)) == (404, "NoSuchCORSConfiguration")


@pytest.mark.parametrize("version", ["s3v4", "s3"])
def test_presigned_urls(engine, s3, bucket, version):
    signer = engine.client("s3", config=Config(signature_version=version))
    put = signer.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": "a b"})
    with urllib.request.urlopen(urllib.request.Request(put, b"hello", {"Content-Type": ""}, method="PUT")) as answer:
        assert answer.status == 200
    get = signer.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "a b"})
    assert urllib.request.urlopen(get).read() == b"hello"
    for broken in (get.replace("a%20b", "c"), get + "&acl", get.split("?")[0]):
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(broken)
        assert caught.value.code in (400, 403)


def test_tls_bodies_come_in_chunks_with_a_trailer(engine, s3, bucket):
    environment = engine.environment()
    https = json.loads((engine.home / "endpoint.json").read_text())["https"]
    secure = engine.session().client("s3", endpoint_url=https, verify=environment["AWS_CA_BUNDLE"])
    sent = []
    secure.meta.events.register("before-send.s3", lambda request, **_: sent.append(dict(request.headers)))
    data = os.urandom(3_000_000)
    secure.put_object(Bucket=bucket, Key="k", Body=io.BytesIO(data))
    assert b"TRAILER" in sent[-1]["X-Amz-Content-SHA256"]
    assert s3.get_object(Bucket=bucket, Key="k", ChecksumMode="ENABLED")["Body"].read() == data
    assert "ContentEncoding" not in s3.head_object(Bucket=bucket, Key="k")


def test_acknowledged_uploads_survive_kill_9_among_others(fresh_engine):
    engine = fresh_engine()
    engine.bucket()
    acknowledged, enough = {}, threading.Event()

    def put(worker):
        s3 = engine.client("s3", config=Config(retries={"max_attempts": 1, "mode": "standard"}))
        try:
            for number in range(10_000):
                body = os.urandom(50_000)
                s3.put_object(Bucket="data", Key=f"{worker}/{number % 7}", Body=body)
                acknowledged[f"{worker}/{number % 7}"] = body
                if number == 20:
                    enough.set()
        except (BotoCoreError, ClientError):
            pass  # the daemon is dead

    workers = [threading.Thread(target=put, args=(n,)) for n in range(4)]
    for worker in workers:
        worker.start()
    assert enough.wait(60)
    engine.kill()
    for worker in workers:
        worker.join()
    engine.start()
    s3 = engine.client("s3")
    overtaken = 0
    for key, body in acknowledged.items():
        got = s3.get_object(Bucket="data", Key=key, ChecksumMode="ENABLED")["Body"].read()  # boto3 checks the CRC
        overtaken += got != body
    assert overtaken <= len(workers), "at most the call in flight of each worker may be newer"
    assert list((engine.home / "blobs" / "tmp").iterdir()) == []
