"""Encryption at rest: what stock clients see, what lies on the disk, and what jobs read."""
import json
import os
import stat

import pytest
from botocore.exceptions import ClientError


def make_bucket(engine, name):
    s3 = engine.client("s3")
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    return s3


def lies_plain(engine, needle, *, below="."):
    for directory, _, names in os.walk(engine.home / below):
        for name in names:
            try:
                with open(os.path.join(directory, name), "rb") as file:
                    if needle in file.read():
                        return os.path.join(directory, name)
            except OSError:
                pass  # sockets, and files that vanish
    return None


def test_the_bytes_are_not_there_and_come_back(fresh_engine):
    engine = fresh_engine()
    s3 = make_bucket(engine, "vault")
    secret = b"the secret of the vault " * 20_000
    s3.put_bucket_encryption(Bucket="vault", ServerSideEncryptionConfiguration={
        "Rules": [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]})
    rule = s3.get_bucket_encryption(Bucket="vault")["ServerSideEncryptionConfiguration"]["Rules"][0]
    assert rule["ApplyServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"
    assert s3.put_object(Bucket="vault", Key="default", Body=secret)["ServerSideEncryption"] == "AES256"
    kms = s3.put_object(Bucket="vault", Key="kms", Body=secret, ServerSideEncryption="aws:kms", BucketKeyEnabled=True)
    assert kms["ServerSideEncryption"] == "aws:kms" and ":key/" in kms["SSEKMSKeyId"] and kms["BucketKeyEnabled"]
    upload = s3.create_multipart_upload(Bucket="vault", Key="parts", ServerSideEncryption="aws:kms")["UploadId"]
    parts = []
    for number, size in ((1, 5 << 20), (3, 1234)):
        part = s3.upload_part(Bucket="vault", Key="parts", UploadId=upload, PartNumber=number,
                              Body=(secret * 12)[:size])
        parts.append({"PartNumber": number, "ETag": part["ETag"]})
    s3.complete_multipart_upload(Bucket="vault", Key="parts", UploadId=upload, MultipartUpload={"Parts": parts})
    s3.copy_object(Bucket="vault", Key="copy", CopySource="vault/kms", ServerSideEncryption="AES256")
    assert lies_plain(engine, b"secret of the vault") is None
    for path in (engine.home / "keys").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE((engine.home / "keys").stat().st_mode) == 0o700
    engine.sabia("keys", "rotate")
    s3.put_object(Bucket="vault", Key="rotated", Body=secret)
    engine.kill()
    run = engine.sabia("fsck", "--json", "--quiet")
    assert json.loads(run.stdout)["Findings"] == []
    engine.start()
    s3 = engine.client("s3")
    for key in ("default", "kms", "copy", "rotated"):
        assert s3.get_object(Bucket="vault", Key=key)["Body"].read() == secret
    assert s3.get_object(Bucket="vault", Key="kms", Range="bytes=65530-65550")["Body"].read() == secret[65530:65551]
    whole = (secret * 12)[:5 << 20] + (secret * 12)[:1234]
    assert s3.get_object(Bucket="vault", Key="parts")["Body"].read() == whole
    assert s3.get_object(Bucket="vault", Key="parts", PartNumber=2)["Body"].read() == (secret * 12)[:1234]


def test_keys_are_made_and_named(engine):
    s3 = make_bucket(engine, "key-names")
    arn = engine.sabia("keys", "create", "--alias", "alias/mine").stdout.strip()
    put = s3.put_object(Bucket="key-names", Key="k", Body=b"x", ServerSideEncryption="aws:kms", SSEKMSKeyId="alias/mine")
    assert put["SSEKMSKeyId"] == arn
    listed = json.loads(engine.sabia("keys", "list", "--json").stdout)["Keys"]
    assert arn in [k.get("Arn") for k in listed] and "alias/mine" in engine.sabia("keys", "list").stdout
    with pytest.raises(ClientError) as caught:
        s3.put_object(Bucket="key-names", Key="k", Body=b"x", ServerSideEncryption="aws:kms", SSEKMSKeyId=arn[:-1] + "z")
    assert caught.value.response["Error"]["Code"] == "KMS.NotFoundException"
    with pytest.raises(ClientError) as caught:
        s3.put_object(Bucket="key-names", Key="k", Body=b"x", SSECustomerAlgorithm="AES256", SSECustomerKey="k" * 32)
    assert caught.value.response["Error"]["Code"] == "NotImplemented"
    assert engine.sabia("keys", "create", "--alias", "alias/mine", check=False).returncode == 1
    assert engine.sabia("keys", "create", "--alias", "mine", check=False).returncode == 2


@pytest.mark.parametrize("mode", ["File", "FastFile", "Pipe"])
def test_a_job_reads_encrypted_channels(engine, name, mode):
    bucket = f"vault-{mode.lower()}"
    s3 = make_bucket(engine, bucket)
    secret = b"the data of " + mode.encode() + b" is secret\n"
    s3.put_object(Bucket=bucket, Key="data/one", Body=secret * 5_000, ServerSideEncryption="aws:kms")
    s3.put_object(Bucket=bucket, Key="data/two", Body=b"plain")
    read = ("import hashlib; data = open('/opt/ml/input/data/train_0', 'rb').read()" if mode == "Pipe" else
            "import hashlib, os; d = '/opt/ml/input/data/train'; "
            "data = b''.join(open(os.path.join(d, n), 'rb').read() for n in sorted(os.listdir(d)))")
    import hashlib
    engine.script(name, read + "; print('sum', hashlib.sha256(data).hexdigest())", InputDataConfig=[
        {"ChannelName": "train", "InputMode": mode, "DataSource": {"S3DataSource": {
            "S3DataType": "S3Prefix", "S3Uri": f"s3://{bucket}/data/"}}}])
    seen = engine.wait(name)
    assert seen["TrainingJobStatus"] == "Completed", seen
    assert f"sum {hashlib.sha256(secret * 5_000 + b'plain').hexdigest()}" in engine.lines(name)
    assert lies_plain(engine, secret, below="blobs") is None
    assert lies_plain(engine, secret, below="cache") is None


@pytest.mark.parametrize("compression", ["GZIP", "NONE"])
def test_a_jobs_output_is_encrypted_under_its_key(engine, name, compression):
    bucket = f"vault-output-{compression.lower()}"
    s3 = make_bucket(engine, bucket)
    arn = engine.sabia("keys", "create").stdout.strip()
    engine.script(name, "open('/opt/ml/model/weights', 'w').write('secret weights ' * 2_000); "
                        "open('/opt/ml/output/data/report', 'w').write('secret report ' * 2_000)",
                  OutputDataConfig={"S3OutputPath": f"s3://{bucket}/out", "KmsKeyId": arn,
                                    "CompressionType": compression})
    seen = engine.wait(name)
    assert seen["TrainingJobStatus"] == "Completed", seen
    assert seen["OutputDataConfig"]["KmsKeyId"] == arn
    objects = s3.list_objects_v2(Bucket=bucket, Prefix="out/")["Contents"]
    assert len(objects) == 2
    for each in objects:
        head = s3.head_object(Bucket=bucket, Key=each["Key"])
        assert (head["ServerSideEncryption"], head["SSEKMSKeyId"]) == ("aws:kms", arn)
    assert lies_plain(engine, b"secret weights", below="blobs") is None


def test_an_unknown_key_for_the_output_is_refused_at_create(engine, name):
    make_bucket(engine, "vault-nobody")
    output = {"S3OutputPath": "s3://vault-nobody/out", "KmsKeyId": "alias/nobody"}
    with pytest.raises(ClientError) as caught:
        engine.script(name, "pass", OutputDataConfig=output)
    error = caught.value.response["Error"]
    assert error["Code"] == "ValidationException"
    assert "KmsKeyId 'alias/nobody'" in error["Message"] and "sabia keys" in error["Message"]
