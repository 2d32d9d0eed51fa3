"""The engine without root: everything works, and what cannot be enforced is told."""
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from engine import Engine
from test_xgboost import train, upload

NOBODY = 65534


@pytest.fixture(scope="module")
def unprivileged(binary):
    """A daemon of the user nobody when the tests run as root, of their own user otherwise."""
    user = NOBODY if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="sabia-e2e-") as root:
        # The build may lie where others cannot look.
        own = pathlib.Path(shutil.copy2(binary, pathlib.Path(root) / "sabia"))
        directory = pathlib.Path(root) / "of-nobody"
        directory.mkdir()
        if user is not None:
            os.chmod(root, 0o755)
            os.chown(directory, user, user)
            if subprocess.run(["unshare", "-U", "true"], user=user, group=user, extra_groups=[],
                              capture_output=True).returncode != 0:
                pytest.skip("this kernel gives users no namespaces of their own")
        engine = Engine(own, directory / "home", user=user).start()
        yield engine
        engine.stop()


def test_a_script_trains_without_privileges(unprivileged, name):
    s3 = unprivileged.client("s3")
    s3.put_object(Bucket=unprivileged.bucket(), Key=f"{name}/in/a.csv", Body=b"1,2\n")
    source = {"S3DataType": "S3Prefix", "S3Uri": f"s3://data/{name}/in/"}
    unprivileged.script(
        name, "import os\nprint('uid', os.getuid())\n"
        "with open('/opt/ml/input/data/train/a.csv', 'a') as f: f.write('3,4\\n')\n"
        "open('/opt/ml/model/m', 'w').write(open('/opt/ml/input/data/train/a.csv').read())\n",
        InputDataConfig=[{"ChannelName": "train", "DataSource": {"S3DataSource": source}}])
    seen = unprivileged.wait(name)
    assert seen["TrainingJobStatus"] == "Completed", (seen, unprivileged.lines(name))
    assert "uid 0" in unprivileged.lines(name), "root of its own namespace"
    assert unprivileged.artifact(seen["ModelArtifacts"]["S3ModelArtifacts"]) == {"m": b"1,2\n3,4\n"}
    assert s3.get_object(Bucket="data", Key=f"{name}/in/a.csv")["Body"].read() == b"1,2\n", "the object was changed"
    for path in [unprivileged.home, *unprivileged.home.rglob("*")]:
        assert path.lstat().st_uid == (os.geteuid() if unprivileged.user is None else unprivileged.user), path


def test_limits_that_cannot_be_enforced_are_told(unprivileged, name):
    unprivileged.script(name, "print('x')")
    assert unprivileged.wait(name)["TrainingJobStatus"] == "Completed"
    shown = unprivileged.sabia("jobs", name).stdout
    if unprivileged.user is None and "not enforced" not in shown:
        pytest.skip("this user may make control groups")
    assert "memory limit not enforced" in shown, shown


def test_xgboost_trains_without_privileges(unprivileged, name):
    train(unprivileged, name, upload(unprivileged, name), {"num_round": 5, "max_depth": 5})
    seen = unprivileged.wait(name)
    assert seen["TrainingJobStatus"] == "Completed", (seen, unprivileged.lines(name))
    assert list(unprivileged.artifact(seen["ModelArtifacts"]["S3ModelArtifacts"])) == ["xgboost-model"]
