"""The demo as a user runs it: it ends by itself with right counts, and leaves nothing however it is ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.spark.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

SMALL = ("--rides", "3000", "--live-seconds", "2")
END_SECONDS = 180.0
MARK = "PULSAR_SPARK_DEMO_TEST"


class Demo:
    """One run of the demo; the processes it starts are found by a mark in their environment."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder
        self.mark = uuid.uuid4().hex
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pulsar_spark.demo", *SMALL, *arguments],
            cwd=folder,
            env={**os.environ, MARK: self.mark, "TMPDIR": str(folder), "SPARK_LOCAL_IP": "127.0.0.1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # A Ctrl-C goes to a whole group of processes, as it does in a terminal.
            start_new_session=True,
        )

    def until(self, text: str) -> None:
        """Read the report up to the line with this text."""
        assert self.process.stdout is not None
        assert any(text in line for line in self.process.stdout), f"the report ended without '{text}'"

    def processes(self) -> list[int]:
        """All that still run."""
        mark = f"{MARK}={self.mark}".encode()
        return [
            int(entry.name)
            for entry in Path("/proc").iterdir()
            if entry.name.isdecimal() and mark in _text(entry / "environ")
        ]

    def commands(self) -> list[bytes]:
        """The command lines of all that still run."""
        return [_text(Path("/proc", str(process), "cmdline")) for process in self.processes()]

    def files(self) -> list[str]:
        """All that is left in the temporary folder but the locks of ports, which are empty and shared."""
        return [
            path.name for path in self.folder.iterdir() if not path.name.startswith(("pulsar-spark-ports", "hsperf"))
        ]


def _text(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


@pytest.fixture
def start() -> Iterator[list[Demo]]:
    """Demos that a test started; ended with it."""
    started: list[Demo] = []
    yield started
    for demo in started:
        for process in demo.processes():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        demo.process.communicate(timeout=END_SECONDS)


def test_every_count_is_right_and_nothing_is_left(tmp_path: Path, start: list[Demo]) -> None:
    demo = Demo(tmp_path, "--json", "--seed", "7")
    start.append(demo)
    out, err = demo.process.communicate(timeout=900)
    assert demo.process.returncode == 0, err
    facts = json.loads(out)
    assert facts["ok"] is True
    assert facts["seed"] == 7
    assert len(facts["checks"]) >= 10
    assert all(check["ok"] for check in facts["checks"])
    rows = {step["title"]: step["rows"] for step in facts["steps"]}
    assert rows["`rides` is counted"] == 3000
    assert facts["live_delay_ms"]["median"] > 0
    assert facts["levels"].keys() == {"broker", "segment"}
    assert all(level["rows_per_second"] > 0 for level in facts["levels"].values())
    assert "rows of the answer that are the same at both levels" in {check["title"] for check in facts["checks"]}
    assert "seed 7" in err
    assert "\033" not in err
    assert "WARN" not in err
    eventually(lambda: demo.processes() == [], seconds=END_SECONDS)
    assert demo.files() == []


@pytest.mark.parametrize(
    "moment",
    [
        "seed",
        pytest.param("pyspark-shell", marks=pytest.mark.exhaustive),
        pytest.param("Pulsar 4", marks=pytest.mark.exhaustive),
        pytest.param("are produced", marks=pytest.mark.exhaustive),
        pytest.param("is counted", marks=pytest.mark.exhaustive),
        pytest.param("micro-batch", marks=pytest.mark.exhaustive),
    ],
)
def test_ctrl_c_leaves_nothing_at_any_moment(moment: str, tmp_path: Path, start: list[Demo]) -> None:
    demo = Demo(tmp_path)
    start.append(demo)
    if moment == "pyspark-shell":
        eventually(lambda: any(b"java" in line and moment.encode() in line for line in demo.commands()))
    else:
        demo.until(moment)
    os.killpg(demo.process.pid, signal.SIGINT)
    out, err = demo.process.communicate(timeout=END_SECONDS)
    assert demo.process.returncode == 130
    assert "Interrupted" in out, out + err
    assert "Traceback" not in err
    eventually(lambda: demo.processes() == [], seconds=END_SECONDS)
    assert demo.files() == []


@pytest.mark.parametrize("moment", ["Pulsar 4", "is counted"])
@pytest.mark.exhaustive  # test_local_command ends a server by the same signal
def test_sigterm_leaves_nothing(moment: str, tmp_path: Path, start: list[Demo]) -> None:
    demo = Demo(tmp_path)
    start.append(demo)
    demo.until(moment)
    demo.process.terminate()
    demo.process.communicate(timeout=END_SECONDS)
    eventually(lambda: demo.processes() == [], seconds=END_SECONDS)
    assert demo.files() == []
