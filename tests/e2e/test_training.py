"""Training jobs in script mode through boto3: life cycle, contract of /opt/ml, artifacts, failures."""
import datetime
import json

import pytest
from botocore.exceptions import ClientError

TRAIN = """
import json, os, sys
print("arguments", sys.argv[1:])
print("channels", os.environ["SM_CHANNELS"])
print("loss=0.50"); print("loss=0.25")
open("/opt/ml/model/weights.txt", "w").write(open("/opt/ml/input/data/train/a.csv").read())
os.makedirs("/opt/ml/output/data", exist_ok=True)
open("/opt/ml/output/data/extra.txt", "w").write("extra")
"""


def channel(uri, name="train", **source):
    return {"ChannelName": name, "DataSource": {"S3DataSource": {
        "S3DataType": "S3Prefix", "S3Uri": uri, "S3DataDistributionType": "FullyReplicated", **source}}}


def put(engine, job, **objects):
    s3 = engine.client("s3")
    for key, text in objects.items():
        s3.put_object(Bucket=engine.bucket(), Key=f"{job}/in/{key.replace('__', '/').replace('_', '.')}", Body=text)
    return f"s3://data/{job}/in/"


def test_a_job_runs_and_tells_everything(engine, name):
    uri = put(engine, name, a_csv=b"1,2\n")
    engine.script(name, TRAIN, hyperparameters={"epochs": 3, "name": "x y"}, InputDataConfig=[channel(uri)],
                  AlgorithmSpecification={
                      "TrainingImage": "sabia/python:3", "TrainingInputMode": "File",
                      "MetricDefinitions": [{"Name": "loss", "Regex": "loss=([0-9.]+)"}]},
                  Tags=[{"Key": "team", "Value": "ml"}])
    seen = engine.wait(name)
    assert seen["TrainingJobStatus"] == "Completed", seen
    assert [t["Status"] for t in seen["SecondaryStatusTransitions"]] == [
        "Starting", "Downloading", "Training", "Uploading", "Completed"]
    for earlier, later in zip(seen["SecondaryStatusTransitions"], seen["SecondaryStatusTransitions"][1:]):
        assert earlier["EndTime"] == later["StartTime"]
    assert seen["TrainingTimeInSeconds"] >= 1 and seen["BillableTimeInSeconds"] == seen["TrainingTimeInSeconds"]
    assert seen["CreationTime"] <= seen["TrainingStartTime"] <= seen["TrainingEndTime"] <= seen["LastModifiedTime"]
    assert seen["OutputDataConfig"]["KmsKeyId"] == "" and seen["EnableNetworkIsolation"] is False
    assert [(m["MetricName"], m["Value"]) for m in seen["FinalMetricDataList"]] == [("loss", 0.25)]
    assert seen["ModelArtifacts"]["S3ModelArtifacts"] == f"s3://data/out/{name}/output/model.tar.gz"
    assert engine.artifact(seen["ModelArtifacts"]["S3ModelArtifacts"]) == {"weights.txt": b"1,2\n"}
    assert engine.artifact(f"s3://data/out/{name}/output/output.tar.gz") == {"extra.txt": b"extra"}
    lines = engine.lines(name)
    assert "arguments ['--epochs', '3', '--name', 'x y']" in lines, lines
    assert 'channels ["train"]' in lines
    tags = engine.client("sagemaker").list_tags(ResourceArn=seen["TrainingJobArn"])["Tags"]
    assert tags == [{"Key": "team", "Value": "ml"}]


def test_metrics_reach_cloudwatch(engine, name):
    engine.script(name, "print('acc=0.5')\nprint('acc=0.75')\n", AlgorithmSpecification={
        "TrainingImage": "sabia/python:3", "TrainingInputMode": "File",
        "MetricDefinitions": [{"Name": "acc", "Regex": "acc=([0-9.]+)"}]})
    engine.wait(name)
    cloudwatch = engine.client("cloudwatch")
    now = datetime.datetime.now(datetime.timezone.utc)
    got = cloudwatch.get_metric_statistics(
        Namespace="/aws/sagemaker/TrainingJobs", MetricName="acc",
        Dimensions=[{"Name": "TrainingJobName", "Value": name}], StartTime=now - datetime.timedelta(hours=1),
        EndTime=now + datetime.timedelta(minutes=2), Period=3600, Statistics=["Maximum", "SampleCount"])
    assert sum(p["SampleCount"] for p in got["Datapoints"]) == 2
    assert max(p["Maximum"] for p in got["Datapoints"]) == 0.75
    found = cloudwatch.list_metrics(Namespace="/aws/sagemaker/TrainingJobs", Dimensions=[
        {"Name": "TrainingJobName", "Value": name}])["Metrics"]
    assert [m["MetricName"] for m in found] == ["acc"]


def test_prefix_without_slash_keeps_full_base_names(engine, name):
    s3 = engine.client("s3")
    for key in ("train-data.csv", "train-ground-truth.csv", "raw-data.txt"):
        s3.put_object(Bucket=engine.bucket(), Key=f"{name}/data/{key}", Body=b"x")
    engine.script(name, "import os\nprint(sorted(os.listdir('/opt/ml/input/data/train')))\n",
                  InputDataConfig=[channel(f"s3://data/{name}/data/train")])
    assert engine.wait(name)["TrainingJobStatus"] == "Completed"
    assert "['train-data.csv', 'train-ground-truth.csv']" in engine.lines(name)


def test_manifest_brings_exactly_the_listed_objects(engine, name):
    s3 = engine.client("s3")
    for number in range(5):
        s3.put_object(Bucket=engine.bucket(), Key=f"{name}/d/{number}.txt", Body=b"x")
    manifest = [{"prefix": f"s3://data/{name}/d/"}, "1.txt", "3.txt"]
    s3.put_object(Bucket="data", Key=f"{name}/manifest", Body=json.dumps(manifest))
    engine.script(name, "import os\nprint(sorted(os.listdir('/opt/ml/input/data/train')))\n",
                  InputDataConfig=[channel(f"s3://data/{name}/manifest", S3DataType="ManifestFile")])
    engine.wait(name)
    assert "['1.txt', '3.txt']" in engine.lines(name)


def test_three_hosts_share_sharded_data_and_one_artifact(engine, name):
    s3 = engine.client("s3")
    for number in range(7):
        s3.put_object(Bucket=engine.bucket(), Key=f"{name}/d/{number}.txt", Body=b"x")
    code = """
import json, os, socket
config = json.load(open('/opt/ml/input/config/resourceconfig.json'))
host = config['current_host']
for peer in config['hosts']: socket.gethostbyname(peer)
print(host, sorted(os.listdir('/opt/ml/input/data/train')))
open('/opt/ml/model/' + host, 'w').write(host)
"""
    engine.script(name, code,
                  InputDataConfig=[channel(f"s3://data/{name}/d/", S3DataDistributionType="ShardedByS3Key")],
                  ResourceConfig={"InstanceCount": 3, "InstanceType": "ml.m5.large", "VolumeSizeInGB": 1})
    seen = engine.wait(name)
    assert seen["TrainingJobStatus"] == "Completed", seen
    shards = [eval(line.split(" ", 1)[1]) for line in engine.lines(name) if line.startswith("algo-")]
    assert sorted(sum(shards, [])) == [f"{n}.txt" for n in range(7)]
    assert sorted(map(len, shards)) == [2, 2, 3]
    assert sorted(engine.artifact(seen["ModelArtifacts"]["S3ModelArtifacts"])) == ["algo-1", "algo-2", "algo-3"]


@pytest.mark.parametrize("code,reason", [
    ("import sys; print('bad luck'); sys.exit(3)", "ExitCode 3"),
    ("open('/opt/ml/output/failure', 'w').write('x' * 3000); raise SystemExit(1)", "AlgorithmError: xxxx"),
    ("import os; os.kill(os.getpid(), 9)", "AlgorithmError"),
], ids=["exit", "failure-file", "killed"])
def test_a_failing_program_is_named(engine, name, code, reason):
    engine.script(name, code)
    seen = engine.wait(name)
    assert seen["TrainingJobStatus"] == "Failed" and seen["SecondaryStatus"] == "Failed"
    assert reason in seen["FailureReason"] and len(seen["FailureReason"]) <= 1024
    assert seen["SecondaryStatusTransitions"][-1]["StatusMessage"] == "Training job failed"


def test_out_of_memory_is_told_and_harms_nobody_else(engine, name):
    engine.script(name, "x = bytearray(3 << 30)\nfor i in range(0, len(x), 4096): x[i] = 1\nprint(len(x))\n",
                  ResourceConfig={"InstanceCount": 1, "InstanceType": "ml.t3.medium", "VolumeSizeInGB": 1},
                  Environment={"SABIA_TEST": "1"})
    seen = engine.wait(name)
    if seen["TrainingJobStatus"] == "Completed":
        pytest.skip("this machine lets nobody limit memory: " + "; ".join(engine.lines(name)[:3]))
    assert "memory" in seen["FailureReason"].lower(), seen["FailureReason"]
    assert engine.describe(name)["TrainingJobStatus"] == "Failed"


def test_children_do_not_survive_the_job(engine, name):
    engine.script(name, """
import subprocess
subprocess.Popen(['sleep', '4242'], start_new_session=True)
print('left a child')
""")
    assert engine.wait(name)["TrainingJobStatus"] == "Completed"
    import subprocess
    assert subprocess.run(["pgrep", "-f", "^sleep 4242$"], capture_output=True).returncode == 1


def test_one_line_of_many_megabytes_and_many_lines(engine, name):
    engine.script(name, "print('y' * (20 << 20))\nfor i in range(20000): print('line', i)\nprint('end')\n")
    assert engine.wait(name)["TrainingJobStatus"] == "Completed"
    lines = engine.lines(name)
    assert lines[-1] == "end" and max(map(len, lines)) <= 256 << 10
    assert sum(len(l) for l in lines if l.startswith("y")) == 20 << 20


def test_stop_lets_the_program_save_its_model(engine, name):
    engine.script(name, """
import signal, sys, time
def save(*_):
    open('/opt/ml/model/saved', 'w').write('in time')
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
print('ready', flush=True)
time.sleep(600)
""")
    engine.wait_for_line(name, "ready")
    sagemaker = engine.client("sagemaker")
    sagemaker.stop_training_job(TrainingJobName=name)
    assert engine.describe(name)["TrainingJobStatus"] in ("Stopping", "Stopped")
    seen = engine.wait(name)
    assert seen["TrainingJobStatus"] == "Stopped" and seen["SecondaryStatus"] == "Stopped"
    assert "FailureReason" not in seen
    assert engine.artifact(seen["ModelArtifacts"]["S3ModelArtifacts"]) == {"saved": b"in time"}
    with pytest.raises(ClientError) as error:
        sagemaker.stop_training_job(TrainingJobName=name)
    assert error.value.response["Error"]["Code"] == "ValidationException"
    assert "The request was rejected because the training job is in status Stopped." in str(error.value)


def test_max_runtime_is_kept_to_the_second(engine, name):
    engine.script(name, "import time\nopen('/opt/ml/model/m', 'w').write('m')\ntime.sleep(600)\n",
                  StoppingCondition={"MaxRuntimeInSeconds": 2})
    seen = engine.wait(name)
    assert (seen["TrainingJobStatus"], seen["SecondaryStatus"]) == ("Stopped", "MaxRuntimeExceeded")
    assert 2 <= seen["TrainingTimeInSeconds"] <= 5
    assert engine.artifact(seen["ModelArtifacts"]["S3ModelArtifacts"]) == {"m": b"m"}


def test_the_program_may_write_over_its_input_without_harm(engine, name):
    uri = put(engine, name, a_csv=b"original")
    engine.script(name, "p='/opt/ml/input/data/train/a.csv'\nopen(p, 'w').write('changed')\nprint(open(p).read())\n",
                  InputDataConfig=[channel(uri)])
    assert engine.wait(name)["TrainingJobStatus"] == "Completed"
    assert "changed" in engine.lines(name)
    assert engine.client("s3").get_object(Bucket="data", Key=f"{name}/in/a.csv")["Body"].read() == b"original"


def test_an_isolated_program_has_no_network_and_no_keys(engine, name):
    engine.script(name, """
import os, socket
print([k for k in os.environ if 'SECRET' in k or 'TOKEN' in k])
try:
    socket.create_connection(('127.0.0.1', int(os.environ.get('PORT', '80'))), 2)
    print('connected')
except OSError:
    print('no network')
""", EnableNetworkIsolation=True, Environment={"PORT": engine.endpoint().rsplit(":", 1)[1]})
    assert engine.wait(name)["TrainingJobStatus"] == "Completed"
    assert engine.lines(name)[-2:] == ["[]", "no network"]


def test_job_code_reaches_the_engine_with_its_role(engine, name):
    engine.script(name, """
import boto3
print(boto3.client('sts').get_caller_identity()['Arn'])
boto3.client('s3').put_object(Bucket='data', Key='from-job', Body=b'hello')
""")
    seen = engine.wait(name)
    assert seen["TrainingJobStatus"] == "Completed", (seen, engine.lines(name))
    assert any(":assumed-role/SageMakerRole/" in line for line in engine.lines(name))
    assert engine.client("s3").get_object(Bucket="data", Key="from-job")["Body"].read() == b"hello"


def test_delete_removes_a_finished_job_only(engine, name):
    engine.script(name, "import time; time.sleep(600)")
    engine.wait(name, until=("Training",))
    sagemaker = engine.client("sagemaker")
    with pytest.raises(ClientError):
        sagemaker.delete_training_job(TrainingJobName=name)
    sagemaker.stop_training_job(TrainingJobName=name)
    engine.wait(name)
    sagemaker.delete_training_job(TrainingJobName=name)
    with pytest.raises(ClientError) as error:
        sagemaker.describe_training_job(TrainingJobName=name)
    assert error.value.response["Error"] == {"Code": "ValidationException", "Message": "Requested resource not found."}
