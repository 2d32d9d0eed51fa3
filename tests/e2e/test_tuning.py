"""Hyperparameter tuning through boto3: real trials, every strategy, and kill -9 in between."""
import json
import re
import time
import zlib

import pytest
from botocore.exceptions import ClientError

from engine import ROLE, ROOT, XGBOOST_IMAGE

ENDED = ("Completed", "Failed", "Stopped")
LOSS = [{"Name": "loss", "Regex": "loss=([-0-9.e]+)"}]
# The objective is known exactly, so that a test knows which trial is the best.
SQUARE = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument('-x', type=float, default=0)
parser.add_argument('-n', type=int, default=0)
parser.add_argument('--kind', default='a')
args, _ = parser.parse_known_args()
print(f'loss={(args.x - 0.3) ** 2 + args.n}')
"""
RANGES = {"ContinuousParameterRanges": [{"Name": "x", "MinValue": "0", "MaxValue": "1"}],
          "IntegerParameterRanges": [{"Name": "n", "MinValue": "0", "MaxValue": "3"}]}


@pytest.fixture
def job(name):
    """A tuning job's name has at most 32 characters."""
    return f"t-{zlib.crc32(name.encode()):08x}"


def loss_of(tuned):
    return (float(tuned.get("x", 0)) - 0.3) ** 2 + int(tuned.get("n", 0))


def definition(engine, job, code, static=None, **changes):
    uri = engine.upload_code(job, {"train.py": code})
    out = {
        "AlgorithmSpecification": {"TrainingImage": "sabia/python:3", "TrainingInputMode": "File",
                                   "MetricDefinitions": LOSS},
        "RoleArn": ROLE,
        "OutputDataConfig": {"S3OutputPath": f"s3://{engine.bucket()}/out"},
        "ResourceConfig": {"InstanceCount": 1, "InstanceType": "ml.m5.large", "VolumeSizeInGB": 10},
        "StoppingCondition": {"MaxRuntimeInSeconds": 600},
        "StaticHyperParameters": {"sagemaker_program": json.dumps("train.py"),
                                  "sagemaker_submit_directory": json.dumps(uri), **(static or {})},
    }
    out.update(changes)
    return out


def config(trials=4, parallel=2, ranges=None, strategy="Random", limits=None, **changes):
    out = {
        "Strategy": strategy,
        "HyperParameterTuningJobObjective": {"Type": "Minimize", "MetricName": "loss"},
        "ResourceLimits": {"MaxParallelTrainingJobs": parallel, **(limits or {})},
        "ParameterRanges": RANGES if ranges is None else ranges,
        "RandomSeed": 1,
    }
    if trials is not None:
        out["ResourceLimits"]["MaxNumberOfTrainingJobs"] = trials
    out.update(changes)
    return out


def create(engine, job, made, settings, **more):
    engine.client("sagemaker").create_hyper_parameter_tuning_job(
        HyperParameterTuningJobName=job, HyperParameterTuningJobConfig=settings, TrainingJobDefinition=made, **more)
    return job


def describe(engine, job):
    return engine.client("sagemaker").describe_hyper_parameter_tuning_job(HyperParameterTuningJobName=job)


def wait(engine, job, until=ENDED, seconds=120):
    deadline = time.monotonic() + seconds
    while True:
        seen = describe(engine, job)
        if seen["HyperParameterTuningJobStatus"] in until:
            return seen
        assert time.monotonic() < deadline, f"{seen}\n{engine.tail()}"
        time.sleep(0.1)


def trials(engine, job, **filters):
    """All pages, by name: that is the order of creation."""
    pages = engine.client("sagemaker").get_paginator("list_training_jobs_for_hyper_parameter_tuning_job")
    return [t for page in pages.paginate(HyperParameterTuningJobName=job, **filters)
            for t in page["TrainingJobSummaries"]]


def value(trial):
    return trial["FinalHyperParameterTuningJobObjectiveMetric"]["Value"]


def wait_for_trials(engine, job, condition, seconds=60):
    deadline = time.monotonic() + seconds
    while True:
        seen = trials(engine, job)
        if condition(seen):
            return seen
        assert time.monotonic() < deadline, f"{seen}\n{engine.tail()}"
        time.sleep(0.1)


def test_a_search_tells_everything(engine, job):
    sagemaker = engine.client("sagemaker")
    made = definition(engine, job, SQUARE + "import os; print('greeting', os.environ['GREETING'])",
                      Environment={"GREETING": "hello"})
    create(engine, job, made, config(trials=5, parallel=2), Tags=[{"Key": "team", "Value": "ml"}])
    with pytest.raises(ClientError, match="already exists. Choose a different name"):
        create(engine, job, made, config())
    seen = wait(engine, job)
    assert seen["HyperParameterTuningJobStatus"] == "Completed", seen
    assert seen["TrainingJobStatusCounters"] == {"Completed": 5, "InProgress": 0, "RetryableError": 0,
                                                 "NonRetryableError": 0, "Stopped": 0}
    assert seen["ObjectiveStatusCounters"] == {"Succeeded": 5, "Pending": 0, "Failed": 0}
    assert seen["CreationTime"] <= seen["HyperParameterTuningEndTime"] <= seen["LastModifiedTime"]
    assert seen["ConsumedResources"]["RuntimeInSeconds"] >= 0
    assert seen["TrainingJobDefinition"]["StaticHyperParameters"]["_tuning_objective_metric"] == "loss"
    all_trials = trials(engine, job, MaxResults=2)
    assert len(all_trials) == 5
    for number, trial in enumerate(all_trials, 1):
        assert re.fullmatch(rf"{job}-{number:03}-[0-9a-f]{{8}}", trial["TrainingJobName"])
        assert trial["TrainingJobStatus"] == "Completed" and trial["ObjectiveStatus"] == "Succeeded"
        assert trial["TuningJobName"] == job
        tuned = trial["TunedHyperParameters"]
        assert set(tuned) == {"x", "n"} and 0 <= float(tuned["x"]) <= 1 and int(tuned["n"]) in range(4)
        assert value(trial) == pytest.approx(loss_of(tuned), rel=1e-9)
        child = engine.describe(trial["TrainingJobName"])
        assert child["TuningJobArn"] == seen["HyperParameterTuningJobArn"]
        assert child["HyperParameters"]["_tuning_objective_metric"] == "loss"
        assert {k: child["HyperParameters"][k] for k in tuned} == tuned
        assert "greeting hello" in engine.lines(trial["TrainingJobName"])
        assert sagemaker.list_tags(ResourceArn=child["TrainingJobArn"])["Tags"] == [{"Key": "team", "Value": "ml"}]
    best = min(all_trials, key=value)
    assert seen["BestTrainingJob"]["TrainingJobName"] == best["TrainingJobName"]
    assert value(seen["BestTrainingJob"]) == value(best)
    by_value = trials(engine, job, SortBy="FinalObjectiveMetricValue", MaxResults=2)
    assert by_value == sorted(all_trials, key=value)
    assert trials(engine, job, SortOrder="Descending") == all_trials[::-1]
    assert trials(engine, job, StatusEquals="Failed") == []
    listed = sagemaker.list_hyper_parameter_tuning_jobs(NameContains=job)["HyperParameterTuningJobSummaries"]
    assert [j["HyperParameterTuningJobName"] for j in listed] == [job]
    assert listed[0]["Strategy"] == "Random" and listed[0]["TrainingJobStatusCounters"]["Completed"] == 5


def test_explain_tells_why(engine, job):
    create(engine, job, definition(engine, job, SQUARE), config(trials=7, parallel=3, strategy="Bayesian"))
    wait(engine, job)
    account = json.loads(engine.sabia("tune", "explain", job, "--json").stdout)
    only = account["Definitions"][0]
    assert account["Status"] == "Completed" and only["MetricName"] == "loss" and len(only["Trials"]) == 7
    shares = {i["Name"]: i["Share"] for i in only["Importances"]}
    assert sum(shares.values()) == pytest.approx(1) and shares["n"] > shares["x"]
    for trial in only["Trials"]:
        assert trial["Reason"] and trial["ExpectedLow"] <= trial["Expected"] <= trial["ExpectedHigh"]
        assert trial["Objective"] == pytest.approx(loss_of(trial["TunedHyperParameters"]), rel=1e-9)
    text = engine.sabia("tune", "explain", job).stdout
    for word in (job, "Completed", "7 of 7 trials", "CHOSEN BECAUSE", "IMPORTANCE", "* the best: "):
        assert word in text, text
    assert "\x1b[" not in text
    assert re.search(rf"^{job} +Completed +Bayesian +7 of 7 ", engine.sabia("tune", "list").stdout, re.M)
    run = engine.sabia("tune", "explain", "nobody", check=False)
    assert run.returncode == 1 and "can't find a tuning job called nobody" in run.stderr


def test_a_grid_tries_every_combination_once(engine, job):
    ranges = {"CategoricalParameterRanges": [{"Name": "kind", "Values": ["\"a\"", "b c"]},
                                             {"Name": "n", "Values": ["0", "1", "2"]}]}
    create(engine, job, definition(engine, job, SQUARE),
           config(trials=None, parallel=3, strategy="Grid", ranges=ranges))
    seen = wait(engine, job)
    assert seen["HyperParameterTuningJobStatus"] == "Completed"
    tried = [(t["TunedHyperParameters"]["kind"], t["TunedHyperParameters"]["n"]) for t in trials(engine, job)]
    assert sorted(tried) == [(k, n) for k in ("\"a\"", "b c") for n in "012"]
    assert seen["BestTrainingJob"]["TunedHyperParameters"]["n"] == "0"


def test_xgboost_on_real_data(engine, job):
    for name, files in {"train": ("abalone.train_0", "abalone.train_1"), "validation": ("abalone.validation",)}.items():
        for file in files:
            engine.client("s3").upload_file(str(ROOT / "examples/data/abalone" / file), engine.bucket(),
                                            f"{job}/{name}/{file}")
    channels = [{"ChannelName": name, "ContentType": "text/libsvm", "DataSource": {"S3DataSource": {
        "S3DataType": "S3Prefix", "S3Uri": f"s3://{engine.bucket()}/{job}/{name}/"}}} for name in ("train", "validation")]
    made = definition(engine, job, "", AlgorithmSpecification={"TrainingImage": XGBOOST_IMAGE,
                                                               "TrainingInputMode": "File"},
                      InputDataConfig=channels, StaticHyperParameters={"num_round": "20", "nthread": "1"})
    ranges = {"ContinuousParameterRanges": [{"Name": "eta", "MinValue": "0.01", "MaxValue": "0.5",
                                             "ScalingType": "Logarithmic"}],
              "IntegerParameterRanges": [{"Name": "max_depth", "MinValue": "1", "MaxValue": "8"}]}
    create(engine, job, made, config(
        trials=8, parallel=2, ranges=ranges, strategy="Bayesian",
        HyperParameterTuningJobObjective={"Type": "Minimize", "MetricName": "validation:rmse"}))
    seen = wait(engine, job)
    assert seen["HyperParameterTuningJobStatus"] == "Completed", seen
    names = [m["Name"] for m in seen["TrainingJobDefinition"]["AlgorithmSpecification"]["MetricDefinitions"]]
    assert "validation:rmse" in names
    values = sorted(value(t) for t in trials(engine, job))
    assert len(values) == 8 and value(seen["BestTrainingJob"]) == values[0] < 2.6 < values[-1]
    best = engine.describe(seen["BestTrainingJob"]["TrainingJobName"])
    assert list(engine.artifact(best["ModelArtifacts"]["S3ModelArtifacts"])) == ["xgboost-model"]
    final = {m["MetricName"]: m["Value"] for m in best["FinalMetricDataList"]}
    assert final["validation:rmse"] == pytest.approx(values[0], rel=1e-6)


# A curve that falls to x: what a trial is worth shows from its first epoch.
CURVE = """
import argparse, os, time
parser = argparse.ArgumentParser()
parser.add_argument('-x', type=float)
args, _ = parser.parse_known_args()
number = int(os.environ['TRAINING_JOB_NAME'].split('-')[-2])
for epoch in range(1, 1 + (SHORT if number <= 3 else 6000)):
    print(f'loss={args.x + 1 / epoch}', flush=True)
    time.sleep(0.1)
"""
ONE = {"ContinuousParameterRanges": [{"Name": "x", "MinValue": "0", "MaxValue": "10", "ScalingType": "Linear"}]}


def stops(engine, job):
    """Why each trial was stopped, by number; None: it was not."""
    account = json.loads(engine.sabia("tune", "explain", job, "--json").stdout)["Definitions"][0]
    return [t.get("Stop") for t in account["Trials"]]


def test_early_stopping_stops_what_is_worse_than_the_median(engine, job):
    """Three trials end by themselves; the fourth, which is worse than two of them, would not."""
    create(engine, job, definition(engine, job, CURVE.replace("SHORT", "5")),
           config(trials=4, parallel=1, ranges=ONE, TrainingJobEarlyStoppingType="Auto", RandomSeed=2))
    seen = wait(engine, job)
    assert seen["HyperParameterTuningJobStatus"] == "Completed", seen
    all_trials = trials(engine, job)
    xs = [float(t["TunedHyperParameters"]["x"]) for t in all_trials]
    assert xs[3] > sorted(xs[:3])[1], "choose another seed"
    assert [t["TrainingJobStatus"] for t in all_trials] == ["Completed"] * 3 + ["Stopped"]
    assert seen["TrainingJobStatusCounters"]["Stopped"] == 1
    assert all(t["ObjectiveStatus"] == "Succeeded" for t in all_trials), "what a stopped trial said counts"
    assert stops(engine, job)[:3] == [None] * 3 and "is worse than the median" in stops(engine, job)[3]


def test_hyperband_stops_what_does_badly_and_what_is_done(engine, job):
    """No trial ends by itself, so each is stopped: at a rung, or when it has had all of MaxResource."""
    create(engine, job, definition(engine, job, CURVE.replace("SHORT", "6000"), static={"epochs": "9"}),
           config(trials=9, parallel=3, ranges=ONE, strategy="Hyperband"))
    seen = wait(engine, job, seconds=200)
    assert seen["HyperParameterTuningJobStatus"] == "Completed", seen
    assert seen["TrainingJobStatusCounters"]["Stopped"] == 9
    why = stops(engine, job)
    assert any("not among the best" in reason for reason in why), why
    xs = [float(t["TunedHyperParameters"]["x"]) for t in trials(engine, job)]
    assert why[xs.index(min(xs))] == "MaxResource 9 is reached", "the best is among the best at every rung"


def test_a_target_ends_the_search(engine, job):
    create(engine, job, definition(engine, job, SQUARE),
           config(trials=30, parallel=1, TuningJobCompletionCriteria={"TargetObjectiveMetricValue": 2.5}))
    seen = wait(engine, job)
    assert seen["HyperParameterTuningJobStatus"] == "Completed"
    all_trials = trials(engine, job)
    assert len(all_trials) < 30 and value(all_trials[-1]) <= 2.5
    assert all(value(t) > 2.5 for t in all_trials[:-1])


@pytest.mark.parametrize("kind", ["IdenticalDataAndAlgorithm", "TransferLearning"])
def test_warm_start_learns_from_a_parent(engine, job, kind):
    made = definition(engine, job, SQUARE)
    parent = create(engine, job + "-p", made, config(trials=5, parallel=3))
    warm = {"WarmStartType": kind, "ParentHyperParameterTuningJobs": [{"HyperParameterTuningJobName": parent}]}
    wait(engine, parent)
    create(engine, job, made, config(trials=3, parallel=1, strategy="Bayesian"), WarmStartConfig=warm)
    seen = wait(engine, job)
    assert seen["HyperParameterTuningJobStatus"] == "Completed", seen
    ours, theirs = trials(engine, job), trials(engine, parent)
    assert len(ours) == 3
    if kind == "TransferLearning":
        assert "OverallBestTrainingJob" not in seen
        best = min(theirs, key=value)["TunedHyperParameters"]
        assert best in [t["TunedHyperParameters"] for t in ours], "the parent's best is tried first"
    else:
        best = min(ours + theirs, key=value)
        assert seen["OverallBestTrainingJob"]["TrainingJobName"] == best["TrainingJobName"]
        assert not [t for t in ours if t["TunedHyperParameters"] in [p["TunedHyperParameters"] for p in theirs]]


def test_trials_on_spot_go_on_after_an_interruption(engine, job):
    code = SQUARE + """
import os, time
restored = os.listdir('/opt/ml/checkpoints')
print('up', restored, flush=True)
if not restored:
    open('/opt/ml/checkpoints/c', 'w').write('1')
    print('written', flush=True)
    time.sleep(600)
"""
    made = definition(engine, job, code, EnableManagedSpotTraining=True,
                      StoppingCondition={"MaxRuntimeInSeconds": 600, "MaxWaitTimeInSeconds": 1200},
                      CheckpointConfig={"S3Uri": f"s3://{engine.bucket()}/{job}/checkpoints"})
    create(engine, job, made, config(trials=2, parallel=2))
    for trial in wait_for_trials(engine, job, lambda seen: len(seen) == 2):
        engine.wait_for_line(trial["TrainingJobName"], "written")
        engine.sabia("spot", "interrupt", trial["TrainingJobName"])
    seen = wait(engine, job)
    assert seen["TrainingJobStatusCounters"]["Completed"] == 2, seen
    assert seen["ObjectiveStatusCounters"]["Succeeded"] == 2, seen
    uris = set()
    for trial in trials(engine, job):
        child = engine.describe(trial["TrainingJobName"])
        assert child["EnableManagedSpotTraining"] is True and child["BillableTimeInSeconds"] >= 1
        assert "Interrupted" in [t["Status"] for t in child["SecondaryStatusTransitions"]]
        assert "up ['c']" in engine.lines(trial["TrainingJobName"])
        uris.add(child["CheckpointConfig"]["S3Uri"])
    assert len(uris) == 2, "trials do not share checkpoints"


def test_failed_and_silent_trials_are_counted_by_cause(engine, job):
    code = """
import sys
kind = sys.argv[sys.argv.index('--kind') + 1]
if kind == 'bad':
    raise ValueError('deliberate trouble')
if kind != 'silent':
    print('loss=' + str(len(kind)))
"""
    ranges = {"CategoricalParameterRanges": [{"Name": "kind", "Values": ["bad", "silent", "good", "g"]},
                                             {"Name": "again", "Values": ["1", "2"]}]}
    create(engine, job, definition(engine, job, code),
           config(trials=8, parallel=2, strategy="Grid", ranges=ranges))
    seen = wait(engine, job)
    assert seen["HyperParameterTuningJobStatus"] == "Completed", seen
    assert seen["TrainingJobStatusCounters"]["NonRetryableError"] == 2
    assert seen["TrainingJobStatusCounters"]["Completed"] == 6
    assert seen["ObjectiveStatusCounters"] == {"Succeeded": 4, "Pending": 0, "Failed": 4}
    assert seen["BestTrainingJob"]["TunedHyperParameters"]["kind"] == "g"
    by_kind = {t["TunedHyperParameters"]["kind"]: t for t in trials(engine, job)}
    assert by_kind["bad"]["TrainingJobStatus"] == "Failed"
    assert "deliberate trouble" in by_kind["bad"]["FailureReason"]
    assert by_kind["silent"]["ObjectiveStatus"] == "Failed"
    assert "FinalHyperParameterTuningJobObjectiveMetric" not in by_kind["silent"]
    assert len(trials(engine, job, SortBy="FinalObjectiveMetricValue")) == 4
    account = json.loads(engine.sabia("tune", "explain", job, "--json").stdout)["Definitions"][0]
    assert account["WithoutMetric"] == 2 and len(account["Failures"]) == 1, account
    assert "deliberate trouble" in account["Failures"][0]["Failure"] and len(account["Failures"][0]["Trials"]) == 2
    text = engine.sabia("tune", "explain", job).stdout
    assert "deliberate trouble" in text and "2 trials ended without a value of loss" in text


def test_a_search_in_which_nothing_succeeds_fails(engine, job):
    create(engine, job, definition(engine, job, "raise ValueError('deliberate trouble')"),
           config(trials=20, parallel=1))
    seen = wait(engine, job)
    assert seen["HyperParameterTuningJobStatus"] == "Failed"
    assert seen["FailureReason"].startswith(
        "No training job succeeded after 5 attempts. Please take a look at the training job failures to get more "
        "details."), seen["FailureReason"]
    assert "deliberate trouble" in seen["FailureReason"]
    assert len(trials(engine, job)) == 5


def test_several_definitions_share_a_search(engine, job):
    sagemaker = engine.client("sagemaker")
    made = []
    for name, offset in (("near", 0), ("far", 5)):
        one = definition(engine, f"{job}-{name}", SQUARE.replace("+ args.n", f"+ args.n + {offset}"))
        one.update(DefinitionName=name, HyperParameterRanges=RANGES,
                   TuningObjective={"Type": "Minimize", "MetricName": "loss"})
        made.append(one)
    settings = config(trials=4, parallel=2, strategy="Bayesian")
    del settings["ParameterRanges"], settings["HyperParameterTuningJobObjective"]
    sagemaker.create_hyper_parameter_tuning_job(HyperParameterTuningJobName=job, HyperParameterTuningJobConfig=settings,
                                                TrainingJobDefinitions=made)
    seen = wait(engine, job)
    names = [t["TrainingJobDefinitionName"] for t in trials(engine, job)]
    assert sorted(names) == ["far", "far", "near", "near"]
    assert seen["BestTrainingJob"]["TrainingJobDefinitionName"] == "near"
    assert "definition far:" in engine.sabia("tune", "explain", job).stdout


def test_stop_and_delete(engine, job):
    sagemaker = engine.client("sagemaker")
    made = definition(engine, job, SQUARE + "import time; print('up', flush=True); time.sleep(600)")
    create(engine, job, made, config(trials=20, parallel=2))
    with pytest.raises(ClientError, match=f"Parent tuning job '{job}' is in status InProgress"):
        create(engine, job + "-c", made, config(), WarmStartConfig={
            "WarmStartType": "TransferLearning", "ParentHyperParameterTuningJobs": [{"HyperParameterTuningJobName": job}]})
    running = wait_for_trials(engine, job, lambda seen: len(seen) == 2)
    for trial in running:
        engine.wait_for_line(trial["TrainingJobName"], "up")
    with pytest.raises(ClientError, match="not in a terminal state"):
        sagemaker.delete_hyper_parameter_tuning_job(HyperParameterTuningJobName=job)
    sagemaker.stop_hyper_parameter_tuning_job(HyperParameterTuningJobName=job)
    assert describe(engine, job)["HyperParameterTuningJobStatus"] in ("Stopping", "Stopped")
    seen = wait(engine, job)
    assert seen["HyperParameterTuningJobStatus"] == "Stopped"
    assert seen["TrainingJobStatusCounters"]["Stopped"] == 2 and seen["TrainingJobStatusCounters"]["InProgress"] == 0
    assert value(seen["BestTrainingJob"]) == min(value(t) for t in trials(engine, job)), "what they said counts"
    with pytest.raises(ClientError, match="already in status Stopped"):
        sagemaker.stop_hyper_parameter_tuning_job(HyperParameterTuningJobName=job)
    sagemaker.delete_hyper_parameter_tuning_job(HyperParameterTuningJobName=job)
    with pytest.raises(sagemaker.exceptions.ResourceNotFound, match=f"can't find a tuning job called {job}"):
        sagemaker.describe_hyper_parameter_tuning_job(HyperParameterTuningJobName=job)
    assert engine.describe(running[0]["TrainingJobName"])["TrainingJobStatus"] == "Stopped", "training jobs stay"


def test_refusals_name_what_is_wrong(engine, job):
    made = definition(engine, job, SQUARE)
    bad = {"ContinuousParameterRanges": [{"Name": "x", "MinValue": "0", "MaxValue": "1", "ScalingType": "Logarithmic"}]}
    with pytest.raises(ClientError, match="parameter 'x': Logarithmic scaling needs a minimum above 0, not 0"):
        create(engine, job, made, config(ranges=bad))
    made["AlgorithmSpecification"].pop("MetricDefinitions")
    with pytest.raises(ClientError, match="Provide a metric in the metric definitions"):
        create(engine, job, made, config())
    with pytest.raises(ClientError, match="can't find a tuning job called"):
        describe(engine, job)


# kill -9 ---------------------------------------------------------------------------------------------------------

TRIALS = 40


def search_under_kills(engine, job, parallel, every=None):
    """The trials of a whole search, in which the daemon is killed again and again `every` so many seconds."""
    code = SQUARE + f"import time; time.sleep({0.2 * parallel})"  # long enough for some kills
    create(engine, job, definition(engine, job, code), config(trials=TRIALS, parallel=parallel, strategy="Bayesian"))
    kills = 0
    deadline = time.monotonic() + 240
    sagemaker, endpoint = engine.client("sagemaker"), engine.endpoint()
    seen = {"HyperParameterTuningJobStatus": "InProgress"}
    while seen["HyperParameterTuningJobStatus"] not in ENDED:
        assert time.monotonic() < deadline, f"{seen}\n{engine.tail()}"
        time.sleep(every or 0.2)
        if every:
            engine.kill()
            engine.start()
            kills += 1
        if engine.endpoint() != endpoint:  # its port was taken meanwhile
            sagemaker, endpoint = engine.client("sagemaker"), engine.endpoint()
        seen = sagemaker.describe_hyper_parameter_tuning_job(HyperParameterTuningJobName=job)
    assert seen["HyperParameterTuningJobStatus"] == "Completed", seen
    assert seen["TrainingJobStatusCounters"] == {"Completed": TRIALS, "InProgress": 0, "RetryableError": 0,
                                                 "NonRetryableError": 0, "Stopped": 0}
    all_trials = trials(engine, job, MaxResults=100)
    assert [t["TrainingJobName"][:-9] for t in all_trials] == [f"{job}-{n:03}" for n in range(1, TRIALS + 1)]
    mine = engine.client("sagemaker").get_paginator("list_training_jobs").paginate(NameContains=job)
    children = [j for page in mine for j in page["TrainingJobSummaries"]]
    assert len(children) == TRIALS and all(j["TrainingJobStatus"] == "Completed" for j in children)
    return all_trials, kills


@pytest.mark.timeout(600)
def test_a_killed_daemon_suggests_what_an_undisturbed_one_would(fresh_engine, job):
    engine = fresh_engine()
    calm, _ = search_under_kills(engine, f"{job}-calm", parallel=1)
    killed, kills = search_under_kills(engine, f"{job}-hard", parallel=1, every=0.3)
    assert kills >= 3
    assert [t["TunedHyperParameters"] for t in killed] == [t["TunedHyperParameters"] for t in calm]
    assert [value(t) for t in killed] == [value(t) for t in calm]


@pytest.mark.timeout(400)
def test_kills_lose_and_repeat_no_trial_of_a_parallel_search(fresh_engine, job):
    engine = fresh_engine()
    all_trials, kills = search_under_kills(engine, job, parallel=4, every=0.2)
    assert kills >= 2
    tried = [tuple(t["TunedHyperParameters"].items()) for t in all_trials]
    assert len(set(tried)) == TRIALS, "no configuration is tried twice"
