"""A real `sabia serve` on free ports with a home of its own, and the stock clients that talk to it.

Everything that a client needs comes from `sabia env`, as a user would have it: no patches, no explicit endpoints.
"""
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import tarfile
import time
import urllib.request

ROLE = "arn:aws:iam::123456789012:role/SageMakerRole"
XGBOOST_IMAGE = "246618743249.dkr.ecr.us-west-2.amazonaws.com/sagemaker-xgboost:1.7-1"
PYTHON_IMAGE = "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.0.1-cpu-py310"
TERMINAL = ("Completed", "Failed", "Stopped")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
READY_SECONDS = 30


class FaultProxy:
    """tests/fault_proxy.cc in front of an endpoint."""

    def __init__(self, binary, url):
        program = pathlib.Path(binary).parent / "tests" / "fault_proxy"
        self.process = subprocess.Popen([program, url.split("//")[1]], stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}"

    def faults(self, **faults):
        query = "&".join(f"{k}={v}" for k, v in faults.items())
        urllib.request.urlopen(f"{self.url}/-faults?{query}", timeout=10).read()

    def stats(self):
        return json.loads(urllib.request.urlopen(f"{self.url}/-stats", timeout=10).read())

    def stop(self):
        self.process.kill()
        self.process.wait()


class Engine:
    def __init__(self, binary, home, *options, user=None):
        """user: the id that the daemon runs as; the home's directory must be that user's."""
        self.binary, self.home, self.options, self.user = str(binary), pathlib.Path(home), options, user
        self.process = None
        self.variables = {}  # of the daemon's environment, beside the caller's
        self.log = open(self.home.parent / (self.home.name + ".log"), "ab")

    def start(self):
        self.process = subprocess.Popen(
            [self.binary, "--home", str(self.home), "serve", "--port", "0", "--tls-port", "0", *self.options],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True,
            env={**os.environ, **self.variables},
            **({} if self.user is None else {"user": self.user, "group": self.user, "extra_groups": []}))
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(f"sabia serve ended with {self.process.returncode}:\n{self.tail()}")
            try:
                with urllib.request.urlopen(self.endpoint() + "/-/health", timeout=2) as answer:
                    if answer.status == 200:
                        return self
            except (OSError, ValueError, KeyError):
                pass
            time.sleep(0.02)
        raise RuntimeError(f"sabia serve is not ready after {READY_SECONDS} s:\n{self.tail()}")

    def tail(self):
        return pathlib.Path(self.log.name).read_bytes()[-4000:].decode(errors="replace")

    def endpoint(self):
        document = json.loads((self.home / "endpoint.json").read_text())
        if document["pid"] != self.process.pid:
            raise ValueError("endpoint.json is of an earlier daemon")
        return document["http"]

    def kill(self):
        """kill -9, as the power fails: nothing is told, nothing is flushed."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
        self.log.close()

    def sabia(self, *arguments, check=True, **options):
        run = subprocess.run([self.binary, "--home", str(self.home), *arguments], capture_output=True, text=True,
                             timeout=60, **options)
        if check and run.returncode != 0:
            raise RuntimeError(f"sabia {' '.join(arguments)}: {run.returncode}\n{run.stdout}{run.stderr}")
        return run

    def environment(self):
        """The caller's environment without its own AWS settings, plus what `sabia env` exports."""
        out = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "SAGEMAKER_"))}
        for line in self.sabia("env").stdout.splitlines():
            match = re.fullmatch(r"export ([A-Z_]+)='(.*)'", line)
            if match:
                out[match.group(1)] = match.group(2)
        out["AWS_EC2_METADATA_DISABLED"] = "true"
        return out

    def session(self):
        import boto3
        env = self.environment()
        return boto3.session.Session(aws_access_key_id=env["AWS_ACCESS_KEY_ID"],
                                     aws_secret_access_key=env["AWS_SECRET_ACCESS_KEY"],
                                     region_name=env["AWS_REGION"])

    def client(self, service, **options):
        from botocore.config import Config
        config = options.pop("config", Config(retries={"max_attempts": 8, "mode": "standard"}))
        return self.session().client(service, endpoint_url=self.environment()["AWS_ENDPOINT_URL"], config=config,
                                     **options)

    # Training jobs -------------------------------------------------------------------------------------------------

    def bucket(self, name="data"):
        s3 = self.client("s3")
        if name not in [b["Name"] for b in s3.list_buckets()["Buckets"]]:
            s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
        return name

    def upload_code(self, job, files):
        """Packs {name: text} as the SDK packs a source directory; returns its S3 URI."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as tar:
            for name, text in files.items():
                data = text.encode()
                info = tarfile.TarInfo(name)
                info.size, info.mode = len(data), 0o644
                tar.addfile(info, io.BytesIO(data))
        key = f"{job}/source/sourcedir.tar.gz"
        self.client("s3").put_object(Bucket=self.bucket(), Key=key, Body=packed.getvalue())
        return f"s3://data/{key}"

    def request(self, job, **changes):
        out = {
            "TrainingJobName": job,
            "RoleArn": ROLE,
            "AlgorithmSpecification": {"TrainingImage": PYTHON_IMAGE, "TrainingInputMode": "File"},
            "OutputDataConfig": {"S3OutputPath": f"s3://{self.bucket()}/out"},
            "ResourceConfig": {"InstanceCount": 1, "InstanceType": "ml.m5.large", "VolumeSizeInGB": 10},
            "StoppingCondition": {"MaxRuntimeInSeconds": 600},
        }
        out.update(changes)
        return {k: v for k, v in out.items() if v is not None}

    def script(self, job, code, hyperparameters=None, files=None, **changes):
        """Creates a script-mode job that runs `code` as train.py."""
        uri = self.upload_code(job, {"train.py": code, **(files or {})})
        parameters = {"sagemaker_program": json.dumps("train.py"), "sagemaker_submit_directory": json.dumps(uri)}
        parameters.update({k: json.dumps(v) for k, v in (hyperparameters or {}).items()})
        self.client("sagemaker").create_training_job(
            **self.request(job, **{"HyperParameters": parameters, **changes}))
        return job

    def describe(self, job):
        return self.client("sagemaker").describe_training_job(TrainingJobName=job)

    def wait(self, job, until=TERMINAL, seconds=60):
        """Until TrainingJobStatus or SecondaryStatus is one of `until`; also ends at any terminal status."""
        sagemaker = self.client("sagemaker")
        deadline = time.monotonic() + seconds
        while True:
            seen = sagemaker.describe_training_job(TrainingJobName=job)
            if seen["TrainingJobStatus"] in until or seen["SecondaryStatus"] in until:
                return seen
            if seen["TrainingJobStatus"] in TERMINAL or time.monotonic() > deadline:
                raise AssertionError(f"{job} is {seen['TrainingJobStatus']}/{seen['SecondaryStatus']}, wanted {until}: "
                                     f"{seen.get('FailureReason')}\n{seen['SecondaryStatusTransitions']}\n{self.tail()}")
            time.sleep(0.05)

    def lines(self, job):
        """All log lines of all streams of the job, in order per stream."""
        logs = self.client("logs")
        out = []
        try:
            streams = logs.describe_log_streams(logGroupName="/aws/sagemaker/TrainingJobs",
                                                logStreamNamePrefix=job + "/")["logStreams"]
        except logs.exceptions.ResourceNotFoundException:
            return out
        for stream in streams:
            token = {}
            while True:
                page = logs.get_log_events(logGroupName="/aws/sagemaker/TrainingJobs",
                                           logStreamName=stream["logStreamName"], startFromHead=True, **token)
                if not page["events"]:
                    break
                out.extend(e["message"] for e in page["events"])
                token = {"nextToken": page["nextForwardToken"]}
        return out

    def wait_for_line(self, job, text, seconds=30):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if any(text in line for line in self.lines(job)):
                return
            time.sleep(0.05)
        raise AssertionError(f"no line with {text!r} in the log of {job}: {self.lines(job)[-10:]}\n{self.describe(job)}")

    def artifact_of(self, s3, described):
        """The model of a job whose output lies elsewhere."""
        return self.artifact(described["ModelArtifacts"]["S3ModelArtifacts"], s3)

    def artifact(self, uri, s3=None):
        """{member: bytes} of a tar.gz in S3."""
        bucket, key = re.fullmatch(r"s3://([^/]+)/(.*)", uri).groups()
        body = (s3 or self.client("s3")).get_object(Bucket=bucket, Key=key)["Body"].read()
        with tarfile.open(fileobj=io.BytesIO(body)) as tar:
            return {m.name: tar.extractfile(m).read() for m in tar.getmembers() if m.isfile()}
