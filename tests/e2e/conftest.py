import itertools
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from engine import ROOT, Engine  # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--sabia", default="build/dev/sabia", help="the binary under test")


@pytest.fixture(scope="session")
def binary(request):
    path = pathlib.Path(request.config.getoption("--sabia"))
    path = path if path.is_absolute() else ROOT / path
    assert path.exists(), f"{path} is not built"
    return path.absolute()


@pytest.fixture(scope="session")
def engine(binary, tmp_path_factory):
    """One daemon per test worker; tests use names of their own."""
    made = Engine(binary, tmp_path_factory.mktemp("engine") / "home").start()
    yield made
    made.stop()


@pytest.fixture
def fresh_engine(binary, tmp_path):
    """A daemon that the test may kill."""
    made = []

    def make(*options):
        made.append(Engine(binary, tmp_path / f"home{len(made)}", *options).start())
        return made[-1]

    yield make
    for each in made:
        each.stop()


_numbers = itertools.count(1)


@pytest.fixture
def name(request):
    """A job name of the test's own."""
    import re
    base = re.sub(r"[^a-zA-Z0-9]+", "-", request.node.name).strip("-")[:40].strip("-")
    return f"{base}-{next(_numbers)}"
