"""Checkpoints of several files, their lag, and how many of them stay in S3."""
import time

import pytest

DIRECTORIES = """
import os, sys, time
root = '/opt/ml/checkpoints'
have = sorted(int(d.split('-')[1]) for d in os.listdir(root) if d.startswith('step-'))
for step in have:
    names = sorted(n for n in os.listdir(f'{root}/step-{step}') if not n.endswith('.sagemaker-uploaded'))
    print('restored', step, ' '.join(names), flush=True)
if have:
    sys.exit(0)
def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as f: f.write(text)
write(f'{root}/step-1/model', '1')
write(f'{root}/step-1/state', '1')
time.sleep(6)
write(f'{root}/step-2/model', '2')
half = open(f'{root}/step-2/state', 'w')
half.write('half of it')
half.flush()
print('half', flush=True)
while True: time.sleep(1)
"""


def keys(engine, name):
    found = engine.client("s3").list_objects_v2(Bucket="data", Prefix=f"{name}/checkpoints/").get("Contents", [])
    return [o["Key"].split("/checkpoints/")[1] for o in found]


def until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def spot(engine, name, **changes):
    return {"EnableManagedSpotTraining": True,
            "CheckpointConfig": {"S3Uri": f"s3://{engine.bucket()}/{name}/checkpoints"},
            "StoppingCondition": {"MaxRuntimeInSeconds": 600, "MaxWaitTimeInSeconds": 1200}, **changes}


@pytest.mark.timeout(180)
def test_a_directory_is_restored_as_a_whole_or_not_at_all(fresh_engine, name):
    engine = fresh_engine("--spot-notice-seconds", "1")
    engine.script(name, DIRECTORIES, **spot(engine, name))
    engine.wait_for_line(name, "half")
    until(lambda: "step-2/model" in keys(engine, name))
    assert ".sabia-unfinished-algo-1" in keys(engine, name)
    table = engine.sabia("jobs", name).stdout
    assert "CHECKPOINTS OF" in table and "algo-1" in table
    engine.sabia("spot", "interrupt", name)
    assert engine.wait(name)["TrainingJobStatus"] == "Completed"
    restored = [line for line in engine.lines(name) if line.startswith("restored")]
    assert restored == ["restored 1 model state"]
    assert keys(engine, name) == ["step-1/model", "step-1/state"]
    assert "were not restored" in engine.sabia("jobs", name).stdout


def test_so_many_checkpoints_stay_in_s3_as_asked(engine, name):
    engine.script(name, """
import os
for step in range(1, 6):
    os.makedirs(f'/opt/ml/checkpoints/step-{step}')
    open(f'/opt/ml/checkpoints/step-{step}/model', 'w').write(str(step))
open('/opt/ml/checkpoints/config', 'w').write('x')
""", Environment={"SABIA_CHECKPOINTS_KEEP": "2"}, **spot(engine, name))
    assert engine.wait(name)["TrainingJobStatus"] == "Completed"
    assert keys(engine, name) == ["config", "step-4/model", "step-5/model"]
    engine.script(name + "-bad", "print('never')", Environment={"SABIA_CHECKPOINTS_KEEP": "some"},
                  **spot(engine, name))
    seen = engine.wait(name + "-bad")
    assert seen["TrainingJobStatus"] == "Failed"
    assert "SABIA_CHECKPOINTS_KEEP is 'some'" in seen["FailureReason"]


ROTATING = """
import os, shutil, sys, time
root = '/opt/ml/checkpoints'
FILES = ('model', 'optimizer', 'state')
have = sorted(int(d.split('-')[1]) for d in os.listdir(root) if d.startswith('step-'))
for step in have:
    assert all(os.path.exists(f'{root}/step-{step}/{n}') for n in FILES), f'step-{step} is not whole'
print('starts after', have[-1] if have else 0, flush=True)
if have:
    sys.exit(0)
for step in range(1, 1000):
    os.makedirs(f'{root}/step-{step}')
    for name in FILES:
        open(f'{root}/step-{step}/{name}', 'w').write(str(step) * 1000)
    for old in sorted(os.listdir(root), key=lambda d: int(d.split('-')[1]) if '-' in d else 0)[:-3]:
        shutil.rmtree(f'{root}/{old}', ignore_errors=True)
    print('step', step, flush=True)
    time.sleep(1)
"""


@pytest.mark.timeout(180)
def test_a_program_that_saves_often_and_keeps_few_does_not_start_anew(engine, name):
    """It does not heed SIGTERM: of the newest directory nobody knows whether it was whole."""
    engine.script(name, ROTATING, **spot(engine, name))
    engine.wait_for_line(name, "step 12")
    engine.sabia("spot", "interrupt", name)
    seen = engine.wait(name, seconds=90)
    assert seen["TrainingJobStatus"] == "Completed", seen
    lines = engine.lines(name)
    last = max(int(line.split()[1]) for line in lines if line.startswith("step "))
    start = max(int(line.split()[2]) for line in lines if line.startswith("starts after"))
    assert last - 1 <= start <= last, lines
