"""The real SDKs and the AWS CLI as a user runs them: a process of their own with what `sabia env` exports, no more."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

CLIENTS = pathlib.Path(__file__).resolve().parent.parent / "clients"
INSTALLED = pathlib.Path(sys.prefix).parent  # build/clients


def run(engine, tmp_path, command, **extra):
    home = tmp_path / "user"
    home.mkdir(exist_ok=True)
    environment = {**engine.environment(), "HOME": str(home), **extra}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, f"{command}\n{done.stdout[-6000:]}\n{done.stderr[-6000:]}\n{engine.tail()}"
    assert not (home / ".aws").exists(), "nothing in the user's home may change"
    return done.stdout


V2 = ["estimator", "xgboost_spot", "script_mode", "stop_and_attach", "pipe", "tuner", "tuner_of_scripts"]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("case", V2)
def test_sagemaker_sdk_v2(engine, tmp_path, name, case):
    out = run(engine, tmp_path, [sys.executable, str(CLIENTS / "sdk_v2.py"), case, name.replace("_", "-")])
    assert f"{case} passed" in out


@pytest.mark.timeout(300)
@pytest.mark.parametrize("case", ["model_trainer", "tuner"])
def test_sagemaker_sdk_v3(engine, tmp_path, name, case):
    python = INSTALLED / "python-v3/bin/python"
    out = run(engine, tmp_path, [str(python), str(CLIENTS / "sdk_v3.py"), case, name.replace("_", "-")])
    assert f"{case} passed" in out


@pytest.mark.parametrize("python", ["/usr/bin/python3", str(INSTALLED / "python-v3/bin/python")],
                         ids=["debian", "newest"])
def test_boto3(engine, tmp_path, name, python):
    out = run(engine, tmp_path, [python, str(CLIENTS / "boto3_tour.py"), name])
    assert "boto3 tour passed" in out


def test_javascript_sdk(engine, tmp_path, name):
    node = shutil.which("node")
    assert node, "node is missing (package npm)"
    script = tmp_path / "tour.mjs"
    shutil.copy(CLIENTS / "tour.mjs", script)
    os.symlink(INSTALLED / "js/node_modules", tmp_path / "node_modules")
    assert "javascript tour passed" in run(engine, tmp_path, [node, str(script), name])


@pytest.mark.timeout(200)
def test_aws_cli(engine, tmp_path, name):
    assert shutil.which("aws"), "the AWS CLI is missing (package awscli)"
    out = run(engine, tmp_path, ["bash", str(CLIENTS / "aws_cli.sh"), name.lower()])
    assert "aws cli tour passed" in out
