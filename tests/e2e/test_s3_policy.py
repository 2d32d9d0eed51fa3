"""Bucket policies and the public access block, with stock clients, roles of STS, and jobs."""
import json
import urllib.error
import urllib.request

import pytest
from botocore.exceptions import ClientError
from engine import ROLE


def make_bucket(engine, name):
    s3 = engine.client("s3")
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    return s3


def policy(*statements):
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def code(call):
    with pytest.raises(ClientError) as caught:
        call()
    return caught.value.response["ResponseMetadata"]["HTTPStatusCode"], caught.value.response["Error"]["Code"]


def as_role(engine, role=ROLE):
    keys = engine.client("sts").assume_role(RoleArn=role, RoleSessionName="tester")["Credentials"]
    import boto3
    environment = engine.environment()
    return boto3.client("s3", endpoint_url=environment["AWS_ENDPOINT_URL"], region_name=environment["AWS_REGION"],
                        aws_access_key_id=keys["AccessKeyId"], aws_secret_access_key=keys["SecretAccessKey"],
                        aws_session_token=keys["SessionToken"])


def plain_get(url):
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def test_a_policy_shuts_out_a_role_and_root_takes_it_back(engine):
    s3 = make_bucket(engine, "policy-roles")
    s3.put_object(Bucket="policy-roles", Key="open/a", Body=b"a")
    s3.put_object(Bucket="policy-roles", Key="shut/a", Body=b"a")
    assert code(lambda: s3.get_bucket_policy(Bucket="policy-roles")) == (404, "NoSuchBucketPolicy")
    text = policy({"Sid": "one", "Effect": "Deny", "Principal": {"AWS": ROLE}, "Action": ["s3:GetObject*", "s3:PutObject"],
                   "Resource": "arn:aws:s3:::policy-roles/shut/*"},
                  {"Effect": "Deny", "Principal": "*", "Action": "s3:DeleteBucket",
                   "Resource": "arn:aws:s3:::policy-roles"})
    s3.put_bucket_policy(Bucket="policy-roles", Policy=text)
    assert s3.get_bucket_policy(Bucket="policy-roles")["Policy"] == text
    assert s3.get_bucket_policy_status(Bucket="policy-roles")["PolicyStatus"]["IsPublic"] is False
    role = as_role(engine)
    assert role.get_object(Bucket="policy-roles", Key="open/a")["Body"].read() == b"a"
    assert code(lambda: role.get_object(Bucket="policy-roles", Key="shut/a")) == (403, "AccessDenied")
    assert code(lambda: role.put_object(Bucket="policy-roles", Key="shut/b", Body=b"")) == (403, "AccessDenied")
    other = as_role(engine, ROLE.replace("SageMakerRole", "Other"))
    assert other.get_object(Bucket="policy-roles", Key="shut/a")["Body"].read() == b"a"
    s3.put_bucket_policy(Bucket="policy-roles", Policy=policy(
        {"Effect": "Deny", "Principal": "*", "Action": "s3:*",
         "Resource": ["arn:aws:s3:::policy-roles", "arn:aws:s3:::policy-roles/*"]}))
    assert code(lambda: s3.list_objects_v2(Bucket="policy-roles")) == (403, "AccessDenied")
    assert code(lambda: role.delete_bucket_policy(Bucket="policy-roles")) == (403, "AccessDenied")
    s3.delete_bucket_policy(Bucket="policy-roles")
    assert s3.list_objects_v2(Bucket="policy-roles")["KeyCount"] == 2


def test_policies_survive_kill_9(fresh_engine):
    engine = fresh_engine()
    s3 = make_bucket(engine, "kept")
    s3.put_bucket_policy(Bucket="kept", Policy=policy(
        {"Effect": "Deny", "Principal": "*", "Action": "s3:PutObject", "Resource": "arn:aws:s3:::kept/*"}))
    engine.kill()
    engine.start()
    assert code(lambda: engine.client("s3").put_object(Bucket="kept", Key="k", Body=b"")) == (403, "AccessDenied")


@pytest.mark.parametrize("statement, text", [
    ({"Principal": "me"}, "Invalid principal in policy"),
    ({"Action": "s3:Fly"}, "Policy has invalid action"),
    ({"Resource": "arn:aws:s3:::other/*"}, "Policy has invalid resource"),
    ({"Condition": {"StringIs": {"s3:prefix": "a"}}}, "Invalid Condition type : StringIs"),
    ({"Condition": {"StringEquals": {"s3:TlsVersion": "1.2"}}}, "s3:TlsVersion"),
    ({"NotPrincipal": "*"}, "NotPrincipal"),
])
def test_what_cannot_be_evaluated_is_refused(engine, statement, text):
    s3 = engine.client("s3")
    if "policy-bad" not in [b["Name"] for b in s3.list_buckets()["Buckets"]]:
        make_bucket(engine, "policy-bad")
    whole = {"Effect": "Deny", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::policy-bad/*"}
    with pytest.raises(ClientError) as caught:
        s3.put_bucket_policy(Bucket="policy-bad", Policy=policy({**whole, **statement}))
    assert caught.value.response["Error"]["Code"] == "MalformedPolicy"
    assert text in caught.value.response["Error"]["Message"]


def test_public_reads_need_policy_and_block_to_agree(engine):
    s3 = make_bucket(engine, "policy-public")
    s3.put_object(Bucket="policy-public", Key="page.html", Body=b"<p>hello</p>")
    url = engine.endpoint() + "/policy-public/page.html"
    assert plain_get(url)[0] == 403
    block = s3.get_public_access_block(Bucket="policy-public")["PublicAccessBlockConfiguration"]
    assert all(block.values()) and len(block) == 4
    text = policy({"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject",
                   "Resource": "arn:aws:s3:::policy-public/*"})
    assert code(lambda: s3.put_bucket_policy(Bucket="policy-public", Policy=text)) == (403, "AccessDenied")
    s3.delete_public_access_block(Bucket="policy-public")
    s3.put_bucket_policy(Bucket="policy-public", Policy=text)
    assert s3.get_bucket_policy_status(Bucket="policy-public")["PolicyStatus"]["IsPublic"] is True
    assert plain_get(url) == (200, b"<p>hello</p>")
    assert plain_get(engine.endpoint() + "/policy-public?list-type=2")[0] == 403
    assert plain_get(engine.endpoint() + "/policy-public/none")[0] == 403
    s3.put_public_access_block(Bucket="policy-public",
                               PublicAccessBlockConfiguration={"RestrictPublicBuckets": True})
    assert plain_get(url)[0] == 403


def test_conditions_on_transport_and_source(engine):
    s3 = make_bucket(engine, "policy-conditions")
    s3.put_object(Bucket="policy-conditions", Key="k", Body=b"x")
    everything = ["arn:aws:s3:::policy-conditions", "arn:aws:s3:::policy-conditions/*"]
    s3.put_bucket_policy(Bucket="policy-conditions", Policy=policy(
        {"Effect": "Deny", "Principal": "*", "Action": "s3:GetObject", "Resource": everything,
         "Condition": {"Bool": {"aws:SecureTransport": "false"}}}))
    assert code(lambda: s3.get_object(Bucket="policy-conditions", Key="k")) == (403, "AccessDenied")
    secure = json.loads((engine.home / "endpoint.json").read_text())["https"]
    over_tls = engine.session().client("s3", endpoint_url=secure, verify=engine.environment()["AWS_CA_BUNDLE"])
    assert over_tls.get_object(Bucket="policy-conditions", Key="k")["Body"].read() == b"x"
    s3.put_bucket_policy(Bucket="policy-conditions", Policy=policy(
        {"Effect": "Deny", "Principal": "*", "Action": "s3:ListBucket", "Resource": everything,
         "Condition": {"NotIpAddress": {"aws:SourceIp": ["127.0.0.0/8", "::1"]}}}))
    assert s3.list_objects_v2(Bucket="policy-conditions")["KeyCount"] == 1


def test_acls_are_off(engine):
    s3 = make_bucket(engine, "policy-acls")
    assert s3.get_bucket_ownership_controls(Bucket="policy-acls")["OwnershipControls"]["Rules"] == [
        {"ObjectOwnership": "BucketOwnerEnforced"}]
    grants = s3.get_bucket_acl(Bucket="policy-acls")["Grants"]
    assert [g["Permission"] for g in grants] == ["FULL_CONTROL"]
    s3.put_bucket_acl(Bucket="policy-acls", ACL="private")
    assert code(lambda: s3.put_bucket_acl(Bucket="policy-acls", ACL="public-read")) == (
        400, "AccessControlListNotSupported")
    assert code(lambda: s3.put_object(Bucket="policy-acls", Key="k", Body=b"", ACL="public-read")) == (
        400, "AccessControlListNotSupported")


def channel(uri, mode):
    return [{"ChannelName": "train", "InputMode": mode,
             "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": uri}}}]


def test_a_job_acts_as_its_role(engine, name):
    s3 = make_bucket(engine, "policy-jobs")
    s3.put_object(Bucket="policy-jobs", Key="data/a", Body=b"a")
    s3.put_object(Bucket="policy-jobs", Key="shut/a", Body=b"a")
    s3.put_bucket_policy(Bucket="policy-jobs", Policy=policy(
        {"Effect": "Deny", "Principal": {"AWS": ROLE}, "Action": "s3:GetObject",
         "Resource": "arn:aws:s3:::policy-jobs/shut/*"},
        {"Effect": "Deny", "Principal": {"AWS": ROLE}, "Action": "s3:PutObject",
         "Resource": "arn:aws:s3:::policy-jobs/out/*"}))
    listing = "import os; print(os.listdir('/opt/ml/input/data/train'))"
    for mode in ("File", "Pipe"):
        denied = engine.script(f"{name}-{mode}", "print('ran')",
                               InputDataConfig=channel("s3://policy-jobs/shut/", mode))
        seen = engine.wait(denied)
        assert seen["TrainingJobStatus"] == "Failed", seen
        assert "s3:GetObject" in seen["FailureReason"] and "explicit deny" in seen["FailureReason"], seen["FailureReason"]
    allowed = engine.script(f"{name}-allowed", listing, InputDataConfig=channel("s3://policy-jobs/data/", "File"))
    assert engine.wait(allowed)["TrainingJobStatus"] == "Completed"
    assert "['a']" in engine.lines(allowed)
    model = "open('/opt/ml/model/m', 'w').write('m')"
    output = engine.script(f"{name}-output", model, OutputDataConfig={"S3OutputPath": "s3://policy-jobs/out"})
    seen = engine.wait(output)
    assert seen["TrainingJobStatus"] == "Failed", seen
    other = engine.script(f"{name}-other", "print('ran')", RoleArn=ROLE.replace("SageMakerRole", "Other"),
                          InputDataConfig=channel("s3://policy-jobs/shut/", "File"))
    assert engine.wait(other)["TrainingJobStatus"] == "Completed"
