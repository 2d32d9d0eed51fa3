"""Managed spot training: interruptions, checkpoints, waiting, money."""
import time

import pytest

COUNTER = """
import os, signal, sys, time
path = '/opt/ml/checkpoints/count'
start = int(open(path).read()) if os.path.exists(path) else 0
print('start at', start, flush=True)
for count in range(start + 1, 101):
    with open(path + '.tmp', 'w') as f: f.write(str(count))
    os.replace(path + '.tmp', path)
    print('count', count, flush=True)
    time.sleep(0.02 if start else 0.1)
open('/opt/ml/model/count', 'w').write(str(count))
"""


def spot(engine, name, **changes):
    return {"EnableManagedSpotTraining": True,
            "CheckpointConfig": {"S3Uri": f"s3://{engine.bucket()}/{name}/checkpoints"},
            "StoppingCondition": {"MaxRuntimeInSeconds": 600, "MaxWaitTimeInSeconds": 1200}, **changes}


def test_an_interrupted_job_resumes_from_its_checkpoint(engine, name):
    engine.script(name, COUNTER, **spot(engine, name))
    engine.wait_for_line(name, "count 10")
    engine.sabia("spot", "interrupt", name)
    seen = engine.wait(name)
    assert seen["TrainingJobStatus"] == "Completed", seen
    statuses = [t["Status"] for t in seen["SecondaryStatusTransitions"]]
    assert statuses.count("Interrupted") == 1
    assert statuses[-1] == "Completed" and statuses.count("Training") == 2 and statuses.count("Starting") == 2
    starts = [int(l.split()[-1]) for l in engine.lines(name) if l.startswith("start at")]
    assert len(starts) == 2 and min(starts) == 0 and max(starts) >= 10
    assert engine.artifact(seen["ModelArtifacts"]["S3ModelArtifacts"]) == {"count": b"100"}
    assert 1 <= seen["BillableTimeInSeconds"] <= seen["TrainingTimeInSeconds"]


def test_interrupting_what_cannot_be_interrupted_says_why(engine, name):
    run = engine.sabia("spot", "interrupt", "no-such-job", check=False)
    assert run.returncode == 1 and "no-such-job" in run.stderr
    engine.script(name, "import time; time.sleep(600)")
    engine.wait(name, until=("Training",))
    run = engine.sabia("spot", "interrupt", name, check=False)
    assert run.returncode == 1 and "spot" in run.stderr
    engine.client("sagemaker").stop_training_job(TrainingJobName=name)
    engine.wait(name)


def test_deletes_reach_s3_and_late_objects_stay_away(engine, name):
    engine.script(name, """
import os, time
open('/opt/ml/checkpoints/old', 'w').write('1')
while not os.path.exists('/opt/ml/checkpoints/old.sagemaker-uploaded'): time.sleep(0.02)
os.remove('/opt/ml/checkpoints/old')
open('/opt/ml/checkpoints/new', 'w').write('2')
print('wrote', flush=True)
for _ in range(100):
    if os.path.exists('/opt/ml/checkpoints/late'): print('late arrived')
    time.sleep(0.01)
""", **spot(engine, name))
    engine.wait_for_line(name, "wrote")
    s3 = engine.client("s3")
    s3.put_object(Bucket="data", Key=f"{name}/checkpoints/late", Body=b"x")
    assert engine.wait(name)["TrainingJobStatus"] == "Completed"
    keys = [o["Key"].rsplit("/", 1)[1] for o in
            s3.list_objects_v2(Bucket="data", Prefix=f"{name}/checkpoints/")["Contents"]]
    assert sorted(keys) == ["late", "new"]
    assert "late arrived" not in engine.lines(name)


def test_waiting_for_capacity_ends_at_max_wait(fresh_engine, name):
    engine = fresh_engine("--overcommit", "0")
    engine.script(name, "print('never')", **spot(engine, name, StoppingCondition={
        "MaxRuntimeInSeconds": 1, "MaxWaitTimeInSeconds": 2}))
    seen = engine.wait(name, seconds=20)
    assert (seen["TrainingJobStatus"], seen["SecondaryStatus"]) == ("Stopped", "MaxWaitTimeExceeded")
    assert "BillableTimeInSeconds" not in seen


def test_a_program_that_ignores_the_notice_is_reclaimed(fresh_engine, name):
    engine = fresh_engine("--spot-notice-seconds", "1")
    engine.script(name, """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
first = not os.path.exists('/opt/ml/checkpoints/seen')
open('/opt/ml/checkpoints/seen', 'w').write('x')
print('running', first, flush=True)
if first: time.sleep(600)
""", **spot(engine, name))
    engine.wait_for_line(name, "running True")
    began = time.monotonic()
    engine.sabia("spot", "interrupt", name)
    seen = engine.wait(name)
    assert seen["TrainingJobStatus"] == "Completed"
    assert time.monotonic() - began < 20
    assert "running False" in engine.lines(name)


def test_cost_explains_the_saving(engine, name):
    engine.script(name, COUNTER, **spot(engine, name))
    engine.wait(name)
    text = engine.sabia("cost", name).stdout
    for word in ("billable", "on-demand", "spot", "saving"):
        assert word in text.lower(), text


def test_a_checkpoint_whose_name_is_no_text_is_noted(engine, name):
    engine.script(name, """
open(b'/opt/ml/checkpoints/b\\xff', 'w').write('lost')
open('/opt/ml/checkpoints/good', 'w').write('kept')
open('/opt/ml/model/m', 'w').write('m')
""", **spot(engine, name))
    seen = engine.wait(name)
    assert seen["TrainingJobStatus"] == "Completed"
    assert engine.artifact(seen["ModelArtifacts"]["S3ModelArtifacts"]) == {"m": b"m"}
    assert "checkpoints are not all in S3" in engine.sabia("jobs", name).stdout
    keys = [o["Key"] for o in engine.client("s3").list_objects_v2(
        Bucket="data", Prefix=f"{name}/checkpoints/")["Contents"]]
    assert keys == [f"{name}/checkpoints/good"]
