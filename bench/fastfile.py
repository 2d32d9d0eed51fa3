"""FastFile mode beside other mounts of the same bucket of the same server; figures are medians over rounds.

  fastfile        a remote endpoint (our own server, over HTTP): 1 GiB in order, the first 128 KiB of a file, 128 KiB at
                  random places, 10,000 files of 100 KiB in the order of the listing, the second epoch; every byte checked
  fastfile-delay  the same through a proxy that keeps every request for 1 ms and for 20 ms
  fastfile-local  the embedded store: File and FastFile beside the file itself; a channel of 100,000 files; the first byte
                  of 20 GiB

Peers: s3fs and rclone mount (Debian), mountpoint-s3 where `mount-s3` is in the PATH, curl with signed URLs. Every round
mounts anew: nobody has anything cached. Rounds of all contenders alternate. SABIA_BENCH_QUICK=1: a fifth of the sizes.
"""
import concurrent.futures
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/e2e"))
from engine import Engine, FaultProxy  # noqa: E402

from jobs import Embedded, create_script_job, s3_channel  # noqa: E402
from report import Table, note, run, spread  # noqa: E402

import boto3  # noqa: E402
from botocore.config import Config  # noqa: E402

QUICK = bool(os.environ.get("SABIA_BENCH_QUICK"))
MIB = 1 << 20
LARGE = 256 * MIB if QUICK else 1024 * MIB
FILES = 2_000 if QUICK else 10_000
FILE = 100 << 10
PLACES = 40 if QUICK else 200
ROUNDS = 3 if QUICK else 5
READER = ROOT / "bench/fastfile_reader.py"
table = Table("what", "FastFile", "peer", "ratio, median (least..most)", "goal")


class Outside:
    """The endpoint that all mounts share, with its data."""

    def __init__(self, release, work):
        self.home = pathlib.Path(tempfile.mkdtemp(dir=work, prefix="fastfile-"))
        self.binary = pathlib.Path(release) / "src/cli/sabia"
        self.release = pathlib.Path(release)
        self.engine = Engine(self.binary, self.home / "outside", "--log-level", "error").start()
        env = self.engine.environment()
        self.keys = (env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"])
        self.url = self.engine.endpoint()
        self.s3 = self.client(self.url)
        self.s3.create_bucket(Bucket="remote", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
        self.block = os.urandom(LARGE // 4 + 12_345)
        (self.home / "block").write_bytes(self.block)
        # The programs of jobs see what the interpreter's directories have, and /opt/ml.
        self.s3.put_object(Bucket="remote", Key="tools/block", Body=self.block)
        self.s3.put_object(Bucket="remote", Key="tools/reader.py", Body=READER.read_bytes())

    def client(self, url):
        return boto3.client("s3", endpoint_url=url, aws_access_key_id=self.keys[0], aws_secret_access_key=self.keys[1],
                            region_name="us-west-2",
                            config=Config(s3={"addressing_style": "path"}, request_checksum_calculation="when_required"))

    def bytes_of(self, shift, size):
        begin = shift % len(self.block)
        data = self.block[begin:begin + size]
        while len(data) < size:
            data += self.block[:size - len(data)]
        return data

    def fill(self):
        with open(self.home / "large", "wb") as file:
            file.write(self.bytes_of(0, LARGE))
        self.s3.upload_file(str(self.home / "large"), "remote", "in/large0")
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda n: self.s3.put_object(Bucket="remote", Key=f"in/many/{n:06}", Body=self.bytes_of(n, FILE)),
                          range(FILES)))

    def stop(self):
        self.engine.stop()
        shutil.rmtree(self.home, ignore_errors=True)


def read_answer(output):
    answer = json.loads(output)
    if answer["wrong"]:
        raise RuntimeError(f"{answer['wrong']} pieces were wrong")
    return [ns / 1e9 for ns in answer["ns"]]


class Mounted:
    """A peer's mount; `with` mounts and unmounts."""

    def __init__(self, outside, url):
        self.outside, self.url = outside, url

    def __enter__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(dir=self.outside.home, prefix=self.name + "-"))
        (self.directory / "mnt").mkdir()
        self.process = self.start(self.directory / "mnt")
        deadline = time.monotonic() + 30
        while not os.path.ismount(self.directory / "mnt"):
            if time.monotonic() > deadline:
                raise RuntimeError(f"{self.name} does not mount")
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        subprocess.run(["fusermount3", "-u", "-z", self.directory / "mnt"], check=False)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def read(self, *workload):
        done = subprocess.run([sys.executable, READER, self.directory / "mnt/in", self.outside.home / "block", *workload],
                              check=True, capture_output=True, text=True)
        return read_answer(done.stdout)


class S3fs(Mounted):
    name = "s3fs"

    def start(self, target):
        (self.directory / "keys").write_text(":".join(self.outside.keys) + "\n")
        (self.directory / "keys").chmod(0o600)
        return subprocess.Popen(["s3fs", "remote", target, "-f", "-o", f"url={self.url}", "-o", "use_path_request_style",
                                 "-o", f"passwd_file={self.directory / 'keys'}", "-o", "ro", "-o", "parallel_count=16",
                                 "-o", "multireq_max=50", "-o", "max_stat_cache_size=200000"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Rclone(Mounted):
    name = "rclone mount"

    def start(self, target):
        key, secret = self.outside.keys
        remote = f":s3,provider=Other,access_key_id={key},secret_access_key={secret},endpoint='{self.url}':remote"
        return subprocess.Popen(["rclone", "mount", remote, target, "--read-only", "--no-modtime", "--dir-cache-time", "1h",
                                 "--config", "/dev/null"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                env={k: v for k, v in os.environ.items() if k != "AWS_CA_BUNDLE"})  # it cannot take one


class Mountpoint(Mounted):
    name = "mountpoint-s3"

    def start(self, target):
        return subprocess.Popen(["mount-s3", "remote", target, "--foreground", "--read-only", "--force-path-style",
                                 "--endpoint-url", self.url, "--region", "us-west-2"],
                                env={**os.environ, "AWS_ACCESS_KEY_ID": self.outside.keys[0],
                                     "AWS_SECRET_ACCESS_KEY": self.outside.keys[1]},
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Ours:
    """A FastFile job per reading: its mount is new, and nothing is cached."""
    name = "FastFile"

    def __init__(self, outside, url):
        self.outside = outside
        self.home = pathlib.Path(tempfile.mkdtemp(dir=outside.home, prefix="inside-"))
        (self.home / "sabia").mkdir(mode=0o700)
        (self.home / "credentials").write_text(f"[outside]\naws_access_key_id = {outside.keys[0]}\n"
                                               f"aws_secret_access_key = {outside.keys[1]}\n")
        (self.home / "sabia/external-s3.conf").write_text(
            f"[bucket remote]\nendpoint = {url}\nregion = us-west-2\ncredentials = profile outside\n")
        self.engine = Engine(outside.binary, self.home / "sabia", "--log-level", "error")
        self.engine.variables = {"AWS_SHARED_CREDENTIALS_FILE": str(self.home / "credentials")}
        self.engine.start()
        self.jobs = self.memory = 0

    def stop(self):
        self.engine.stop()
        shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def read(self, *workload):
        self.jobs += 1
        job = f"read-{self.jobs}"
        command = (f"exec python3 /opt/ml/input/data/tools/reader.py /opt/ml/input/data/train "
                   f"/opt/ml/input/data/tools/block {' '.join(workload)} >/opt/ml/model/answer")
        self.engine.bucket()
        create_script_job(self.engine, job, "FastFile", command, [
            s3_channel("train", "s3://remote/in/"), s3_channel("tools", "s3://remote/tools/", InputMode="File")])
        while self.engine.describe(job)["TrainingJobStatus"] not in ("Completed", "Failed", "Stopped"):
            self.watch_memory()
            time.sleep(0.1)
        seen = self.engine.describe(job)
        if seen["TrainingJobStatus"] != "Completed":
            raise RuntimeError(str(seen.get("FailureReason")))
        return read_answer(self.engine.artifact(seen["ModelArtifacts"]["S3ModelArtifacts"])["answer"])

    def watch_memory(self):
        """The largest resident set of an agent, from the kernel's own high-water mark."""
        for report in self.engine.home.glob("instances/*/report.json"):
            try:
                pid = json.loads(report.read_text())["pid"]
                status = pathlib.Path(f"/proc/{pid}/status").read_text()
                self.memory = max(self.memory, int(status.split("VmHWM:")[1].split()[0]) >> 10)
            except (OSError, ValueError, KeyError, IndexError):
                pass


def contenders(outside, url):
    out = [S3fs, Rclone] + ([Mountpoint] if shutil.which("mount-s3") else [])
    if len(out) == 2:
        note("no mount-s3 in the PATH: `cargo install mountpoint-s3` makes it")
    return [kind(outside, url) for kind in out]


def curl_whole(outside, client, key):
    url = client.generate_presigned_url("get_object", Params={"Bucket": "remote", "Key": key})
    begin = time.monotonic()
    subprocess.run(["curl", "-sS", "-o", "/dev/null", url], check=True)
    return [time.monotonic() - begin]


def curl_ranges(outside, client, key, count):
    """Bare ranged requests of 128 KiB over one connection: seconds each, as curl itself counts."""
    url = client.generate_presigned_url("get_object", Params={"Bucket": "remote", "Key": key})
    config = outside.home / "ranges"
    lines = [f'next\nurl = "{url}"\nrange = "{at}-{at + (128 << 10) - 1}"\noutput = "/dev/null"\n'
             'write-out = "%{time_total}\\n"\nsilent\n' for at in range(0, count * (128 << 10), 128 << 10)]
    config.write_text("".join(lines).removeprefix("next\n"))
    done = subprocess.run(["curl", "-K", config], check=True, capture_output=True, text=True)
    return [float(line) for line in done.stdout.split()][1:]  # the first one connects


def compare(what, ours, peers, workload, goals, size=None):
    """Interleaved; goals by the peer's name. size: bytes, for rates; without, times are compared."""
    def value(seconds):
        return size / sum(seconds) / MIB if size else statistics.median(seconds) * 1000

    def text(values):
        return f"{statistics.median(values):,.0f} MiB/s" if size else f"{statistics.median(values):,.2f} ms"

    mine, theirs = [], {peer.name: [] for peer in peers}
    for _ in range(ROUNDS):
        with ours as mount:
            mine.append(value(mount.read(*workload)))
        for peer in peers:
            with peer as mount:
                theirs[peer.name].append(value(mount.read(*workload)))
    for name, values in theirs.items():
        ratios = [a / b for a, b in zip(mine, values)]
        table.add(what, text(mine), f"{name}: {text(values)}", spread(ratios), goals.get(name, "-"))


class Curl:
    def __init__(self, name, read):
        self.name, self.call = name, read

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def read(self, *_):
        return self.call()


def remote(outside, url, label):
    client = outside.client(url)
    ours = Ours(outside, url)
    try:
        peers = contenders(outside, url)
        whole = Curl("curl", lambda: curl_whole(outside, client, "in/large0"))
        ranges = Curl("bare ranged GET", lambda: curl_ranges(outside, client, "in/large0", PLACES))
        compare(f"{LARGE // MIB} MiB in order{label}", ours, [*peers, whole], ["sequential", "large0"],
                {"s3fs": ">= 2", "rclone mount": ">= 3.5", "mountpoint-s3": ">= 1", "curl": ">= 0.6"}, LARGE)
        compare(f"{FILES:,} files of 100 KiB in order{label}", ours, peers, ["many", "many"],
                {"s3fs": ">= 5", "rclone mount": ">= 5"}, FILES * FILE)
        compare(f"128 KiB at random places{label}", ours, [ranges, *peers], ["scattered", "large0", str(PLACES)],
                {"bare ranged GET": "<= 1.5"})
        compare(f"first 128 KiB of a file{label}", ours, [ranges, *peers], ["first", "large0"],
                {"bare ranged GET": "<= 1.5"})
        if not label:
            shutil.copy(outside.home / "large", outside.home / "large0")
            native = Curl("the file on ext4", lambda: read_answer(subprocess.run(
                [sys.executable, READER, outside.home, outside.home / "block", "again", "large0"], check=True,
                capture_output=True, text=True).stdout))
            compare("the second epoch", ours, [native], ["again", "large0"], {"the file on ext4": ">= 0.9"}, LARGE)
        table.add(f"largest resident set of an agent{label}", f"{ours.memory} MiB", "-", "-", "< 100 MB + 256 MiB")
    finally:
        ours.stop()


def direct(outside):
    outside.fill()
    remote(outside, outside.url, "")


def delayed(outside):
    outside.fill()
    for ms in (1, 20):
        proxy = FaultProxy(outside.release / "sabia", outside.url)
        try:
            proxy.faults(delay_ms=ms, method="*")
            remote(outside, proxy.url, f", {ms} ms away")
        finally:
            proxy.stop()


class Local(Embedded):
    """Jobs on the embedded store."""

    def __init__(self, release, work):
        super().__init__(release, work, "fastfile-local", "error")

    def run(self, prefix, mode, script):
        """Seconds between the answer of Create and what the script leaves in /opt/ml/model/at, and its answer."""
        job = self.new_job("local")
        create_script_job(self.engine, job, mode, script, [
            s3_channel("train", f"s3://data/{prefix}/"), s3_channel("tools", "s3://data/tools/", InputMode="File")])
        begin = time.time_ns()
        files = self.engine.artifact(self.engine.wait(job, seconds=120)["ModelArtifacts"]["S3ModelArtifacts"])
        return (int(files["at"]) - begin) / 1e9 if "at" in files else None, files.get("answer")


def local(bench):
    block = os.urandom(64 * MIB + 12_345)
    with open(bench.home / "large0", "wb") as file:
        for _ in range(LARGE // len(block) + 1):
            file.write(block)
        file.truncate(LARGE)
    (bench.home / "block").write_bytes(block)
    bench.s3.upload_file(str(bench.home / "large0"), "data", "large/large0")
    bench.s3.put_object(Bucket="data", Key="tools/reader.py", Body=READER.read_bytes())
    bench.s3.put_object(Bucket="data", Key="tools/block", Body=block)
    tools = "/opt/ml/input/data/tools"
    reading = (f"python3 {tools}/reader.py /opt/ml/input/data/train {tools}/block again large0 >/opt/ml/model/answer")
    for mode in ("File", "FastFile"):
        ratios, ours, native = [], [], []
        for _ in range(ROUNDS):
            mine = read_answer(bench.run("large", mode, reading)[1])[0]
            own = read_answer(subprocess.run(
                [sys.executable, READER, bench.home, bench.home / "block", "again", "large0"], check=True,
                capture_output=True, text=True).stdout)[0]
            ours.append(LARGE / mine / MIB)
            native.append(LARGE / own / MIB)
            ratios.append(own / mine)
        table.add(f"{mode}, embedded store, {LARGE // MIB} MiB in order, in memory", f"{statistics.median(ours):,.0f} MiB/s",
                  f"the file: {statistics.median(native):,.0f} MiB/s", spread(ratios), ">= 0.95")
    count = 20_000 if QUICK else 100_000
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: bench.s3.put_object(Bucket="data", Key=f"many/{n:06}", Body=b"x"), range(count)))
    for number in range(20):
        bench.s3.copy_object(Bucket="data", Key=f"huge/{number:06}", CopySource="data/large/large0")
    at = "date +%s%N >/opt/ml/model/at"
    for what, prefix, script, goal in (
            (f"a channel of {count:,} files, FastFile: Create to the program", "many", at, "<= 3 s"),
            (f"first byte of 20 objects of {LARGE // MIB} MiB, FastFile", "huge",
             f"head -c 1 /opt/ml/input/data/train/000000 >/dev/null; {at}", "<= 200 ms")):
        took = [bench.run(prefix, "FastFile", script)[0] * 1000 for _ in range(ROUNDS)]
        table.add(what, f"{statistics.median(took):,.0f} ms", "-", f"({min(took):,.0f}..{max(took):,.0f})", goal)


SECTIONS = {"fastfile": direct, "fastfile-delay": delayed, "fastfile-local": local}


def perform(section, release, work):
    bench = (Local if section is local else Outside)(release, work)
    try:
        section(bench)
    finally:
        bench.stop()


if __name__ == "__main__":
    run(SECTIONS, table, perform)
