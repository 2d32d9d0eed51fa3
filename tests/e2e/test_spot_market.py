"""Spot markets, deadlines and the machine's own spot notices."""
import datetime
import http.server
import json
import subprocess
import threading
import time

import pytest

# Ends when it has been started twice with its checkpoint.
UNTIL_RESUMED = """
import os, signal, sys, time
path = '/opt/ml/checkpoints/starts'
starts = (int(open(path).read()) if os.path.exists(path) else 0) + 1
with open(path + '.tmp', 'w') as f: f.write(str(starts))
os.replace(path + '.tmp', path)
print('start', starts, flush=True)
while starts < 2: time.sleep(0.05)
open('/opt/ml/model/starts', 'w').write(str(starts))
"""


def spot(engine, name, **changes):
    return {"EnableManagedSpotTraining": True,
            "CheckpointConfig": {"S3Uri": f"s3://{engine.bucket()}/{name}/checkpoints"},
            "StoppingCondition": {"MaxRuntimeInSeconds": 600, "MaxWaitTimeInSeconds": 1200}, **changes}


def limits(run, wait):
    return {"MaxRuntimeInSeconds": run, "MaxWaitTimeInSeconds": wait}


def tags(policy, expected=None):
    out = [{"Key": "sabia:deadline-policy", "Value": policy}]
    return out + ([{"Key": "sabia:expected-runtime", "Value": str(expected)}] if expected else [])


def moment(seconds):
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return at.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def record(engine, name):
    return json.loads(engine.sabia("jobs", name, "--json").stdout)


def market_file(tmp_path, outages, zones=("us-west-2a",)):
    """A market whose zones have capacity but for the outages: {zone: [(from, until), ...]}."""
    markets = [{"kind": "schedule", "zone": zone,
                "outages": [{"from": a, "until": b} for a, b in outages.get(zone, [])]} for zone in zones]
    path = tmp_path / "market.json"
    path.write_text(json.dumps({"zones": list(zones), "markets": markets}))
    return str(path)


def repeating_market(tmp_path, up, down):
    """Capacity is there for `up` seconds and away for `down`, over and over; returns the file and when it began."""
    begin = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
    (tmp_path / "trace.json").write_text(json.dumps(
        {"metadata": {"gap_seconds": 1}, "data": [1] * up + [0] * down}))
    path = tmp_path / "market.json"
    path.write_text(json.dumps({"zones": ["us-west-2a"], "begin": begin.strftime("%Y-%m-%dT%H:%M:%SZ"), "markets": [
        {"kind": "trace", "file": "trace.json"}]}))
    return str(path), begin.timestamp()


NEVER = ("2001-01-01T00:00:00Z", "2201-01-01T00:00:00Z")


def statuses(seen):
    return [t["Status"] for t in seen["SecondaryStatusTransitions"]]


def test_a_poisson_market_interrupts_a_job_that_resumes(fresh_engine, name):
    engine = fresh_engine("--spot-market", "poisson:mtbf=4s,return=1s,seed=3,zones=2", "--spot-notice-seconds", "1")
    engine.script(name, UNTIL_RESUMED, **spot(engine, name))
    seen = engine.wait(name, seconds=120)
    assert seen["TrainingJobStatus"] == "Completed", seen
    assert statuses(seen).count("Interrupted") >= 1
    assert int(engine.artifact(seen["ModelArtifacts"]["S3ModelArtifacts"])["starts"]) >= 2
    attempts = record(engine, name)["attempts"]
    assert all(a["spot"] and a["zone"] in ("us-west-2a", "us-west-2b") for a in attempts), attempts
    assert attempts[-1]["end_reason"] == "completed" and attempts[0]["end_reason"] == "interrupted"
    text = engine.sabia("spot", "market", "ml.m5.large").stdout
    assert "us-west-2a" in text and "poisson" in text and "us-west-2c" not in text


def test_a_market_interrupts_an_attempt_once_even_when_the_daemon_dies(fresh_engine, name, tmp_path):
    market, begin = repeating_market(tmp_path, up=12, down=3)
    engine = fresh_engine("--spot-market", market, "--spot-notice-seconds", "1")
    engine.script(name, UNTIL_RESUMED, **spot(engine, name))
    engine.wait_for_line(name, "start 1")
    engine.kill()
    engine.start()
    seen = engine.wait(name)
    assert seen["TrainingJobStatus"] == "Completed"
    attempts = record(engine, name)["attempts"]
    reasons = [a["end_reason"] for a in attempts]
    assert reasons == ["interrupted"] * (len(attempts) - 1) + ["completed"] and len(attempts) >= 2
    assert statuses(seen).count("Interrupted") == len(attempts) - 1
    for attempt in attempts:
        assert (attempt["launched"] / 1000 - begin) % 15 < 12, "launched without capacity"
    assert all(a["ended"] <= b["launched"] for a, b in zip(attempts, attempts[1:]))


def test_without_capacity_a_job_waits_until_max_wait(fresh_engine, name, tmp_path):
    engine = fresh_engine("--spot-market", market_file(tmp_path, {"us-west-2a": [NEVER]}))
    engine.script(name, "print('never')", **spot(engine, name, StoppingCondition=limits(2, 4)))
    deadline = time.monotonic() + 20
    message = ""
    while "no spot capacity" not in message and time.monotonic() < deadline:
        message = engine.describe(name)["SecondaryStatusTransitions"][0]["StatusMessage"]
        time.sleep(0.05)
    assert "there is no spot capacity for 1 x ml.m5.large in us-west-2a" in message
    seen = engine.wait(name, seconds=20)
    assert (seen["TrainingJobStatus"], seen["SecondaryStatus"]) == ("Stopped", "MaxWaitTimeExceeded")
    assert statuses(seen) == ["Starting", "Stopping", "MaxWaitTimeExceeded"]
    assert "BillableTimeInSeconds" not in seen
    assert record(engine, name)["attempts"] == []


def test_a_waiting_spot_job_does_not_block_others(fresh_engine, name, tmp_path):
    engine = fresh_engine("--spot-market", market_file(tmp_path, {"us-west-2a": [NEVER]}))
    engine.script(name, "print('ran')", **spot(engine, name))
    engine.script(name + "-od", "print('ran')")
    assert engine.wait(name + "-od")["TrainingJobStatus"] == "Completed"
    assert engine.describe(name)["SecondaryStatus"] == "Starting"
    engine.client("sagemaker").stop_training_job(TrainingJobName=name)
    assert engine.wait(name)["SecondaryStatus"] == "Stopped"


@pytest.mark.parametrize("policy", ["planner", "uniform-progress", "greedy"])
def test_a_deadline_is_met_on_demand_when_spot_never_comes(fresh_engine, name, tmp_path, policy):
    engine = fresh_engine("--spot-market", market_file(tmp_path, {"us-west-2a": [NEVER]}),
                          "--spot-notice-seconds", "1")
    engine.script(name, "import time; time.sleep(1)",
                  **spot(engine, name, StoppingCondition=limits(3, 15), Tags=tags(policy)))
    seen = engine.wait(name)
    assert seen["TrainingJobStatus"] == "Completed", seen
    assert (seen["TrainingEndTime"] - seen["CreationTime"]).total_seconds() <= 15
    attempt, = record(engine, name)["attempts"]
    assert not attempt["spot"] and attempt["choice"].startswith(policy + ": on-demand")
    assert policy + ": on-demand" in engine.sabia("jobs", name).stdout
    cost = json.loads(engine.sabia("cost", name, "--json").stdout)
    assert cost["BilledUsd"] == cost["OnDemandUsd"]


def test_a_deadline_job_goes_from_spot_to_on_demand_with_its_checkpoint(fresh_engine, name, tmp_path):
    engine = fresh_engine("--spot-notice-seconds", "1")
    # It saves nothing any more: what it does is lost by a reclaim, until spot is no risk to take.
    engine.script(name, UNTIL_RESUMED,
                  **spot(engine, name, StoppingCondition=limits(60, 60), Tags=tags("planner", 20)))
    seen = engine.wait(name, seconds=90)
    assert seen["TrainingJobStatus"] == "Completed", seen
    assert "Leaving spot capacity for the sake of the deadline" in json.dumps(seen, default=str)
    attempts = record(engine, name)["attempts"]
    assert [a["spot"] for a in attempts] == [True, False], attempts
    assert attempts[0]["end_reason"] == "moved" and attempts[0]["choice"].startswith("planner: spot")
    assert "start 2" in engine.lines(name)
    run = engine.sabia("spot", "interrupt", name, check=False)
    assert run.returncode == 1


def test_deadline_tags_are_checked_at_create(engine, name):
    from botocore.exceptions import ClientError

    def refusal(**changes):
        with pytest.raises(ClientError) as error:
            engine.script(name, "print()", **{**spot(engine, name), **changes})
        assert error.value.response["Error"]["Code"] == "ValidationException"
        return error.value.response["Error"]["Message"]

    assert "'sabia:deadline-policy' is 'cheapest': planner, uniform-progress or greedy" in refusal(
        Tags=tags("cheapest"))
    assert "'sabia:expected-runtime' is '1h'" in refusal(Tags=tags("planner", "1h"))
    assert "needs EnableManagedSpotTraining" in refusal(
        Tags=tags("planner"), EnableManagedSpotTraining=False, StoppingCondition={"MaxRuntimeInSeconds": 9})


@pytest.mark.parametrize("setting,wrong", [
    ("poisson:mtbf=2", "mtbf is '2'"),
    ("poisson:mtbf=2h,zones=99", "zones is '99'"),
    ("no-such-file", "no-such-file"),
])
def test_a_market_that_makes_no_sense_is_refused_at_start(binary, tmp_path, setting, wrong):
    run = subprocess.run([binary, "--home", tmp_path / "home", "serve", "--port", "0", "--tls-port", "0",
                          "--spot-market", setting], capture_output=True, text=True, timeout=60)
    assert run.returncode == 1 and "--spot-market" in run.stderr and wrong in run.stderr, run.stderr
    assert not (tmp_path / "home").exists()


def test_stopping_during_a_notice_shows_at_once_and_keeps_the_artifacts(engine, name):
    engine.script(name, """
import signal, sys, time
def leave(*_):
    print('asked to leave', flush=True)
    time.sleep(20)
    open('/opt/ml/model/saved', 'w').write('yes')
    sys.exit(0)
signal.signal(signal.SIGTERM, leave)
print('running', flush=True)
time.sleep(600)
""", **spot(engine, name))
    engine.wait_for_line(name, "running")
    sagemaker = engine.client("sagemaker")
    engine.sabia("spot", "interrupt", name)
    engine.wait(name, until=("Interrupted",))
    sagemaker.stop_training_job(TrainingJobName=name)
    assert engine.wait(name, until=("Stopping",))["TrainingJobStatus"] == "Stopping"
    seen = engine.wait(name)
    assert seen["SecondaryStatus"] == "Stopped"
    assert statuses(seen)[-3:] == ["Interrupted", "Stopping", "Stopped"]
    assert engine.artifact(seen["ModelArtifacts"]["S3ModelArtifacts"]) == {"saved": b"yes"}


class Metadata(http.server.BaseHTTPRequestHandler):
    """The metadata service of an EC2 spot instance, IMDSv2 only."""
    notice = None

    def do_PUT(self):
        ok = self.path == "/latest/api/token" and self.headers["X-aws-ec2-metadata-token-ttl-seconds"]
        self.answer(200 if ok else 400, b"secret-token")

    def do_GET(self):
        if self.headers["X-aws-ec2-metadata-token"] != "secret-token":
            return self.answer(401)
        if self.path == "/latest/meta-data/spot/instance-action" and Metadata.notice:
            return self.answer(200, json.dumps(Metadata.notice).encode())
        return self.answer(404)

    def answer(self, status, body=b""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_the_spot_notice_of_the_machine_itself_is_obeyed(fresh_engine, name):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Metadata)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Metadata.notice = None
    try:
        engine = fresh_engine("--imds", f"http://127.0.0.1:{server.server_port}")
        engine.script(name, UNTIL_RESUMED, **spot(engine, name))
        engine.script(name + "-od", "import time; print('running', flush=True); time.sleep(600)")
        engine.wait_for_line(name, "start 1")
        engine.wait_for_line(name + "-od", "running")
        Metadata.notice = {"action": "terminate", "time": moment(5)}
        # Nothing is placed on the machine before it is gone; it came back, and a notice that is over is none.
        seen = engine.wait(name)
        assert statuses(seen).count("Interrupted") == 1
        assert seen["TrainingJobStatus"] == "Completed", seen
        attempts = record(engine, name)["attempts"]
        assert [a["end_reason"] for a in attempts] == ["interrupted", "completed"]
        assert attempts[1]["launched"] >= attempts[0]["gone"]
        assert "its metadata said 'terminate'" in engine.sabia("jobs", name).stdout
        assert engine.describe(name + "-od")["SecondaryStatus"] == "Training"
    finally:
        server.shutdown()
        server.server_close()


CHECKED = """
import os, signal, sys, time
path = '/opt/ml/checkpoints/count'
start = int(open(path).read()) if os.path.exists(path) else 0
for count in range(start + 1, 41):
    with open(path + '.tmp', 'w') as f: f.write(str(count))
    os.replace(path + '.tmp', path)
    print('count', count, flush=True)
    time.sleep(0.1)
open('/opt/ml/model/count', 'w').write(str(count))
"""
FORGETFUL = """
import os, time
open('/opt/ml/checkpoints/note', 'w').write('x')
for count in range(1, 41):
    print('count', count, flush=True)
    time.sleep(0.1)
open('/opt/ml/model/time', 'w').write(str(time.time()))
"""


def test_spot_check_tells_whether_a_program_resumes(engine, name, tmp_path):
    engine.script(name, CHECKED)
    assert engine.wait(name)["TrainingJobStatus"] == "Completed"
    out = json.loads(engine.sabia("spot", "check", name, "--json").stdout)
    assert out["Resumes"] and out["ResultsEqual"], out
    assert out["Attempts"] == 2 and out["Restored"].startswith("restored 1 checkpoint file")
    assert not out["SigtermHandled"] and "does not handle" in out["Sigterm"]
    script = tmp_path / "train.py"
    script.write_text(FORGETFUL)
    run = engine.sabia("spot", "check", str(script), "--bucket", engine.bucket())
    assert "does not handle" in run.stdout and "lines of its log came again" in run.stdout
    assert "count 1\n" in run.stdout and "differ from" in run.stdout
    run = engine.sabia("spot", "check", "no-such-job", check=False)
    assert run.returncode == 1 and "no-such-job" in run.stderr
