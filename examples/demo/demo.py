"""Trains the built-in XGBoost on Abalone on spot capacity, through an interruption, and predicts with the model.

Only the public API and stock boto3: what works here works for any client that has run eval "$(sabia env)".
Usage: demo.py SABIA HOME OUTPUT (examples/demo/demo.sh starts the engine and calls this).
"""
import collections
import json
import math
import os
import pathlib
import subprocess
import sys
import tarfile
import time

import boto3

SABIA, HOME, OUTPUT = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
ABALONE = pathlib.Path(__file__).resolve().parent.parent / "data/abalone"
REGION = os.environ["AWS_REGION"]
BUCKET = "sagemaker-demo"
IMAGE = f"246618743249.dkr.ecr.{REGION}.amazonaws.com/sagemaker-xgboost:1.7-1"
ROLE = "arn:aws:iam::123456789012:role/SageMakerRole"
LOG_GROUP = "/aws/sagemaker/TrainingJobs"
ROUNDS = 600
INTERRUPT_AT = 60  # early enough that most of the training is still to come
TRIES = 4
WAIT_SECONDS = 600
COLOR = sys.stdout.isatty() and "NO_COLOR" not in os.environ
SEXES = {"M": "1", "F": "2", "I": "3"}  # as the libsvm form of the data set codes them


def paint(code, text):
    return f"\033[{code}m{text}\033[0m" if COLOR else text


def say(text=""):
    print(text, flush=True)


def head(text):
    say("\n" + paint("1", text))


def client(service):
    # Named, because the boto3 of Debian 12 does not read AWS_ENDPOINT_URL yet.
    return boto3.client(service, endpoint_url=os.environ["AWS_ENDPOINT_URL"])


def sabia(*arguments):
    run = subprocess.run([SABIA, "--home", HOME, *arguments], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"sabia {' '.join(arguments)}: {run.stderr or run.stdout}")
    return run.stdout


def upload(s3):
    head("1. Data")
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    for channel, names in (("train", ("abalone.train_0", "abalone.train_1")), ("validation", ("abalone.validation",))):
        for name in names:
            key = f"abalone/{channel}/{name}"
            s3.upload_file(str(ABALONE / name), BUCKET, key)
            rows = (ABALONE / name).read_text().count("\n")
            say(f"   s3://{BUCKET}/{key}  {rows} rows")


def channel(name):
    return {
        "ChannelName": name,
        "ContentType": "text/libsvm",
        "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": f"s3://{BUCKET}/abalone/{name}/",
                                        "S3DataDistributionType": "FullyReplicated"}},
    }


def create(sagemaker, job, rounds):
    head("2. A training job on managed spot capacity")
    values = {"num_round": rounds, "objective": "reg:squarederror", "eval_metric": "rmse", "eta": 0.02, "max_depth": 5,
              "min_child_weight": 6, "gamma": 4, "subsample": 0.7}
    sagemaker.create_training_job(
        TrainingJobName=job,
        RoleArn=ROLE,
        AlgorithmSpecification={"TrainingImage": IMAGE, "TrainingInputMode": "File"},
        HyperParameters={key: str(value) for key, value in values.items()},
        InputDataConfig=[channel("train"), channel("validation")],
        OutputDataConfig={"S3OutputPath": f"s3://{BUCKET}/models"},
        ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10},
        EnableManagedSpotTraining=True,
        CheckpointConfig={"S3Uri": f"s3://{BUCKET}/checkpoints/{job}/"},
        StoppingCondition={"MaxRuntimeInSeconds": 600, "MaxWaitTimeInSeconds": 1200})
    say(f"   {job}: {IMAGE.split('/')[1]}, {rounds} rounds, ml.m5.large, checkpoints in S3")


class Log:
    """The job's log lines, each once, whatever number of streams its attempts have."""

    def __init__(self, logs, job):
        self.logs, self.job, self.tokens, self.round = logs, job, {}, -1

    def streams(self):
        try:
            found = self.logs.describe_log_streams(logGroupName=LOG_GROUP, logStreamNamePrefix=self.job + "/")
        except self.logs.exceptions.ResourceNotFoundException:
            return []
        return [stream["logStreamName"] for stream in found["logStreams"]]

    def new_lines(self):
        lines = []
        for stream in self.streams():
            while True:
                token = {"nextToken": self.tokens[stream]} if stream in self.tokens else {}
                page = self.logs.get_log_events(logGroupName=LOG_GROUP, logStreamName=stream, startFromHead=True,
                                                **token)
                self.tokens[stream] = page["nextForwardToken"]
                if not page["events"]:
                    break
                lines += [event["message"] for event in page["events"]]
        return lines

    def show(self, every):
        for line in self.new_lines():
            mark = line.partition("]")[0][1:]
            if line.startswith("[") and mark.isdigit():
                self.round = int(mark)
                if self.round % every == 0:
                    say("   " + line.replace("\t", "  "))
            elif "INFO] " in line and ("matrix" in line or "esum" in line):
                say("   " + paint("2", line.split("INFO] ")[1]))
            elif "WARNING" in line or "ERROR" in line:
                say("   " + paint("33", line))


def follow(sagemaker, log, job, rounds):
    """To the end of the job; interrupts its capacity once, in the middle."""
    interrupted, shown = False, None
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        seen = sagemaker.describe_training_job(TrainingJobName=job)
        state = (seen["SecondaryStatus"], seen["SecondaryStatusTransitions"][-1].get("StatusMessage", ""))
        if state != shown:
            shown = state
            color = "33" if state[0] == "Interrupted" else "36"
            say(f"   {paint(color, state[0]):<12} {state[1]}")
        log.show(every=max(rounds // 12, 1))
        if not interrupted and log.round >= INTERRUPT_AT and seen["SecondaryStatus"] == "Training":
            interrupted = True
            say(paint("33", f"   $ sabia spot interrupt {job}"))
            run = subprocess.run([SABIA, "--home", HOME, "spot", "interrupt", job], capture_output=True, text=True)
            say(paint("33", "   " + (run.stdout or run.stderr).strip()))
        if seen["TrainingJobStatus"] in ("Completed", "Failed", "Stopped"):
            log.show(every=rounds)
            return seen
        time.sleep(0.05)
    sagemaker.stop_training_job(TrainingJobName=job)
    sys.exit(f"{job} had not ended after {WAIT_SECONDS} s and is stopped: {shown}")


def summary(job, seen):
    head("3. What happened")
    for step in seen["SecondaryStatusTransitions"]:
        seconds = (step.get("EndTime", step["StartTime"]) - step["StartTime"]).total_seconds()
        say(f"   {step['StartTime']:%H:%M:%S}  {step['Status']:<12} {seconds:6.1f} s  {step.get('StatusMessage', '')}")
    for metric in sorted(seen.get("FinalMetricDataList", []), key=lambda m: m["MetricName"]):
        say(f"   {metric['MetricName']:<16} {metric['Value']:.5f}")
    training, billable = seen["TrainingTimeInSeconds"], seen["BillableTimeInSeconds"]
    say(f"   training {training} s, billable {billable} s")
    cost = json.loads(sabia("cost", job, "--json"))
    say(paint("32", f"   billed ${cost['BilledUsd']:.6f} instead of ${cost['OnDemandUsd']:.6f} on demand: "
                    f"{cost['SavingPercent']:.0f} % saved"))


def held_out():
    """Rows of Abalone that neither channel holds: (label, features in libsvm form)."""
    used = collections.Counter()
    for name in ("abalone.train_0", "abalone.train_1", "abalone.validation"):
        for line in (ABALONE / name).read_text().splitlines():
            used[tuple(float(item.split(":")[-1]) for item in line.split())] += 1
    rows = []
    for line in (ABALONE / "abalone-dataset.csv").read_text().splitlines():
        *features, rings = line.split(",")
        features[0] = SEXES[features[0]]
        key = (float(rings), *map(float, features))
        if used[key]:
            used[key] -= 1
        else:
            rows.append((float(rings), " ".join(f"{i}:{v}" for i, v in enumerate(features, 1))))
    return rows


def predict(s3, seen):
    head("4. The model")
    uri = seen["ModelArtifacts"]["S3ModelArtifacts"]
    say(f"   {uri}")
    archive = OUTPUT / "model.tar.gz"
    bucket, key = uri[len("s3://"):].split("/", 1)
    s3.download_file(bucket, key, str(archive))
    with tarfile.open(archive) as tar:
        (OUTPUT / "xgboost-model").write_bytes(tar.extractfile("xgboost-model").read())
    rows = held_out()
    run = subprocess.run([SABIA, "algorithm", "xgboost", "predict", "--model", str(OUTPUT / "xgboost-model"),
                          "--content-type", "text/libsvm"], input="\n".join(features for _, features in rows),
                         capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"predict: {run.stderr}")
    predictions = [float(line) for line in run.stdout.split()]
    mean = sum(label for label, _ in rows) / len(rows)
    rmse = math.sqrt(sum((label - p) ** 2 for (label, _), p in zip(rows, predictions, strict=True)) / len(rows))
    naive = math.sqrt(sum((label - mean) ** 2 for label, _ in rows) / len(rows))
    say(f"   {archive.relative_to(pathlib.Path.cwd()) if archive.is_relative_to(pathlib.Path.cwd()) else archive}")
    say(paint("32", f"   RMSE on {len(rows)} held-out rows: {rmse:.3f} rings (always guessing the mean: {naive:.3f})"))


def main():
    began = time.monotonic()
    s3, sagemaker, logs = client("s3"), client("sagemaker"), client("logs")
    say(f"sabia serves {os.environ['AWS_ENDPOINT_URL']}")
    upload(s3)
    rounds = ROUNDS
    for attempt in range(1, TRIES + 1):
        job = f"abalone-{attempt}"
        create(sagemaker, job, rounds)
        seen = follow(sagemaker, Log(logs, job), job, rounds)
        if seen["TrainingJobStatus"] != "Completed":
            sys.exit(f"{job} is {seen['TrainingJobStatus']}: {seen.get('FailureReason', '')}")
        if any(step["Status"] == "Interrupted" for step in seen["SecondaryStatusTransitions"]):
            break
        say("   the training was over before the interruption came: once more, with more rounds")
        rounds *= 2
    else:
        sys.exit("no interruption came in time")
    summary(job, seen)
    predict(s3, seen)
    say(f"\n{time.monotonic() - began:.1f} s. Go on with: {SABIA} --home {HOME} serve")


if __name__ == "__main__":
    main()
