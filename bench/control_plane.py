"""The control plane beside its peers, interleaved in one run; figures are medians of per-round ratios.

  describe    DescribeTrainingJob over 8 connections, signatures verified, against moto's server
  create      CreateTrainingJob, durable, against moto's (which keeps nothing), and at 32 clients against single
              SQLite transactions with synchronous=FULL on the same disk
  launch      from the answer of CreateTrainingJob to the user's first line, against srun of /bin/true
  warm        the same for a job that runs on the instances of the one before, beside a cold one and srun
  throughput  trivial jobs per second end to end, against Slurm with as many places for jobs as it can use
  throughput-even  the same against Slurm with as many places as ours has
  million     1,000,000 finished jobs in the store: Describe, List, restart, and the memory of an idle daemon

Both sides are loaded by the same generator (bench/load), unpinned, on the same machine.
"""
import functools
import json
import os
import pathlib
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/e2e"))
from engine import ROLE, Engine  # noqa: E402

from report import Table, free_port, note, port_of, run, spread  # noqa: E402

ROUNDS = 5
MOTO_READY_SECONDS = 60
SLURM_PLACES = 512  # more bring it nothing
OVERCOMMIT = 32
JOB_VCPUS = 2  # of the trivial job's instance type
table = Table("what", "ours", "peer", "ratio, median (least..most)", "goal")


def report(what, ours, peer, ratio, goal, detail=""):
    table.add(f"{what} ({detail})" if detail else what, ours, peer, ratio, goal)


class Moto:
    def __init__(self):
        self.port = free_port()
        self.process = subprocess.Popen([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + MOTO_READY_SECONDS
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError("moto's server did not come up")

    def stop(self):
        self.process.kill()
        self.process.wait()


class Bench:
    def __init__(self, release, work):
        self.release, self.work = pathlib.Path(release), pathlib.Path(work)
        self.sabia = self.release / "src/cli/sabia"
        self.counter = 0

    def engine(self, *options):
        home = pathlib.Path(tempfile.mkdtemp(dir=self.work, prefix="home-"))
        return Engine(self.sabia, home / "sabia", "--log-level", "warn", *options).start()

    def load(self, port, target, body, seconds=2.0, connections=8, requests=0, engine=None, first=None):
        command = [str(self.release / "bench/load"), "--port", str(port), "--target", target, "--body",
                   json.dumps(body), "--connections", str(connections), "--seconds", str(seconds),
                   "--first", str(self.counter if first is None else first)]
        self.counter += 10_000_000
        if requests:
            command += ["--requests", str(requests)]
        if engine:
            env = engine.environment()
            command += ["--key", env["AWS_ACCESS_KEY_ID"], "--secret", env["AWS_SECRET_ACCESS_KEY"]]
        out = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        # moto's server now and then drops a connection; that is its affair. Ours may not.
        if out["errors"] and engine:
            raise RuntimeError(f"{out['errors']} of {out['requests']} requests of {target} failed")
        return out


def create_body(name="load-{n}"):
    return {"TrainingJobName": name, "RoleArn": ROLE,
            "AlgorithmSpecification": {"TrainingImage": "sabia/python:3", "TrainingInputMode": "File",
                                       "ContainerEntrypoint": ["/bin/true"]},
            "OutputDataConfig": {"S3OutputPath": "s3://data/out"},
            "ResourceConfig": {"InstanceCount": 1, "InstanceType": "ml.m5.large", "VolumeSizeInGB": 1},
            "StoppingCondition": {"MaxRuntimeInSeconds": 600}}


def moto_body(name="load-{n}"):
    body = create_body(name)
    del body["AlgorithmSpecification"]["ContainerEntrypoint"]
    return body


def describe(bench):
    engine, moto = bench.engine("--overcommit", "0"), Moto()
    try:
        engine.bucket()
        bench.load(port_of(engine), "SageMaker.CreateTrainingJob", create_body("one"), requests=1, connections=1, engine=engine)
        bench.load(moto.port, "SageMaker.CreateTrainingJob", moto_body("one"), requests=1, connections=1)
        ratios, ours, peers = [], [], []
        for _ in range(ROUNDS):
            body = {"TrainingJobName": "one"}
            mine = bench.load(port_of(engine), "SageMaker.DescribeTrainingJob", body, engine=engine)
            theirs = bench.load(moto.port, "SageMaker.DescribeTrainingJob", body)
            ours.append(mine["rate"])
            peers.append(theirs["rate"])
            ratios.append(mine["rate"] / theirs["rate"])
        report("DescribeTrainingJob/s, 8 connections", f"{statistics.median(ours):.0f}",
               f"moto 5.2.1: {statistics.median(peers):.0f}", spread(ratios), ">= 100")
    finally:
        engine.stop()
        moto.stop()


def sqlite_rate(directory, seconds=2.0):
    """Single 1 KB transactions, WAL and synchronous=FULL, through Python's sqlite3 (C underneath)."""
    path = pathlib.Path(directory) / "peer.db"
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    db.execute("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, body BLOB)")
    body, count, start = b"x" * 1024, 0, time.monotonic()
    while time.monotonic() - start < seconds:
        db.execute("INSERT INTO t (body) VALUES (?)", (body,))
        count += 1
    db.close()
    return count / (time.monotonic() - start)


def create(bench):
    engine, moto = bench.engine("--overcommit", "0"), Moto()
    try:
        engine.bucket()
        few, many, ours8, ours32, peers, lites = [], [], [], [], [], []
        for _ in range(ROUNDS):
            mine = bench.load(port_of(engine), "SageMaker.CreateTrainingJob", create_body(), engine=engine)["rate"]
            theirs = bench.load(moto.port, "SageMaker.CreateTrainingJob", moto_body())["rate"]
            wide = bench.load(port_of(engine), "SageMaker.CreateTrainingJob", create_body(), connections=32,
                              engine=engine)["rate"]
            lite = sqlite_rate(engine.home)
            few.append(mine / theirs)
            many.append(wide / lite)
            ours8.append(mine)
            ours32.append(wide)
            peers.append(theirs)
            lites.append(lite)
        report("CreateTrainingJob/s, durable, 8 connections", f"{statistics.median(ours8):.0f}",
               f"moto 5.2.1 (keeps nothing): {statistics.median(peers):.0f}", spread(few), ">= 10")
        report("CreateTrainingJob/s, durable, 32 clients", f"{statistics.median(ours32):.0f}",
               f"SQLite FULL, one by one: {statistics.median(lites):.0f}", spread(many), ">= 2")
    finally:
        engine.stop()
        moto.stop()


class Slurm:
    def __init__(self, work, places=SLURM_PLACES):
        self.directory = str(pathlib.Path(work) / "slurm")
        shutil.rmtree(self.directory, ignore_errors=True)
        subprocess.run([str(ROOT / "bench/slurm.sh"), "start", self.directory, str(places)], check=True)
        self.env = {**os.environ, "SLURM_CONF": self.directory + "/slurm.conf"}

    def srun(self):
        start = time.monotonic()
        subprocess.run(["srun", "--quiet", "/bin/true"], env=self.env, check=True)
        return time.monotonic() - start

    def array(self, jobs):
        """Jobs per second of one array of trivial jobs, the quickest way to hand Slurm many."""
        script = pathlib.Path(self.directory) / "true.sh"
        script.write_text("#!/bin/sh\nexec /bin/true\n")
        start = time.monotonic()
        subprocess.run(["sbatch", "--quiet", f"--array=1-{jobs}", "--output=/dev/null", str(script)], env=self.env,
                       check=True)
        # `sbatch --wait` looks every ten seconds only; the queue is asked instead.
        while subprocess.run(["squeue", "--noheader", "--states=PD,CF,R"], env=self.env, check=True,
                             capture_output=True).stdout.strip():
            time.sleep(0.05)
        return jobs / (time.monotonic() - start)

    def stop(self):
        subprocess.run([str(ROOT / "bench/slurm.sh"), "stop", self.directory], check=False)


def launch(bench):
    engine, slurm = bench.engine(), Slurm(bench.work)
    try:
        s3 = engine.client("s3")
        s3.put_object(Bucket=engine.bucket(), Key="in/data.bin", Body=os.urandom(1 << 20))
        sagemaker = engine.client("sagemaker")
        ratios, ours, peers = [], [], []
        for number in range(4 * ROUNDS):
            job = f"launch-{number}"
            uri = engine.upload_code(job, {"train.py": "import time\nprint('T', repr(time.time()), flush=True)\n"})
            request = engine.request(job, HyperParameters={
                "sagemaker_program": '"train.py"', "sagemaker_submit_directory": json.dumps(uri)},
                InputDataConfig=[{"ChannelName": "train", "DataSource": {"S3DataSource": {
                    "S3DataType": "S3Prefix", "S3Uri": "s3://data/in/"}}}])
            sagemaker.create_training_job(**request)
            answered = time.time()
            # Nobody asks meanwhile, as nobody asks while srun runs: the client would take a processor.
            time.sleep(0.15)
            engine.wait(job)
            line = next(l for l in engine.lines(job) if l.startswith("T "))
            took = float(line.split()[1]) - answered
            peer = slurm.srun()
            ours.append(took)
            peers.append(peer)
            ratios.append(took / peer)
        report("CreateTrainingJob answered to user's first line, cold", f"{statistics.median(ours) * 1000:.1f} ms",
               f"srun /bin/true: {statistics.median(peers) * 1000:.1f} ms", spread(ratios), "<= 1",
               "script mode, 1 MB channel; ours includes the start of Python")
    finally:
        engine.stop()
        slurm.stop()


def first_line(engine, sagemaker, request):
    """Seconds from the answer of CreateTrainingJob to the time that the program prints."""
    sagemaker.create_training_job(**request)
    answered = time.time()
    time.sleep(0.15)  # nobody asks meanwhile
    job = request["TrainingJobName"]
    engine.wait(job)
    return float(next(l for l in engine.lines(job) if l.startswith("T ")).split()[1]) - answered


def warm(bench):
    engine, slurm = bench.engine(), Slurm(bench.work)
    engine.client = functools.cache(engine.client)
    try:
        s3 = engine.client("s3")
        s3.put_object(Bucket=engine.bucket(), Key="in/data.bin", Body=os.urandom(1 << 20))
        sagemaker = engine.client("sagemaker")
        kept = {"InstanceCount": 1, "InstanceType": "ml.m5.large", "VolumeSizeInGB": 1, "KeepAlivePeriodInSeconds": 3600}
        cold = {"InstanceCount": 1, "InstanceType": "ml.m5.large", "VolumeSizeInGB": 2}

        def program(job, resources):
            request = create_body(job)
            request["AlgorithmSpecification"]["ContainerEntrypoint"] = ["/bin/date", "+T %s.%N"]
            return {**request, "ResourceConfig": resources}

        def script(job, resources):
            uri = engine.upload_code(job, {"train.py": "import time\nprint('T', repr(time.time()), flush=True)\n"})
            return engine.request(job, ResourceConfig=resources, HyperParameters={
                "sagemaker_program": '"train.py"', "sagemaker_submit_directory": json.dumps(uri)},
                InputDataConfig=[{"ChannelName": "train", "DataSource": {"S3DataSource": {
                    "S3DataType": "S3Prefix", "S3Uri": "s3://data/in/"}}}])

        first_line(engine, sagemaker, program("first", kept))
        kinds = {"program, warm": (program, kept, "<= 0.2"), "program, cold": (program, cold, "<= 1"),
                 "script mode, 1 MB channel, warm": (script, kept, "-"), "script mode, 1 MB channel, cold": (script, cold, "-")}
        took, ratios, peers = {kind: [] for kind in kinds}, {kind: [] for kind in kinds}, []
        for number in range(2 * ROUNDS):
            peers.append(slurm.srun())
            for index, (kind, (make, resources, _)) in enumerate(kinds.items()):
                took[kind].append(first_line(engine, sagemaker, make(f"warm-{number}-{index}", resources)))
                ratios[kind].append(took[kind][-1] / peers[-1])
        reused = sagemaker.list_training_jobs(WarmPoolStatusEquals="Reused", MaxResults=100)["TrainingJobSummaries"]
        if len(reused) != 2 * 2 * ROUNDS:
            raise RuntimeError(f"{len(reused)} jobs ran on the instances of another, not {2 * 2 * ROUNDS}")
        for kind, (_, _, goal) in kinds.items():
            report("CreateTrainingJob answered to first line", f"{statistics.median(took[kind]) * 1000:.1f} ms",
                   f"srun /bin/true: {statistics.median(peers) * 1000:.1f} ms", spread(ratios[kind]), goal, kind)
    finally:
        engine.stop()
        slurm.stop()


def throughput(bench, jobs=500, places=SLURM_PLACES):
    engine, slurm = bench.engine("--overcommit", str(OVERCOMMIT)), Slurm(bench.work, places)
    try:
        engine.bucket()
        sagemaker = engine.client("sagemaker")
        ratios, ours, peers = [], [], []
        for number in range(ROUNDS):
            start = time.monotonic()
            bench.load(port_of(engine), "SageMaker.CreateTrainingJob", create_body(f"t{number}-{{n}}"), requests=jobs,
                       connections=8, engine=engine)
            while sagemaker.list_training_jobs(NameContains=f"t{number}-", StatusEquals="InProgress",
                                               MaxResults=1)["TrainingJobSummaries"]:
                time.sleep(0.05)
            mine = jobs / (time.monotonic() - start)
            theirs = slurm.array(jobs)
            ours.append(mine)
            peers.append(theirs)
            ratios.append(mine / theirs)
        failed = sagemaker.list_training_jobs(StatusEquals="Failed", MaxResults=1)["TrainingJobSummaries"]
        if failed:
            raise RuntimeError(f"{failed[0]['TrainingJobName']} failed")
        report("trivial jobs per second, end to end", f"{statistics.median(ours):.0f}",
               f"Slurm 22.05 array, {places} places: {statistics.median(peers):.0f}", spread(ratios), ">= 5",
               f"{our_places()} places")
    finally:
        engine.stop()
        slurm.stop()


def our_places():
    return OVERCOMMIT * os.cpu_count() // JOB_VCPUS


def throughput_even(bench):
    throughput(bench, jobs=200, places=our_places())


def resident_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024


def million(bench, jobs=1_000_000):
    fresh = bench.engine()
    idle = resident_mib(fresh.process.pid)
    report("idle daemon, resident", f"{idle:.1f} MiB", "-", "-", "< 40 MB")
    fresh.stop()
    engine = bench.engine()
    engine.bucket()
    bench.load(port_of(engine), "SageMaker.CreateTrainingJob", create_body("template"), requests=1, connections=1, engine=engine)
    engine.wait("template")
    engine.process.terminate()
    engine.process.wait()
    note(f"filling the store with {jobs} finished jobs ...")
    subprocess.run([str(bench.release / "bench/fill_store"), "--home", str(engine.home), "--jobs", str(jobs)], check=True)
    start = time.monotonic()
    engine.start()
    report(f"restart with {jobs} finished jobs", f"{time.monotonic() - start:.2f} s", "-", "-", "<= 2 s")
    got = bench.load(port_of(engine), "SageMaker.DescribeTrainingJob", {"TrainingJobName": "filled-{n}"}, requests=20000,
                     connections=1, engine=engine, first=0)
    report("Describe, p99, one connection", f"{got['p99_us'] / 1000:.3f} ms", "-", "-", "<= 1 ms")
    for what, body in (("newest first", {"MaxResults": 100}),
                       ("by status", {"MaxResults": 100, "StatusEquals": "Completed"}),
                       ("by name", {"MaxResults": 100, "SortBy": "Name", "SortOrder": "Ascending"})):
        got = bench.load(port_of(engine), "SageMaker.ListTrainingJobs", body, requests=500, connections=1, engine=engine)
        report(f"List page of 100, {what}, p50 / p99", f"{got['p50_us'] / 1000:.2f} / {got['p99_us'] / 1000:.2f} ms", "-",
               "-", "<= 5 ms")
    report("resident after that", f"{resident_mib(engine.process.pid):.1f} MiB", "-", "-", "-")
    engine.stop()


SECTIONS = {"describe": describe, "create": create, "launch": launch, "warm": warm, "throughput": throughput,
            "throughput-even": throughput_even, "million": million}


if __name__ == "__main__":
    run(SECTIONS, table, lambda section, release, work: section(Bench(release, work)))
