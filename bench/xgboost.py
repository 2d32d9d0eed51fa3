"""The built-in XGBoost beside the Python package of the same version, end to end: start, load, train, save.

  abalone   2,922 rows of libsvm, 100 rounds: start-up counts
  csv       200,000 rows x 28 columns of csv, 1 round: loading counts
  hist      the same rows, 30 rounds of tree_method hist: the library itself counts, the ratio must be near 1

Both sides print the metric of each round and write a model; the last round's metrics must agree, or the run fails.
Usage: xgboost.py RELEASE_DIR WORK_DIR. Runs are interleaved, one round of each per turn; figures are medians of
per-turn ratios.
"""
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ABALONE = ROOT / "examples/data/abalone"
TURNS = 7
ROWS, COLUMNS = 200_000, 28

PEER = """
import json, sys, xgboost as xgb
job = json.load(open(sys.argv[1]))
train = xgb.DMatrix(job["train"])
validation = xgb.DMatrix(job["validation"])
model = xgb.train(job["params"], train, job["rounds"], evals=[(train, "train"), (validation, "validation")])
model.save_model(job["model"])
"""


def csv_rows(path, rows, seed):
    rng = random.Random(seed)
    with open(path, "w") as out:
        for _ in range(rows):
            x = [rng.gauss(0, 1) for _ in range(COLUMNS)]
            y = x[0] * x[1] + 2 * (x[2] > 0) + x[3] + rng.gauss(0, 0.3)
            out.write(f"{y:.5f}," + ",".join(f"{v:.5f}" for v in x) + "\n")


class Case:
    """One task laid out for both sides."""

    def __init__(self, work, name, channels, content_type, rounds, params):
        self.name, self.root, self.rounds = name, work / name, rounds
        shutil.rmtree(self.root, ignore_errors=True)
        (self.root / "input/config").mkdir(parents=True)
        for channel, file in channels.items():
            folder = self.root / "input/data" / channel
            folder.mkdir(parents=True)
            (folder / file.name).symlink_to(file)
        config = {c: {"ContentType": content_type, "TrainingInputMode": "File",
                      "S3DistributionType": "FullyReplicated"} for c in channels}
        values = {"num_round": rounds, **params}
        self.write("input/config/inputdataconfig.json", config)
        self.write("input/config/hyperparameters.json", {k: str(v) for k, v in values.items()})
        form = "?format=libsvm" if content_type == "text/libsvm" else "?format=csv&label_column=0"
        self.write("peer.json", {"train": f"{channels['train']}{form}", "validation": f"{channels['validation']}{form}",
                                 "params": params, "rounds": rounds, "model": str(self.root / "peer.model")})
        (self.root / "peer.py").write_text(PEER)

    def write(self, name, value):
        (self.root / name).write_text(json.dumps(value))

    def run(self, command):
        begin = time.monotonic()
        # For both sides alike: without it the peer's threads spin away whole time slices beside other work.
        environment = {"GOMP_SPINCOUNT": "1000", **os.environ}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        seconds = time.monotonic() - begin
        if done.returncode != 0:
            sys.exit(f"{self.name}: {command[0]} failed:\n{done.stdout}\n{done.stderr}")
        last = re.search(rf"^\[{self.rounds - 1}\]\ttrain-rmse:(\S+)\tvalidation-rmse:(\S+)$", done.stdout, re.M)
        return seconds, tuple(float(v) for v in last.groups())

    def compare(self, program):
        ours, peers = [], []
        for _ in range(TURNS):
            a, mine = self.run([program, str(self.root), "train"])
            b, theirs = self.run([sys.executable, str(self.root / "peer.py"), str(self.root / "peer.json")])
            # The text parsers of the two differ in the last bit of some features.
            if any(abs(x - y) > 1e-3 * abs(y) for x, y in zip(mine, theirs)):
                sys.exit(f"{self.name}: the sides disagree: {mine} and {theirs}")
            ours.append(a)
            peers.append(b)
        ratios = [b / a for a, b in zip(ours, peers)]
        print(f"| XGBoost {self.name}: seconds end to end | {statistics.median(ours):.3f} | "
              f"{statistics.median(peers):.3f} | {statistics.median(ratios):.2f} "
              f"({min(ratios):.2f}..{max(ratios):.2f}) |", flush=True)


def main():
    release, work = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve() / "xgboost"
    work.mkdir(parents=True, exist_ok=True)
    program = str(release / "src/algorithms/xgboost_program")
    train, validation = work / "train.csv", work / "validation.csv"
    if not validation.exists():
        csv_rows(train, ROWS, 1)
        csv_rows(validation, ROWS // 10, 2)
    abalone = work / "abalone.train"
    abalone.write_text("".join((ABALONE / f"abalone.train_{i}").read_text() for i in (0, 1)))
    base = {"objective": "reg:squarederror", "eval_metric": "rmse", "nthread": 2, "max_depth": 6}
    table = {"train": train, "validation": validation}
    print("| what | ours | Python package 1.7.4 | times faster, median (spread) |\n|---|---|---|---|")
    Case(work, "abalone", {"train": abalone, "validation": ABALONE / "abalone.validation"}, "text/libsvm", 100,
         base | {"eta": 0.2}).compare(program)
    Case(work, "csv", table, "text/csv", 1, base | {"tree_method": "hist"}).compare(program)
    Case(work, "hist", table, "text/csv", 30, base | {"tree_method": "hist"}).compare(program)


if __name__ == "__main__":
    main()
