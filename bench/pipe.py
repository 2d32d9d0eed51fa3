"""Pipe mode beside curl, both reading the same objects of the same server; figures are medians over rounds.

  pipe        bytes per second: `cat <channel>_<n> >/dev/null` in a job, against `curl >/dev/null` with signed URLs over
              one connection that is kept alive; large objects, small ones, gzip (against `curl | gunzip`)
  pipe-start  the first byte of a channel of 20 GiB after CreateTrainingJob was answered, beside one of 1 MiB

Rounds alternate within one job: its program waits for a word before each epoch, so that starting it is not measured.
"""
import concurrent.futures
import gzip
import pathlib
import random
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/e2e"))
from jobs import Embedded, create_script_job, s3_channel  # noqa: E402
from report import Table, run, spread  # noqa: E402

ROUNDS = 7
MIB = 1 << 20
table = Table("what", "Pipe", "curl", "ratio, median (least..most)", "goal")

# Before epoch n the program waits for the file go-n, and answers with the nanoseconds that reading took.
PROGRAM = """
cd /opt/ml/checkpoints; n=0
while [ $n -lt %d ]; do
  until [ -e go-$n ]; do sleep 0.01; done
  begin=$(date +%%s%%N); %s; end=$(date +%%s%%N)
  echo $((end - begin)) >took-$n.tmp; mv took-$n.tmp took-$n; n=$((n+1))
done
"""
READERS = {"cat": "cat /opt/ml/input/data/train_$n >/dev/null",  # reads of 128 KiB
           "dd bs=64K": "dd if=/opt/ml/input/data/train_$n of=/dev/null bs=64K 2>/dev/null"}


class Bench(Embedded):
    def __init__(self, release, work):
        super().__init__(release, work, "pipe", "warn")

    def fill(self, prefix, bodies):
        for number, body in enumerate(bodies):
            self.s3.put_object(Bucket="data", Key=f"{prefix}/{number:06}", Body=body)
        return f"s3://data/{prefix}/"

    def start(self, uri, script, **channel):
        job = self.new_job("bench")
        create_script_job(self.engine, job, "Pipe", script, [s3_channel("train", uri, **channel)])
        return job

    def directory(self, job):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            for spec in self.engine.home.glob("instances/*/spec.json"):
                if f'"job_name":"{job}"' in spec.read_text():
                    return spec.parent / "root/checkpoints"
            time.sleep(0.01)
        raise RuntimeError(f"{job} did not start:\n{self.engine.tail()}")

    def urls(self, prefix, count, file):
        """A curl configuration that reads every object of the prefix over one connection."""
        lines = []
        for number in range(count):
            url = self.s3.generate_presigned_url("get_object", Params={"Bucket": "data", "Key": f"{prefix}/{number:06}"})
            lines.append(f'url = "{url}"\noutput = "-"')
        file.write_text("\n".join(lines) + "\n")
        return file

    def compare(self, what, prefix, sizes, goal, reader="cat", curl="curl -sS -K {} >/dev/null", unpacked=None, **channel):
        bodies = len(sizes)
        config = self.urls(prefix, bodies, self.home / "urls")
        total = unpacked or sum(sizes)
        job = self.start(f"s3://data/{prefix}/", PROGRAM % (ROUNDS + 1, READERS[reader]), **channel)
        checkpoints = self.directory(job)
        ours, theirs = [], []
        for number in range(ROUNDS + 1):
            begin = time.monotonic()
            subprocess.run(curl.format(config), shell=True, check=True)
            curl_seconds = time.monotonic() - begin
            (checkpoints / f"go-{number}").write_text("")
            answer = checkpoints / f"took-{number}"
            while not answer.exists():
                time.sleep(0.002)
            if number > 0:  # the first round warms both
                ours.append(total / (int(answer.read_text()) / 1e9) / MIB)
                theirs.append(total / curl_seconds / MIB)
        self.engine.wait(job)
        ratios = [a / b for a, b in zip(ours, theirs)]
        table.add(what, f"{statistics.median(ours):,.0f} MiB/s", f"{statistics.median(theirs):,.0f} MiB/s", spread(ratios),
                  goal)


def throughput(bench):
    block = random.Random(1).randbytes(64 * MIB)
    sizes = [64 * MIB] * 16
    bench.fill("large", (block for _ in sizes))
    bench.compare("16 objects of 64 MiB, `cat`", "large", sizes, ">= 0.8")
    bench.compare("the same, reads of 64 KiB", "large", sizes, ">= 0.8", reader="dd bs=64K")
    bench.compare("the same, RecordIO", "large", sizes, ">= 0.8", RecordWrapperType="RecordIO")
    sizes = [64 << 10] * 4000
    bench.fill("medium", (block[: 64 << 10] for _ in sizes))
    bench.compare("4,000 objects of 64 KiB", "medium", sizes, ">= 0.8")
    bench.compare("the same, RecordIO", "medium", sizes, ">= 0.8", RecordWrapperType="RecordIO")
    sizes = [4 << 10] * 10_000
    bench.fill("small", (block[: 4 << 10] for _ in sizes))
    bench.compare("10,000 objects of 4 KiB", "small", sizes, ">= 0.8")
    text = "".join(f"{n % 97},{n * 7 % 1009},{n * 13 % 10007 / 100}\n" for n in range(1_000_000)).encode()
    packed = gzip.compress(text, 6)
    bench.fill("packed", (packed for _ in range(16)))
    bench.compare("16 gzip objects of csv, decompressed bytes, against `curl | gunzip`", "packed", [len(packed)] * 16, ">= 0.8",
                  curl="curl -sS -K {} | gunzip >/dev/null", unpacked=16 * len(text), CompressionType="Gzip")


def start(bench):
    """Objects of 1 GiB and of 1 MiB, copied in the store: a copy shares its bytes."""
    block = random.Random(2).randbytes(MIB)
    bench.s3.put_object(Bucket="data", Key="one/000000", Body=block)
    with open(bench.home / "gib", "wb") as file:
        for _ in range(1024):
            file.write(block)
    bench.s3.upload_file(str(bench.home / "gib"), "data", "gib/0")
    for number in range(20):
        bench.s3.copy_object(Bucket="data", Key=f"huge/{number:06}", CopySource="data/gib/0")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: bench.s3.copy_object(Bucket="data", Key=f"many/{number:06}",
                                                          CopySource="data/one/000000"), range(20_480)))
    script = "head -c 1 /opt/ml/input/data/train_0 >/dev/null; date +%s%N >/opt/ml/model/first"
    for what, prefix, goal in (("1 object of 1 MiB", "one", "-"), ("20 objects of 1 GiB", "huge", "<= 200 ms"),
                               ("20,480 objects of 1 MiB", "many", "-")):
        took = []
        for _ in range(ROUNDS):
            job = bench.start(f"s3://data/{prefix}/", script)
            begin = time.time_ns()
            seen = bench.engine.wait(job)
            first = bench.engine.artifact(seen["ModelArtifacts"]["S3ModelArtifacts"])["first"]
            took.append((int(first) - begin) / 1e6)
        table.add(f"answer of Create to the first byte, {what}", f"{statistics.median(took):.0f} ms", "-",
                  f"({min(took):.0f}..{max(took):.0f})", goal)


SECTIONS = {"pipe": throughput, "pipe-start": start}


def perform(section, release, work):
    bench = Bench(release, work)
    try:
        section(bench)
    finally:
        bench.stop()


if __name__ == "__main__":
    run(SECTIONS, table, perform)
