"""The order of a run and its summary. Needs no server."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from support.runs import ordering
from support.runs.ordering import SHUFFLE, pytest_collection_modifyitems
from support.runs.processors import Processors, cpu_seconds
from support.runs.summary import warnings_between
from support.runs.together import TOGETHER, piece_of_work

_FAILING = """
import pytest

@pytest.fixture
def broken():
    raise OSError("no server")

def test_long():
    assert list(range(100)) == list(range(200))

def test_set_up(broken):
    pass
"""

NAMES = [f"test_{module}" for module in ("a", "tls", "b", "bookie_faults")]


@pytest.fixture
def items(tmp_path: Path) -> list[pytest.Item]:
    """Three tests in each of some modules."""
    found: list[object] = [
        SimpleNamespace(path=tmp_path / f"{name}.py", name=str(n)) for name in NAMES for n in range(3)
    ]
    return found  # type: ignore[return-value]


def modules(items: list[pytest.Item]) -> list[str]:
    """The module of every third test: each module is in one piece."""
    names = [item.path.stem for item in items]
    assert names == [name for name in names[::3] for _ in range(3)]
    return names[::3]


def test_long_modules_are_first_and_tests_stay_in_their_order(
    items: list[pytest.Item], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(SHUFFLE, raising=False)
    pytest_collection_modifyitems(items)
    assert modules(items) == ["test_bookie_faults", "test_tls", "test_a", "test_b"]
    assert [item.name for item in items[:3]] == ["0", "1", "2"]


def test_every_module_that_is_first_exists() -> None:
    there = {file.stem for file in Path(ordering.__file__).parents[2].rglob("test_*.py")}
    assert set(ordering.LONGEST) <= there


def test_modules_that_share_servers_are_one_piece_of_work() -> None:
    there = {file.stem for file in Path(ordering.__file__).parents[2].rglob("test_*.py")}
    for group in TOGETHER:
        assert set(group) <= there
        assert len({piece_of_work(f"integration/anywhere/{name}.py") for name in group}) == 1
    pieces = {piece_of_work(f"integration/anywhere/{group[0]}.py") for group in TOGETHER}
    assert len(pieces) == len(TOGETHER)
    assert piece_of_work("integration/read/test_alone.py") == "integration/read/test_alone.py"


def test_a_seed_is_an_order(items: list[pytest.Item], monkeypatch: pytest.MonkeyPatch) -> None:
    def order(seed: str) -> list[pytest.Item]:
        monkeypatch.setenv(SHUFFLE, seed)
        shuffled = list(items)
        pytest_collection_modifyitems(shuffled)
        modules(shuffled)
        return shuffled

    assert order("1") == order("1")
    assert order("1") != order("2") != items
    assert sorted(map(id, order("2"))) == sorted(map(id, items))
    places = {modules(order(str(seed))).index("test_bookie_faults") for seed in range(50)}
    assert places == set(range(len(NAMES))), "long modules move like the others"


def test_the_idle_share() -> None:
    assert Processors(idle=130, total=1200).idle_since(Processors(idle=100, total=1000)) == 0.15


def test_the_cpu_time_of_a_process_is_that_of_all_it_started(tmp_path: Path) -> None:
    second = os.sysconf("SC_CLK_TCK")
    # own times, those of children that ended
    for process, parent, times in ((1, 0, (900, 0)), (7, 1, (1, 4)), (8, 7, (2, 0)), (9, 8, (3, 0)), (10, 1, (70, 0))):
        own, ended = (count * second for count in times)
        (tmp_path / str(process)).mkdir()
        fields = ["S", str(parent), *["0"] * 9, str(own), "0", str(ended), "0", "20"]
        (tmp_path / str(process) / "stat").write_text(f"{process} (a (name) of it) {' '.join(fields)}")
    assert cpu_seconds(7, tmp_path) == 10
    assert cpu_seconds(7, tmp_path / "missing") == 0


def test_warnings_of_a_time_are_found_in_the_log_of_a_server(tmp_path: Path) -> None:
    log = tmp_path / "pulsar.log"
    noon = datetime(2026, 1, 31, 12).timestamp()
    lines = [
        "2026-01-31T11:59:59,999 WARN  [main] A - before",
        "2026-01-31T12:00:00,000 WARN  [main] A - warned" + 300 * "!",
        "2026-01-31T12:00:00,500 INFO  [main] A - told",
        "java.lang.Exception: a line of a stack trace",
        "2026-01-31T12:00:01,000 ERROR [main] A - failed",
        "2026-01-31T12:00:02,001 ERROR [main] A - after",
    ]
    log.write_text("\n".join(lines))
    found = warnings_between(log, noon, noon + 2).splitlines()
    assert [line.partition(" - ")[2][:6] for line in found] == ["warned", "failed"]
    assert max(map(len, found)) < 250
    assert warnings_between(tmp_path / "missing", noon, noon + 2) == ""


def test_failures_are_the_last_lines_of_a_run_each_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "test_failing.py").write_text(_FAILING)
    paths = os.pathsep.join(sys.path)
    command = [sys.executable, "-m", "pytest", "-p", "support.runs.summary", "-p", "no:cacheprovider", "-n", "2", "."]
    environment = {**os.environ, "PYTHONPATH": paths, "CI": "yes"}
    run = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=180, check=False
    )
    assert sorted(run.stdout.splitlines()[-2:]) == [
        "FAILED test_failing.py::test_long - assert [0, 1, 2, 3, 4, 5, ...] == [0, 1, 2, 3, 4, 5, ...]",
        "FAILED test_failing.py::test_set_up (setup) - OSError: no server",
    ], run.stdout
