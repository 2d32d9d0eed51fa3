"""The commands that people type: help, exit codes, completion, and what the README and the manual page promise."""
import json
import os
import re
import shutil
import socket
import subprocess

import pytest
import test_tuning
from engine import ROOT


def test_every_command_explains_itself(engine):
    top = engine.sabia("--help").stdout
    for command in ("serve", "env", "jobs", "logs", "spot", "cost", "data", "fsck", "simulate", "keys", "algorithm",
                    "completion"):
        assert re.search(rf"^  {command} ", top, re.M), top
        assert "Usage:" in engine.sabia(command, "--help").stdout
    assert "agent" not in re.findall(r"^  (\w+)", top, re.M), "started by the daemon, not by people"


def test_exit_codes(engine, tmp_path):
    assert engine.sabia("no-such-command", check=False).returncode == 2
    assert engine.sabia("jobs", "no-such-job", check=False).returncode == 1
    run = subprocess.run([engine.binary, "--home", str(tmp_path / "empty"), "jobs"], capture_output=True, text=True)
    assert run.returncode == 3 and "serve" in run.stderr


def test_wrong_usage_is_named(engine, tmp_path):
    run = engine.sabia("bogus", check=False)
    assert run.returncode == 2 and "bogus" in run.stderr
    assert subprocess.run([engine.binary, "--home", "", "jobs"], capture_output=True).returncode == 2
    behind = subprocess.run([engine.binary, "jobs", "--home", str(engine.home)], capture_output=True, text=True)
    assert behind.returncode == 0, behind.stderr
    run = engine.sabia("serve", "--python", "/no/such/python", check=False)
    assert run.returncode == 1 and "/no/such/python" in run.stderr
    run = engine.sabia("serve", "--port", "70000", check=False)
    assert run.returncode == 2 and "70000" in run.stderr and "65535" in run.stderr


def test_a_second_daemon_on_the_same_home_is_refused(engine):
    run = engine.sabia("serve", "--port", "0", "--tls-port", "0", check=False)
    assert run.returncode == 1 and str(engine.process.pid) in run.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_accepted_by_its_shell(engine, shell, tmp_path):
    script = engine.sabia("completion", shell).stdout
    assert "spot" in script
    if shutil.which(shell):
        file = tmp_path / "completion"
        file.write_text(script)
        assert subprocess.run([shell, "-n", str(file)], capture_output=True).returncode == 0


def test_jobs_logs_and_cost_of_a_job(engine, name):
    engine.script(name, "print('hello from the job')")
    engine.wait(name)
    assert re.search(rf"^{name} +Completed", engine.sabia("jobs", "--contains", name).stdout, re.M)
    text = engine.sabia("jobs", name).stdout
    assert "Completed" in text and "on-demand" in text
    assert engine.sabia("logs", name, "--follow").stdout == "hello from the job\n"
    assert "billable" in engine.sabia("cost", name).stdout


def test_the_commands_of_the_readme_work(engine, tmp_path, name):
    """Runs the shell lines of "Use it", with the binary under test and the running engine in place of theirs."""
    readme = (ROOT / "README.md").read_text()
    section = readme[readme.index("## Use it"):readme.index("## What runs")]
    lines = re.findall(r"^    (\S.*)$", section[:section.index("```python")], re.M)
    assert lines[0] == "build/release/sabia serve" and lines[1] == 'eval "$(build/release/sabia env)"', lines
    engine.script(name, "print('x')")
    engine.wait(name)
    search = test_tuning.create(engine, "readme", test_tuning.definition(engine, "readme", test_tuning.SQUARE),
                                test_tuning.config(trials=2))
    test_tuning.wait(engine, search)
    commands = [l.split("#")[0].strip() for l in re.findall(r"^    (sabia .*)$", section, re.M)]
    script = "\n".join(["set -e", *lines[1:], *commands])
    script = script.replace("build/release/sabia", "sabia").replace("JOB", name).replace("SEARCH", search)
    assert "sabia spot interrupt" in script
    # The job of this test has ended and was not on spot: that one line has a test of its own.
    script = re.sub(r"^sabia spot interrupt.*$", "sabia spot interrupt --help >/dev/null", script, flags=re.M)
    bin_directory = tmp_path / "bin"
    bin_directory.mkdir()
    (bin_directory / "sabia").symlink_to(engine.binary)
    environment = {**os.environ, "PATH": f"{bin_directory}:/usr/bin:/bin", "SABIA_HOME": str(engine.home)}
    run = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, timeout=100,
                         cwd=tmp_path)
    assert run.returncode == 0, (script, run.stdout, run.stderr)


WORKLOAD = {"seed": 3, "tick_seconds": 600,
            "jobs": [{"instance_type": "ml.p3.2xlarge", "work_hours": 6, "deadline_hours": 10, "checkpoint_minutes": 30,
                      "arrivals": {"count": 10, "every_hours": 24}}],
            "markets": [{"kind": "trace", "file": "zone.json"}]}


def simulate(binary, directory, workload, *options):
    (directory / "zone.json").write_text(json.dumps({"metadata": {"gap_seconds": 1800}, "rle": [[1, 7], [0, 3], [1, 2], [0, 1]]}))
    (directory / "workload.json").write_text(json.dumps(workload))
    return subprocess.run([str(binary), "simulate", str(directory / "workload.json"), *options], capture_output=True, text=True,
                          timeout=60)


def test_simulate_needs_no_daemon_and_repeats_itself(binary, tmp_path):
    run = simulate(binary, tmp_path, WORKLOAD)
    assert run.returncode == 0, run.stderr
    for word in ("10 jobs", "POLICY", "greedy", "uniform-progress", "planner", "omniscient", "SAVING"):
        assert word in run.stdout, run.stdout
    report = json.loads(simulate(binary, tmp_path, WORKLOAD, "--json").stdout)
    assert report == json.loads(simulate(binary, tmp_path, WORKLOAD, "--json").stdout)
    costs = {policy["Policy"]: policy["CostUsd"] for policy in report["Policies"]}
    assert costs["omniscient"] <= costs["planner"] < costs["on-demand"]
    assert all(policy["DeadlinesMissed"] == 0 for policy in report["Policies"])
    # 10 jobs of 6 hours and 5 minutes of changeover at the price book's rate.
    assert costs["on-demand"] == pytest.approx(10 * (6 + 5 / 60) * 3.825, rel=1e-6)


def test_simulate_names_mistakes(binary, tmp_path):
    run = simulate(binary, tmp_path, {**WORKLOAD, "tick_second": 5})
    assert run.returncode == 1 and "workload.json" in run.stderr and "unknown member 'tick_second'" in run.stderr
    run = simulate(binary, tmp_path, {**WORKLOAD, "markets": [{"kind": "trace", "file": "gone.json"}]})
    assert run.returncode == 1 and "gone.json" in run.stderr
    run = subprocess.run([str(binary), "simulate", str(tmp_path / "none.json")], capture_output=True, text=True)
    assert run.returncode == 1 and "none.json" in run.stderr


def test_a_start_that_fails_leaves_nothing(binary, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        run = subprocess.run([str(binary), "--home", str(tmp_path / "new/er/home"), "serve", "--tls-port", "0", "--port",
                              str(taken.getsockname()[1])], capture_output=True, text=True, timeout=30)
    assert run.returncode == 1 and "failed to listen" in run.stderr, run
    assert list(tmp_path.iterdir()) == []


def test_the_make_targets_of_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"make ([a-z0-9]+)", (ROOT / "README.md").read_text() + (ROOT / "CONTRIBUTING.md").read_text()):
        assert re.search(rf"^{target}:", makefile, re.M), target


@pytest.mark.timeout(200)
def test_the_demo_trains_through_an_interruption(binary):
    run = subprocess.run([str(ROOT / "examples/demo/demo.sh"), str(binary)], capture_output=True, text=True, timeout=180,
                         env={**os.environ, "NO_COLOR": "1"})
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
    for word in ("Interrupted", "Completed", "model.tar.gz", "RMSE", "saved"):
        assert word.lower() in run.stdout.lower(), (word, run.stdout)
    assert "\x1b[" not in run.stdout


@pytest.mark.parametrize("page", ["sabia.1", "sabia-external-s3.5"])
def test_the_manual_page_is_well_formed(page):
    if not shutil.which("man"):
        pytest.skip("man is not installed")
    run = subprocess.run(["man", "--warnings", "-l", str(ROOT / "docs/man" / page)], capture_output=True, text=True,
                         env={**os.environ, "MANPAGER": "cat"})
    assert run.returncode == 0 and not run.stderr.strip(), run.stderr
