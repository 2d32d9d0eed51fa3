"""Deadline policies on real availability traces: what the same jobs cost under each, as a saving over on demand.

  deadline            one instance; settings were chosen on the traces of 2022-10, those of 2023-02 are the report
  deadline-gangs      all instances of the traces with 4 and 16 nodes, or none
  deadline-estimates  work that is 10 % more or less than estimated, with a bound of 10 %

The traces are not part of this project, for their repository states no licence. Get them, and say where they are:

  git clone https://github.com/skypilot-org/spot-traces
  SABIA_SPOT_TRACES=$PWD/spot-traces bench/run build/release build/bench deadline

A directory of them in run-length coding (docs/semantics/simulate.md) does as well. The number 1 means available.
SABIA_SPOT_STARTS sets the number of jobs per trace and fraction.
"""
import collections
import csv
import os
import pathlib
import random
import subprocess

from report import Table, note, run

POLICIES = ("greedy", "up", "oracle", "planner", "bound")
COLUMNS = ("trace", "fraction", "truth", "start", *POLICIES, "late", "longest_ms")
RESAMPLES = 2000
STARTS = int(os.environ.get("SABIA_SPOT_STARTS", "60"))
table = Table("traces", "job fraction", "jobs", "greedy", "Uniform Progress", "… with lifetime oracle", "planner",
              "omniscient", "planner's cost / Uniform Progress (95 %)", "of the gap greedy to omniscient closed (95 %)",
              "late", "longest decision")


def traces(*words):
    """The files whose path has all of the words."""
    directory = os.environ.get("SABIA_SPOT_TRACES")
    if not directory:
        return []
    files = sorted(pathlib.Path(directory).rglob("*.json"))
    return [file for file in files if all(word in str(file) for word in words)]


def measure(release, files, *options):
    rows = []
    for file in files:
        out = subprocess.run([pathlib.Path(release) / "bench/deadline", file, *map(str, options)], check=True,
                             capture_output=True, text=True)
        rows += csv.DictReader(out.stdout.splitlines(), COLUMNS)
        note(f"{file.name}: {len(rows)} jobs" + (f" ({out.stderr.strip()})" if out.stderr else ""))
    return [{key: value if key == "trace" else float(value) for key, value in row.items()} for row in rows]


def mean(rows, policy):
    return sum(row[policy] for row in rows) / len(rows)


def ratio(rows):
    return mean(rows, "planner") / mean(rows, "up")


def closed(rows):
    return (mean(rows, "greedy") - mean(rows, "planner")) / (mean(rows, "greedy") - mean(rows, "bound"))


def interval(rows, value, digits):
    """The value, and what the middle 95 % of resampled jobs give; traces keep their numbers of jobs."""
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["trace"]].append(row)
    rng = random.Random(1)
    seen = sorted(value([row for group in groups.values() for row in rng.choices(group, k=len(group))])
                  for _ in range(RESAMPLES))
    low, high = seen[int(0.025 * RESAMPLES)], seen[int(0.975 * RESAMPLES)]
    return f"{value(rows):.{digits}f} ({low:.{digits}f}..{high:.{digits}f})"


def report(what, rows):
    for key in sorted({(row["fraction"], row["truth"]) for row in rows}):
        some = [row for row in rows if (row["fraction"], row["truth"]) == key]
        truth = "" if key[1] == 1 else f", true work {key[1]:.2f} of the estimate"
        table.add(what + truth, f"{key[0]:.1f}", str(len(some)), *(f"{100 * (1 - mean(some, p)):.1f} %" for p in POLICIES),
                  interval(some, ratio, 3), interval(some, closed, 2), f"{sum(row['late'] for row in some):.0f}",
                  f"{max(row['longest_ms'] for row in some):.0f} ms")


def compare(release, what, files, *options):
    if not files:
        note(f"{what}: no traces; SABIA_SPOT_TRACES must name a directory of them:\n{__doc__}")
        return
    report(f"{what}, {len(files)} traces", measure(release, files, *options))


def single(release):
    compare(release, "2023-02 (report)", traces("1-node", "aws-02-15-2023"), "--starts", STARTS)
    compare(release, "2022-10 (settings chosen here)", traces("1-node", "aws-10-26-2022"), "--starts", STARTS, "--seed", 2)


def gangs(release):
    compare(release, "gangs of 4", traces("4-node", "aws-08-03-2023"), "--starts", STARTS, "--history-hours", 48)
    compare(release, "gangs of 16", traces("16-node", "aws-08-27-2023"), "--starts", STARTS, "--history-hours", 48)


def estimates(release):
    files = traces("1-node", "aws-02-15-2023")
    for truth in (0.9, 1.1):
        compare(release, "2023-02, bound 10 %", files, "--starts", max(1, STARTS // 3), "--fractions", "0.6,0.8",
                "--error", 0.1, "--truth", truth)


SECTIONS = {"deadline": single, "deadline-gangs": gangs, "deadline-estimates": estimates}


def perform(section, release, work):
    del work
    section(release)


if __name__ == "__main__":
    run(SECTIONS, table, perform)
