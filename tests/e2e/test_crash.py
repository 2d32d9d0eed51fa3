"""kill -9 of the daemon at moments spread over a job: the program goes on, the daemon adopts it, nothing is lost."""
import re
import socket
import time
import urllib.parse

import pytest

MOMENTS = 20
CODE = """
import os, time
print('pid', os.getpid(), flush=True)
for step in range(15):
    print('step', step, flush=True)
    time.sleep(0.1)
open('/opt/ml/model/m', 'w').write('done')
"""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("half", [0, 1])
def test_a_job_survives_kill_9_of_the_daemon(fresh_engine, name, half):
    """Half of the moments each, so that two workers share them."""
    engine = fresh_engine()
    engine.bucket()
    for moment in range(half, MOMENTS, 2):
        job = f"{name}-{moment}"
        engine.script(job, CODE, MaxRuntime=None, InputDataConfig=None)
        time.sleep(moment * 0.11)
        engine.kill()
        engine.start()
        seen = engine.wait(job)
        assert seen["TrainingJobStatus"] == "Completed", (moment, seen, engine.lines(job))
        steps = [l for l in engine.lines(job) if l.startswith("step")]
        assert steps == [f"step {n}" for n in range(15)], (moment, steps)
        assert len([l for l in engine.lines(job) if l.startswith("pid")]) == 1, "the program ran twice"
        assert engine.artifact(seen["ModelArtifacts"]["S3ModelArtifacts"]) == {"m": b"done"}
        assert seen["TrainingTimeInSeconds"] == seen["BillableTimeInSeconds"] <= 8
        statuses = [t["Status"] for t in seen["SecondaryStatusTransitions"]]
        assert statuses == sorted(set(statuses), key=statuses.index), statuses


def test_everything_acknowledged_is_there_after_kill_9(fresh_engine, name):
    engine = fresh_engine("--overcommit", "0")  # nothing runs: the jobs wait
    s3 = engine.client("s3")
    engine.bucket()
    for number in range(20):
        s3.put_object(Bucket="data", Key=f"k/{number}", Body=str(number).encode() * 1000)
        engine.script(f"{name}-{number}", "pass", Tags=[{"Key": "n", "Value": str(number)}])
    engine.kill()
    engine.start()
    s3, sagemaker = engine.client("s3"), engine.client("sagemaker")
    for number in range(20):
        assert s3.get_object(Bucket="data", Key=f"k/{number}")["Body"].read() == str(number).encode() * 1000
        seen = sagemaker.describe_training_job(TrainingJobName=f"{name}-{number}")
        assert seen["TrainingJobStatus"] == "InProgress"
        tags = sagemaker.list_tags(ResourceArn=seen["TrainingJobArn"])["Tags"]
        assert tags == [{"Key": "n", "Value": str(number)}]


def test_metrics_and_logs_count_once_over_restarts(fresh_engine, name):
    engine = fresh_engine()
    code = "import time\nfor n in range(20): print(f'v={n}', flush=True); time.sleep(0.1)\n"
    engine.script(name, code, AlgorithmSpecification={
        "TrainingImage": "sabia/python:3", "TrainingInputMode": "File",
        "MetricDefinitions": [{"Name": "v", "Regex": "v=([0-9]+)"}]})
    for _ in range(3):
        time.sleep(0.4)
        engine.kill()
        engine.start()
    seen = engine.wait(name)
    assert seen["FinalMetricDataList"][0]["Value"] == 19
    assert [l for l in engine.lines(name) if re.match("v=", l)] == [f"v={n}" for n in range(20)]
    points = engine.client("cloudwatch").get_metric_statistics(
        Namespace="/aws/sagemaker/TrainingJobs", MetricName="v",
        Dimensions=[{"Name": "TrainingJobName", "Value": name}], StartTime=seen["CreationTime"],
        EndTime=time.time() + 60, Period=60, Statistics=["SampleCount", "Sum"])["Datapoints"]
    assert sum(p["SampleCount"] for p in points) == 20 and sum(p["Sum"] for p in points) == 190


def test_the_program_ends_while_the_daemon_is_away(fresh_engine, name):
    engine = fresh_engine()
    engine.script(name, "import time; print('up', flush=True); time.sleep(0.5); open('/opt/ml/model/x','w').write('y')")
    engine.wait_for_line(name, "up")
    engine.kill()
    time.sleep(1.5)
    engine.start()
    seen = engine.wait(name)
    assert seen["TrainingJobStatus"] == "Completed"
    assert engine.artifact(seen["ModelArtifacts"]["S3ModelArtifacts"]) == {"x": b"y"}


def test_agents_follow_a_daemon_to_another_port(fresh_engine, name):
    """Somebody else has the old ports by then, and takes connections without answering them."""
    engine = fresh_engine()
    engine.script(name, "import time; print('up', flush=True); open('/opt/ml/checkpoints/c','w').write('1'); "
                  "time.sleep(1); open('/opt/ml/model/x','w').write('y')",
                  CheckpointConfig={"S3Uri": f"s3://{engine.bucket()}/{name}/checkpoints"})
    engine.wait_for_line(name, "up")
    before = urllib.parse.urlparse(engine.endpoint()).port
    engine.kill()
    with socket.create_server(("127.0.0.1", before)):
        engine.start()
        assert urllib.parse.urlparse(engine.endpoint()).port != before
        seen = engine.wait(name)
    assert seen["TrainingJobStatus"] == "Completed", seen
    assert engine.artifact(seen["ModelArtifacts"]["S3ModelArtifacts"]) == {"x": b"y"}
    keys = engine.client("s3").list_objects_v2(Bucket="data", Prefix=f"{name}/checkpoints/")["Contents"]
    assert [k["Key"] for k in keys] == [f"{name}/checkpoints/c"]
