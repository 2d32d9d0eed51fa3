"""The tuner beside other tuners, in one run: same tables, budgets, seeds and initial points (bench/tuner.py).

  tuner         one trial at a time on the tables that no setting was chosen on
  tuner-bbob    the 24 BBOB functions in 2, 5 and 10 dimensions; dlib and CMA-ES are made for them
  tuner-batch   eight trials at a time, beside one at a time
  tuner-early   Hyperband and ASHA beside random search on learning curves (needs SABIA_HPO_DATA)
  tuner-speed   how long a suggestion takes

SABIA_TUNER_SEEDS: seeds (20). SABIA_TUNER_SLOW=0 leaves out Optuna's GP sampler and HEBO, which take hours.
SABIA_HPO_DATA: a directory of further tables, see bench/tuner.py. Runs that were done are kept in WORK_DIR/results.
"""
import argparse
import json
import os
import pathlib
import subprocess

import numpy as np

import tuner
from report import Table, note, run

SEEDS = int(os.environ.get("SABIA_TUNER_SEEDS", "20"))
FAST = ("optuna-random", "optuna-tpe", "optuna-tpe-multivariate", "optuna-cmaes")
SLOW = () if os.environ.get("SABIA_TUNER_SLOW") == "0" else ("optuna-gp", "hebo")
MARKS = (10, 25, 50, 100)
DRAWS = 1000
table = Table("problems", "trials", "peer", "ours", "the peer's", "ours / the peer's (95 %)", "mean rank, ours and its")


def arguments(release, work, name, problems, batch=1, trials=100, seeds=SEEDS):
    return argparse.Namespace(release=pathlib.Path(release), work=pathlib.Path(work), name=name, label="", settings="",
                              problems=problems, batch=batch, trials=trials, seeds=seeds)


def tables(work):
    if not (pathlib.Path(work) / "tables").is_dir():
        tuner.make_tables(pathlib.Path(work))
    names = sorted(path.stem for path in (pathlib.Path(work) / "tables").glob("*.csv"))
    return [name for name in names if not tuner.is_development(name)]


def has_category(args, name):
    problem = tuner.Problem(name, str(args.release / "bench/tuner_bench"), args.work)
    return any(p["kind"] == "categorical" for p in problem.parameters)


def play(release, work, names, problems, batch=1):
    """Runs everybody on the problems, ours first; what is there already is not run again."""
    for name in names:
        note(f"{name}: {len(problems)} problems, {SEEDS} seeds, batch {batch}")
        args = arguments(release, work, name, problems, batch)
        if name not in ("bayesian", "random"):
            tuner.run_peer(args)
            continue
        done = tuner.done_runs(args.work / "results" / f"{name}.jsonl")
        args.problems = [p for p in problems if (p, SEEDS - 1, batch) not in done]
        tuner.run_ours(args)


def regrets(release, work, names, problems, batch=1):
    """[tuner][problem]: an array of (seed, trial), the regret of the best so far."""
    args = arguments(release, work, "", problems, batch)
    args.tuners = names
    found = tuner.load(args)
    return {name: {p: np.array([c for s, c in sorted(found.get(name, {}).get(p, {}).items()) if s < SEEDS])
                   for p in problems} for name in names}


def compare(what, ours, theirs, peer, marks=MARKS):
    rng = np.random.default_rng(0)
    problems = [p for p in ours if len(ours[p]) and len(theirs[p])]
    for mark in marks:
        a = [ours[p][:, mark - 1] for p in problems]
        b = [theirs[p][:, mark - 1] for p in problems]
        ratio, low, high = tuner.geometric_ratio(a, b, DRAWS, rng)
        wins = [1 + (x.mean() > y.mean()) + 0.5 * (x.mean() == y.mean()) for x, y in zip(a, b)]
        table.add(f"{what} ({len(problems)})", str(mark), peer, f"{np.mean([x.mean() for x in a]):.4f}",
                  f"{np.mean([y.mean() for y in b]):.4f}", f"{ratio:.3f} ({low:.3f}..{high:.3f})",
                  f"{np.mean(wins):.2f}, {3 - np.mean(wins):.2f}")


def beside(release, work, what, peers, problems, batch=1):
    play(release, work, ("bayesian", *peers), problems, batch)
    found = regrets(release, work, ("bayesian", *peers), problems, batch)
    for peer in peers:
        compare(what, found["bayesian"], found[peer], peer)


def sequential(release, work):
    beside(release, work, "tables never seen", (*FAST, *(p for p in SLOW if tuner.installed(p))), tables(work))


def bbob(release, work):
    for dimension in tuner.BBOB_DIMENSIONS:
        problems = [p for p in tuner.bbob_problems() if p.split(":")[2] == str(dimension)]
        beside(release, work, f"BBOB, {dimension} dimensions", ("dlib", "optuna-cmaes", "optuna-tpe-multivariate"), problems)


def batch(release, work):
    problems = tables(work)
    peers = ("optuna-tpe-multivariate-liar",)
    play(release, work, ("bayesian",), problems)
    alone = regrets(release, work, ("bayesian",), problems)["bayesian"]
    beside(release, work, "eight at a time", peers, problems, batch=8)
    together = regrets(release, work, ("bayesian",), problems, batch=8)["bayesian"]
    compare("eight at a time", together, alone, "ours, one at a time", MARKS[1:])


def early(release, work):
    tables(work)
    tuner.report_curves(arguments(release, work, "", []))


def speed(release, work):
    program = pathlib.Path(release) / "bench/tuner_bench"
    for trials in (100, 500, 2000):
        out = subprocess.run([program, "run", "bbob:8:10:1", "--strategy", "bayesian", "--seeds", "1", "--trials",
                              str(trials)], check=True, capture_output=True, text=True).stdout
        record = json.loads(out)
        note(f"10 dimensions, {trials} trials: {1000 * record['seconds'] / trials:.1f} ms a suggestion on average, the "
             f"longest {1000 * record['worst']:.1f} ms; {1000 * record['last']:.1f} ms the last ones")


SECTIONS = {"tuner": sequential, "tuner-bbob": bbob, "tuner-batch": batch, "tuner-early": early, "tuner-speed": speed}

if __name__ == "__main__":
    run(SECTIONS, table, lambda section, release, work: section(release, work))
