"""Pipe mode through boto3: FIFOs per epoch, every source and format, failures, interruptions, the account of it."""
import datetime
import gzip
import io
import json
import random
import re
import struct

import pytest
from botocore.exceptions import ClientError
from engine import XGBOOST_IMAGE

READER = """
import os, sys, time
def epoch(channel, number):
    path = f'/opt/ml/input/data/{channel}_{number}'
    while not os.path.exists(path):
        time.sleep(0.01)
    return open(path, 'rb')
"""


def pipe(uri, name="train", **channel):
    source = {k: channel.pop(k) for k in ("S3DataType", "S3DataDistributionType", "AttributeNames") if k in channel}
    return {"ChannelName": name, "InputMode": "Pipe", "DataSource": {"S3DataSource": {
        "S3DataType": "S3Prefix", "S3Uri": uri, **source}}, **channel}


def put(engine, job, objects):
    s3 = engine.client("s3")
    for key, body in objects.items():
        s3.put_object(Bucket=engine.bucket(), Key=f"{job}/in/{key}", Body=body)
    return f"s3://data/{job}/in/"


def records(stream):
    out = []
    while True:
        head = stream.read(8)
        if not head:
            return out
        magic, length = struct.unpack("<II", head)
        assert magic == 0xced7230a, hex(magic)
        out.append(stream.read(length))
        stream.read((4 - length % 4) % 4)


def completed(engine, job, **options):
    seen = engine.wait(job, **options)
    assert seen["TrainingJobStatus"] == "Completed", (seen.get("FailureReason"), engine.lines(job))
    return seen


def test_epochs_and_early_closes(engine, name):
    uri = put(engine, name, {"a/1": b"1\n", "a/2": b"2\n" * 1_000_000, "a": b"both a file and a folder\n"})
    engine.script(name, READER + """
print(len(epoch('train', 0).read()))
for number in (1, 2):                 # left half-read: the next one is whole
    print(epoch('train', number).read(4))
print(len(epoch('train', 3).read()))
f = epoch('train', 4); f.read(1)
g = epoch('train', 5)                 # while the one before is still held
print(len(g.read()), len(f.read()))
print(sorted(n for n in os.listdir('/opt/ml/input/data')))
print(open('/opt/ml/input/config/inputdataconfig.json').read())
""", InputDataConfig=[pipe(uri, ContentType="text/csv")])
    completed(engine, name)
    lines = engine.lines(name)
    size = 2_000_027
    assert lines[:5] == [str(size), "b'both'", "b'both'", str(size), f"{size} {size - 1}"], lines
    assert lines[5] == "['train_6']", lines
    assert json.loads(lines[6]) == {"train": {"ContentType": "text/csv", "TrainingInputMode": "Pipe",
                                              "S3DistributionType": "FullyReplicated", "RecordWrapperType": "None"}}


def test_the_same_keys_as_files_are_refused_by_both_names(engine, name):
    uri = put(engine, name, {"a": b"1", "a/b": b"2"})
    engine.script(name, "print('never')", InputDataConfig=[{**pipe(uri), "InputMode": "File"}])
    reason = engine.wait(name)["FailureReason"]
    assert reason.startswith("ClientError: Data download failed") and f"{name}/in/a'" in reason \
        and f"{name}/in/a/b'" in reason, reason


def test_training_input_mode_is_the_default_of_channels(engine, name):
    uri = put(engine, name, {"x": b"data"})
    engine.script(name, READER + "print(epoch('piped', 0).read(), open('/opt/ml/input/data/filed/x').read())",
                  AlgorithmSpecification={"TrainingImage": "sabia/python:3", "TrainingInputMode": "Pipe"},
                  InputDataConfig=[{k: v for k, v in pipe(uri, "piped").items() if k != "InputMode"},
                                   {**pipe(uri, "filed"), "InputMode": "File"}])
    completed(engine, name)
    assert "b'data' data" in engine.lines(name)


def test_manifest_gzip_and_records(engine, name):
    uri = put(engine, name, {"a.gz": gzip.compress(b"A" * 3_000_000), "b.gz": gzip.compress(b"B") + gzip.compress(b"b"),
                             "other": b"not listed"})
    manifest = [{"prefix": uri}, "b.gz", "a.gz", "b.gz"]
    engine.client("s3").put_object(Bucket="data", Key=f"{name}/m", Body=json.dumps(manifest))
    engine.script(name, READER + "open('/opt/ml/model/got', 'wb').write(epoch('train', 0).read())", InputDataConfig=[
        pipe(f"s3://data/{name}/m", S3DataType="ManifestFile", CompressionType="Gzip", RecordWrapperType="RecordIO")])
    seen = completed(engine, name)
    got = engine.artifact(seen["ModelArtifacts"]["S3ModelArtifacts"])["got"]
    assert records(io.BytesIO(got)) == [b"Bb", b"A" * 3_000_000, b"Bb"]


def test_augmented_manifest_interleaves_attributes(engine, name):
    numbers = random.Random(7)
    pictures = {f"{n}.jpg": numbers.randbytes(numbers.randrange(200_000)) for n in range(40)}
    uri = put(engine, name, pictures)
    lines = [{"image-ref": uri + key, "label": n, "meta": {"job": "x", "p": [1.50]}, "unused": "u"}
             for n, key in enumerate(pictures)]
    engine.client("s3").put_object(Bucket="data", Key=f"{name}/m", Body="\n".join(map(json.dumps, lines)) + "\n")
    engine.script(name, READER + "open('/opt/ml/model/got', 'wb').write(epoch('train', 0).read())", InputDataConfig=[
        pipe(f"s3://data/{name}/m", S3DataType="AugmentedManifestFile", RecordWrapperType="RecordIO",
             AttributeNames=["image-ref", "label", "meta"])])
    seen = completed(engine, name)
    got = records(io.BytesIO(engine.artifact(seen["ModelArtifacts"]["S3ModelArtifacts"])["got"]))
    expected = []
    for n, picture in enumerate(pictures.values()):
        expected += [picture, str(n).encode(), b'{"job": "x", "p": [1.5]}']
    assert got == expected


def test_two_hosts_share_a_shuffled_channel_anew_each_epoch(engine, name):
    uri = put(engine, name, {f"{c}": c for c in "abcdefghijkl"})
    engine.script(name, READER + "print(*[epoch('train', n).read().decode() for n in range(3)])",
                  ResourceConfig={"InstanceCount": 2, "InstanceType": "ml.m5.large", "VolumeSizeInGB": 10},
                  InputDataConfig=[pipe(uri, S3DataDistributionType="ShardedByS3Key", ShuffleConfig={"Seed": 11})])
    completed(engine, name)
    hosts = [line.split() for line in engine.lines(name)]
    assert len(hosts) == 2, hosts
    for first, second in zip(*hosts):
        assert len(first) == len(second) == 6 and sorted(first + second) == sorted("abcdefghijkl")
    assert len({frozenset(epoch) for epoch in hosts[0]}) > 1, "the share never changed"


def test_built_in_xgboost_learns_the_same_from_a_pipe(engine, name):
    numbers = random.Random(3)
    rows = []
    for _ in range(500):
        x = [numbers.random() for _ in range(3)]
        rows.append(",".join(f"{v:.4f}" for v in [x[0] * 3 + x[1], *x]))
    uri = put(engine, name, {"part-0.csv": "\n".join(rows[:250]) + "\n", "part-1.csv": "\n".join(rows[250:]) + "\n"})
    finals = {}
    for mode in ("File", "Pipe"):
        job = f"{name}-{mode.lower()}"
        channel = {**pipe(uri, ContentType="text/csv"), "InputMode": mode}
        engine.client("sagemaker").create_training_job(**engine.request(
            job, AlgorithmSpecification={"TrainingImage": XGBOOST_IMAGE, "TrainingInputMode": "File"},
            HyperParameters={"num_round": "10", "objective": "reg:squarederror"},
            InputDataConfig=[channel, {**channel, "ChannelName": "validation"}]))
        finals[mode] = {m["MetricName"]: m["Value"] for m in completed(engine, job)["FinalMetricDataList"]}
    assert finals["File"] == finals["Pipe"] and "validation:rmse" in finals["Pipe"], finals


def test_built_in_xgboost_refuses_libsvm_in_a_pipe_as_on_aws(engine, name):
    uri = put(engine, name, {"x": b"1 0:1\n"})
    engine.client("sagemaker").create_training_job(**engine.request(
        name, AlgorithmSpecification={"TrainingImage": XGBOOST_IMAGE, "TrainingInputMode": "Pipe"},
        HyperParameters={"num_round": "1"}, InputDataConfig=[{**pipe(uri), "ContentType": "text/libsvm"}]))
    assert "Channel configuration for 'train' channel is not supported" in engine.wait(name)["FailureReason"]


def test_bad_data_fails_the_job_and_names_the_object(engine, name):
    uri = put(engine, name, {"good": gzip.compress(b"g"), "plain": b"plain text"})
    engine.script(name, READER + "print(epoch('train', 0).read())", InputDataConfig=[
        pipe(uri, CompressionType="Gzip")])
    reason = engine.wait(name)["FailureReason"]
    assert reason == f"ClientError: Data download failed:channel 'train' from {uri}: 's3://data/{name}/in/plain' " \
                     "cannot be decompressed as gzip: incorrect header check", reason
    assert not engine.lines(name), "the program saw an end of data that was none"


@pytest.mark.parametrize("change, message", [
    ({"InputMode": "File", "S3DataType": "AugmentedManifestFile", "AttributeNames": ["a"]}, "only supported in Pipe mode"),
    ({"S3DataType": "AugmentedManifestFile"}, "requires AttributeNames"),
    ({"AttributeNames": ["a"]}, "can only be used with S3DataType AugmentedManifestFile"),
    ({"InputMode": "FastFile", "CompressionType": "Gzip"}, "only supported in Pipe mode"),
    ({"S3DataType": "AugmentedManifestFile", "AttributeNames": ["a"], "missing": True}, "No S3 objects found"),
])
def test_what_does_not_go_together_is_refused(engine, name, change, message):
    change = dict(change)
    uri = put(engine, name, {"x": b"{}"}) + ("none" if change.pop("missing", False) else "x")
    with pytest.raises(ClientError) as refused:
        engine.script(name, "", InputDataConfig=[pipe(uri, **{"InputMode": "Pipe", **change})])
    assert message in str(refused.value)


def test_a_spot_job_begins_its_epochs_anew_after_an_interruption(engine, name):
    uri = put(engine, name, {"x": b"x" * 3_000_000})
    engine.script(name, READER + """
f = epoch('train', 0)
print('began', f.read(1), flush=True)
if os.path.exists('/opt/ml/checkpoints/n'):
    print('whole', 1 + len(f.read())); sys.exit()
open('/opt/ml/checkpoints/n', 'w').write('1')
while True: time.sleep(0.05)
""", InputDataConfig=[pipe(uri)], EnableManagedSpotTraining=True,
                  StoppingCondition={"MaxRuntimeInSeconds": 600, "MaxWaitTimeInSeconds": 900},
                  CheckpointConfig={"S3Uri": f"s3://data/{name}/ck"})
    engine.wait_for_line(name, "began")
    s3 = engine.client("s3")
    for _ in range(400):
        if s3.list_objects_v2(Bucket="data", Prefix=f"{name}/ck/")["KeyCount"]:
            break
    engine.sabia("spot", "interrupt", name)
    completed(engine, name, seconds=90)
    assert "whole 3000000" in engine.lines(name)
    stat = json.loads(engine.sabia("data", "stat", name, "--json").stdout)["Channels"]
    assert [(c["Hosts"], c["Epochs"]) for c in stat] == [(2, 2)], stat


def test_an_epoch_goes_on_while_the_daemon_is_killed(fresh_engine, name):
    engine = fresh_engine()
    uri = put(engine, name, {f"{n:03}": b"%03d" % n * 100_000 for n in range(20)})
    engine.script(name, READER + """
f = epoch('train', 0)
got = f.read(1)
print('began', flush=True)
while not os.path.exists('/opt/ml/checkpoints/go'): time.sleep(0.02)
got += f.read()
import hashlib
print(hashlib.sha256(got).hexdigest(), len(epoch('train', 1).read()))
""", InputDataConfig=[pipe(uri)])
    engine.wait_for_line(name, "began")
    engine.kill()
    for go in engine.home.glob("instances/*/root/checkpoints"):
        (go / "go").write_text("")
    engine.start()
    completed(engine, name)
    import hashlib
    whole = hashlib.sha256(b"".join(b"%03d" % n * 100_000 for n in range(20))).hexdigest()
    assert f"{whole} 6000000" in engine.lines(name)


def test_stop_reaches_a_program_that_never_read(engine, name):
    uri = put(engine, name, {"x": b"x"})
    engine.script(name, "import time\nprint('up', flush=True)\ntime.sleep(600)", InputDataConfig=[pipe(uri)])
    engine.wait_for_line(name, "up")
    engine.client("sagemaker").stop_training_job(TrainingJobName=name)
    assert engine.wait(name)["TrainingJobStatus"] == "Stopped"


def test_the_account_of_data(engine, name):
    uri = put(engine, name, {"a": b"a" * 1000, "b": b"b" * 2000})
    engine.script(name, READER + "for n in range(3): epoch('train', n).read()\nepoch('train', 3).read(1)",
                  InputDataConfig=[pipe(uri), {**pipe(uri, "files"), "InputMode": "File"},
                                   {**pipe(uri, "fast"), "InputMode": "FastFile"}])
    completed(engine, name)
    stat = json.loads(engine.sabia("data", "stat", name, "--json").stdout)
    assert stat["Final"] is True
    channels = {c["ChannelName"]: c for c in stat["Channels"]}
    assert channels["train"]["Bytes"] >= 9000 and channels["train"]["Epochs"] == 4, channels
    for other, mode in (("files", "File"), ("fast", "FastFile")):
        assert channels[other] == {"ChannelName": other, "InputMode": mode, "Way": channels[other]["Way"], "Hosts": 1,
                                   "Objects": 2, "Bytes": 3000}
    assert channels["fast"]["Way"] == "view"
    text = engine.sabia("data", "stat", name).stdout
    assert re.search(r"^fast +FastFile +view, not copied +2 +2\.9 KiB", text, re.M), text
    assert re.search(r"^train +Pipe +pipe +\d+ ", text, re.M), text
    run = engine.sabia("data", "stat", "no-such-job", check=False)
    assert run.returncode == 1 and "no-such-job" in run.stderr
    cloudwatch = engine.client("cloudwatch")
    dimensions = [{"Name": "Host", "Value": f"{name}/algo-1"}, {"Name": "Channel", "Value": "train"}]
    found = cloudwatch.list_metrics(Namespace="/aws/sagemaker/TrainingJobs", Dimensions=dimensions)["Metrics"]
    assert {m["MetricName"] for m in found} == {"InputBytes", "InputObjects", "InputEpochs", "InputStarvedTime",
                                                "InputBlockedTime", "InputThroughput"}
    now = datetime.datetime.now(datetime.timezone.utc)
    got = cloudwatch.get_metric_statistics(
        Namespace="/aws/sagemaker/TrainingJobs", MetricName="InputEpochs", Dimensions=dimensions,
        StartTime=now - datetime.timedelta(hours=1), EndTime=now + datetime.timedelta(minutes=2), Period=3600,
        Statistics=["Sum"])
    assert sum(p["Sum"] for p in got["Datapoints"]) == 4
