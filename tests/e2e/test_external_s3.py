"""Buckets at S3 endpoints outside: input, checkpoints, artifacts and source of a job live there.

The endpoint is an engine of its own, and moto's server: two implementations that share no code.
"""
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from engine import Engine, FaultProxy
from test_training import channel

SECRET = "outside-secret-key-that-nobody-may-see00"


class Moto:
    """moto's S3 server with a bucket and keys of its own."""

    def __init__(self, log):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.keys = ("AKIAOUTSIDEOUTSIDE00", SECRET)
        self.process = subprocess.Popen([os.path.join(os.path.dirname(sys.executable), "moto_server"), "-p",
                                         str(self.port)], stdout=log, stderr=log, start_new_session=True)
        deadline = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(self.url, timeout=2)
                return
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise RuntimeError("moto_server does not answer") from None
                time.sleep(0.05)

    def stop(self):
        self.process.kill()
        self.process.wait()


class Own:
    """A second engine."""

    def __init__(self, binary, home):
        self.engine = Engine(binary, home).start()
        self.url = self.engine.endpoint()
        env = self.engine.environment()
        self.keys = (env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"])

    def stop(self):
        self.engine.stop()


@pytest.fixture(scope="module", params=["own", "moto"])
def outside(request, binary, tmp_path_factory):
    directory = tmp_path_factory.mktemp("outside")
    if request.param == "moto":
        pytest.importorskip("moto")
        made = Moto(open(directory / "moto.log", "wb"))
    else:
        made = Own(binary, directory / "home")
    made.s3 = boto3.client("s3", endpoint_url=made.url, aws_access_key_id=made.keys[0],
                           aws_secret_access_key=made.keys[1], region_name="us-west-2",
                           config=Config(s3={"addressing_style": "path"}))
    yield made
    made.stop()


@pytest.fixture
def proxy(binary, outside):
    made = FaultProxy(binary, outside.url)
    yield made
    made.stop()


@pytest.fixture
def inside(binary, tmp_path, outside, proxy):
    """An engine that finds everything it does not hold outside, through a proxy."""
    home = tmp_path / "inside"
    home.mkdir(mode=0o700)
    (tmp_path / "credentials").write_text(
        f"[outside]\naws_access_key_id = {outside.keys[0]}\naws_secret_access_key = {outside.keys[1]}\n")
    (home / "external-s3.conf").write_text(
        f"[default]\nendpoint = {proxy.url}\nregion = us-west-2\ncredentials = profile outside\n")
    made = Engine(binary, home)
    made.variables = {"AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials")}
    yield made.start()
    made.stop()


@pytest.fixture
def bucket(outside, name):
    made = f"out-{name.lower()}"[:60].strip("-")
    outside.s3.create_bucket(Bucket=made, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    return made


TRAIN = """
import os, sys
root = "/opt/ml/input/data/train"
for folder, _, names in sorted(os.walk(root)):
    for name in sorted(names):
        path = os.path.join(folder, name)
        print("file", os.path.relpath(path, root), os.path.getsize(path), open(path, "rb").read()[:20])
print("seen", sorted(os.listdir("/opt/ml/checkpoints")))
open("/opt/ml/checkpoints/new", "w").write("new checkpoint")
open("/opt/ml/model/weights", "w").write("weights")
open("/opt/ml/output/data/extra", "w").write("extra")
secret = os.popen("cat /proc/*/environ /proc/*/cmdline 2>/dev/null").read()
secret += open("/opt/ml/input/config/trainingjobconfig.json").read()
print("leaked", "outside-secret" in secret)
"""


@pytest.mark.parametrize("mode", ["File", "FastFile"])
def test_a_job_lives_outside(inside, outside, bucket, name, mode):
    s3 = outside.s3
    for key, body in {"in/a.csv": b"1,2\n", "in/deep/b é.bin": b"\0" * 100_000, "in/empty": b"",
                      "in/dir/": b"", "ckpt/old": b"old checkpoint"}.items():
        s3.put_object(Bucket=bucket, Key=key, Body=body)
    inside.script(name, TRAIN, hyperparameters={"secret": "x"}, InputDataConfig=[channel(f"s3://{bucket}/in/")],
                  AlgorithmSpecification={"TrainingImage": "sabia/python:3", "TrainingInputMode": mode},
                  CheckpointConfig={"S3Uri": f"s3://{bucket}/ckpt"},
                  OutputDataConfig={"S3OutputPath": f"s3://{bucket}/out"})
    seen = inside.wait(name)
    assert seen["TrainingJobStatus"] == "Completed", seen
    lines = inside.lines(name)
    assert "file a.csv 4 b'1,2\\n'" in lines and "file empty 0 b''" in lines, lines
    assert any(line.startswith("file deep/b é.bin 100000") for line in lines), lines
    assert "seen ['old']" in lines, lines
    assert s3.get_object(Bucket=bucket, Key="ckpt/new")["Body"].read() == b"new checkpoint"
    keys = [o["Key"] for o in s3.list_objects_v2(Bucket=bucket, Prefix="out/")["Contents"]]
    assert keys == [f"out/{name}/output/model.tar.gz", f"out/{name}/output/output.tar.gz"]
    assert seen["ModelArtifacts"]["S3ModelArtifacts"] == f"s3://{bucket}/out/{name}/output/model.tar.gz"


def test_source_and_plain_artifacts_outside(inside, outside, bucket, name):
    inside.upload_code(name, {"train.py": "open('/opt/ml/model/w', 'w').write('ok')\n"})
    packed = inside.client("s3").get_object(Bucket="data", Key=f"{name}/source/sourcedir.tar.gz")["Body"].read()
    outside.s3.put_object(Bucket=bucket, Key="code/sourcedir.tar.gz", Body=packed)
    inside.client("sagemaker").create_training_job(**inside.request(
        name, OutputDataConfig={"S3OutputPath": f"s3://{bucket}/out", "CompressionType": "NONE"},
        HyperParameters={"sagemaker_program": json.dumps("train.py"),
                         "sagemaker_submit_directory": json.dumps(f"s3://{bucket}/code/sourcedir.tar.gz")}))
    assert inside.wait(name)["TrainingJobStatus"] == "Completed"
    assert outside.s3.get_object(Bucket=bucket, Key=f"out/{name}/output/model/w")["Body"].read() == b"ok"


def test_create_asks_the_endpoint(inside, bucket, outside, name):
    def refusal(**changes):
        with pytest.raises(ClientError) as caught:
            inside.client("sagemaker").create_training_job(**inside.request(name, **changes))
        error = caught.value.response["Error"]
        assert error["Code"] == "ValidationException", error
        return error["Message"]

    assert "No S3 objects found under S3 URL" in refusal(InputDataConfig=[channel(f"s3://{bucket}/none/")])
    gone = refusal(InputDataConfig=[channel("s3://no-such-bucket-anywhere/x")])
    assert "The specified bucket does not exist" in gone
    assert "'no-such-bucket-anywhere', which does not exist" in refusal(
        OutputDataConfig={"S3OutputPath": "s3://no-such-bucket-anywhere/x"})
    assert "S3Uri of CheckpointConfig" in refusal(
        CheckpointConfig={"S3Uri": "s3://no-such-bucket-anywhere/x"})


def test_secrets_stay_with_the_engine(inside, outside, bucket, name):
    outside.s3.put_object(Bucket=bucket, Key="in/a", Body=b"a")
    code = ("import os, pathlib\n"
            "text = ''\n"
            "for root in ('/proc', '/opt/ml', '/tmp', '/root'):\n"
            "    for folder, folders, names in os.walk(root):\n"
            "        folders[:] = [f for f in folders if f not in ('net', 'sys', 'task', 'irq', 'fd', 'bus')]\n"
            "        for name in names:\n"
            "            if root == '/proc' and name not in ('environ', 'cmdline', 'mountinfo'): continue\n"
            "            try: text += open(os.path.join(folder, name), errors='replace').read(1 << 20)\n"
            "            except OSError: pass\n"
            "open('/opt/ml/model/all', 'w').write(text)\n")
    inside.script(name, code, InputDataConfig=[channel(f"s3://{bucket}/in/")])
    seen = inside.wait(name)
    assert seen["TrainingJobStatus"] == "Completed", seen
    found = inside.artifact(seen["ModelArtifacts"]["S3ModelArtifacts"])["all"]
    assert len(found) > 1000 and outside.keys[1].encode() not in found
    assert outside.keys[1] not in inside.tail() and outside.keys[1] not in json.dumps(seen, default=str)
    assert outside.keys[1] not in inside.sabia("jobs", name).stdout


DIGEST = """
import hashlib, os
for folder, _, names in sorted(os.walk("/opt/ml/input/data/train")):
    for name in sorted(names):
        print("digest", name, hashlib.sha256(open(os.path.join(folder, name), "rb").read()).hexdigest())
open("/opt/ml/model/big", "wb").write(os.urandom(80 << 20))
"""


def test_networks_break_and_services_are_busy(inside, outside, proxy, bucket, name):
    wanted = []
    for i, size in enumerate((30 << 20, 9 << 20, 300_000, 20)):
        data = os.urandom(size)
        outside.s3.put_object(Bucket=bucket, Key=f"in/{i}", Body=data)
        wanted.append(f"digest {i} {hashlib.sha256(data).hexdigest()}")
    uri = inside.upload_code(name, {"train.py": DIGEST})
    proxy.faults(fail=4, truncate=3, reset=3, flip=1, retry_after=0, contains="in/")
    inside.client("sagemaker").create_training_job(**inside.request(
        name, InputDataConfig=[channel(f"s3://{bucket}/in/")],
        OutputDataConfig={"S3OutputPath": f"s3://{bucket}/out"},
        HyperParameters={"sagemaker_program": json.dumps("train.py"),
                         "sagemaker_submit_directory": json.dumps(uri)}))
    inside.wait_for_line(name, "digest 3", seconds=60)
    proxy.faults(fail=3, reset=1, method="PUT")
    seen = inside.wait(name)
    assert seen["TrainingJobStatus"] == "Completed", seen
    assert [line for line in inside.lines(name) if line.startswith("digest")] == wanted
    assert len(inside.artifact_of(outside.s3, seen)["big"]) == 80 << 20


def test_a_killed_agent_goes_on_where_it_was(inside, outside, proxy, bucket, name):
    piece = 8 << 20
    data = os.urandom(24 * piece)
    outside.s3.put_object(Bucket=bucket, Key="in/big", Body=data)
    proxy.faults(kbps=10_000)
    inside.script(name, DIGEST.replace("80 << 20", "1"), InputDataConfig=[channel(f"s3://{bucket}/in/")],
                  RetryStrategy={"MaximumRetryAttempts": 1})

    def pieces():
        journals = list((inside.home / "cache" / "partial").glob("*.pieces"))
        return journals[0].read_text().count("\n") - 1 if journals else 0

    deadline = time.monotonic() + 60
    while pieces() < 12 and time.monotonic() < deadline:
        time.sleep(0.01)
    report = json.loads(next((inside.home / "instances").glob("*/report.json")).read_text())
    os.kill(report["pid"], signal.SIGKILL)
    kept = pieces()
    proxy.faults()
    seen = inside.wait(name)
    assert seen["TrainingJobStatus"] == "Completed", seen
    assert f"digest big {hashlib.sha256(data).hexdigest()}" in inside.lines(name)
    assert kept >= 12 and proxy.stats()["bytes"] < (24 - kept) * piece + piece // 2
    # The next job finds the object on the disk.
    proxy.faults()
    again = inside.script(name + "-2", DIGEST.replace("80 << 20", "1"),
                          InputDataConfig=[channel(f"s3://{bucket}/in/")])
    assert inside.wait(again)["TrainingJobStatus"] == "Completed"
    assert f"digest big {hashlib.sha256(data).hexdigest()}" in inside.lines(again)
    assert proxy.stats()["bytes"] < piece
    assert "1 of 1 objects were on the disk already" in inside.sabia("jobs", again).stdout


# Reads a large object in order, backwards and with a stride, and small ones in order; prints digests.
READ = """
import hashlib, os
root = "/opt/ml/input/data/train/"
whole = open(root + "big", "rb").read()
print("big", hashlib.sha256(whole).hexdigest())
pieces = []
with open(root + "big", "rb", buffering=0) as f:
    os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    for at in list(range(0, len(whole), 3_000_001)) + list(range(len(whole) - 5, 0, -2_000_003)):
        pieces.append(os.pread(f.fileno(), 70_000, at) == whole[at:at + 70_000])
print("pieces", len(pieces), all(pieces))
for name in sorted(os.listdir(root + "small")):
    print("small", name, hashlib.sha256(open(root + "small/" + name, "rb").read()).hexdigest())
"""


def needs_fuse():
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError as error:
        pytest.skip(f"needs /dev/fuse: {error}")


def fast(inside, name, code, bucket, **changes):
    inside.script(name, code, InputDataConfig=[channel(f"s3://{bucket}/in/")],
                  AlgorithmSpecification={"TrainingImage": "sabia/python:3", "TrainingInputMode": "FastFile"},
                  **changes)
    return name


def test_fastfile_reads_through_a_bad_network(inside, outside, proxy, bucket, name):
    needs_fuse()
    big = os.urandom(25_000_000)
    outside.s3.put_object(Bucket=bucket, Key="in/big", Body=big)
    wanted = [f"big {hashlib.sha256(big).hexdigest()}"]
    for i in range(40):
        data = os.urandom(i * 1000)
        outside.s3.put_object(Bucket=bucket, Key=f"in/small/{i:03}", Body=data)
        wanted.append(f"small {i:03} {hashlib.sha256(data).hexdigest()}")
    proxy.faults(fail=6, truncate=5, reset=5, retry_after=0, contains="in/")
    fast(inside, name, READ, bucket)
    seen = inside.wait(name)
    assert seen["TrainingJobStatus"] == "Completed", seen
    lines = inside.lines(name)
    assert [line for line in lines if line.startswith(("big", "small"))] == wanted
    assert any(line.startswith("pieces ") and line.endswith("True") for line in lines), lines
    assert not (inside.home / "cache" / "objects").exists(), "nothing is downloaded first"
    stat = json.loads(inside.sabia("data", "stat", name, "--json").stdout)["Channels"][0]
    assert stat["Way"] == "stream" and stat["Bytes"] > 25_000_000, stat
    assert stat["FetchedBytes"] > 0 and 0 < stat["PrefetchHits"] <= stat["Reads"], stat
    assert "read on demand" in inside.sabia("data", "stat", name).stdout


def test_fastfile_never_mixes_versions(inside, outside, bucket, name):
    needs_fuse()
    outside.s3.put_object(Bucket=bucket, Key="in/big", Body=b"a" * 40_000_000)
    code = ("import os, time\n"
            "f = open('/opt/ml/input/data/train/big', 'rb', buffering=0)\n"
            "print('first', os.pread(f.fileno(), 10, 0), flush=True)\n"
            "while not os.path.exists('/opt/ml/checkpoints/go'): time.sleep(0.02)\n"
            "seen = {bytes([b]) for at in range(0, 40_000_000, 1_000_000) for b in os.pread(f.fileno(), 9, at)}\n"
            "print('never', seen)\n")
    fast(inside, name, code, bucket)
    inside.wait_for_line(name, "first b'aaaaaaaaaa'", seconds=60)
    outside.s3.put_object(Bucket=bucket, Key="in/big", Body=b"b" * 40_000_000)
    go = next((inside.home / "instances").glob("*/root/checkpoints"))
    (go / "go").write_text("")
    seen = inside.wait(name)
    assert seen["TrainingJobStatus"] == "Failed", seen
    assert "Data download failed:channel 'train'" in seen["FailureReason"], seen
    assert f"s3://{bucket}/in/big" in seen["FailureReason"], seen
    assert not any("never" in line for line in inside.lines(name))


def test_a_killed_agent_leaves_no_mount(inside, outside, proxy, bucket, name):
    needs_fuse()
    outside.s3.put_object(Bucket=bucket, Key="in/big", Body=os.urandom(30_000_000))
    proxy.faults(kbps=500)  # a minute
    fast(inside, name, "print('begun', flush=True)\nopen('/opt/ml/input/data/train/big', 'rb').read()\n", bucket)
    inside.wait_for_line(name, "begun", seconds=60)
    report = json.loads(next((inside.home / "instances").glob("*/report.json")).read_text())
    os.kill(report["pid"], signal.SIGKILL)
    seen = inside.wait(name)
    assert seen["TrainingJobStatus"] == "Failed", seen
    deadline = time.monotonic() + 60
    while list((inside.home / "instances").iterdir()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not list((inside.home / "instances").iterdir())
    assert str(inside.home) not in open("/proc/self/mountinfo").read()


def test_a_job_stops_while_it_waits_for_data(inside, outside, proxy, bucket, name):
    needs_fuse()
    outside.s3.put_object(Bucket=bucket, Key="in/big", Body=os.urandom(30_000_000))
    proxy.faults(kbps=100)
    fast(inside, name, "print('begun', flush=True)\nopen('/opt/ml/input/data/train/big', 'rb').read()\n", bucket)
    inside.wait_for_line(name, "begun", seconds=60)
    inside.client("sagemaker").stop_training_job(TrainingJobName=name)
    assert inside.wait(name)["TrainingJobStatus"] == "Stopped"
