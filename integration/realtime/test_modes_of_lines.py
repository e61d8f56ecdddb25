"""A checkpoint goes on in each mode of each Spark line, and back: the packaged jar in the environment of each line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from realtime.line_driver import ANSWER
from realtime.sending import Copy

from support.spark.waiting import eventually
from support.topics.messages import produce

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pulsar as pulsar_client

    from support.servers.admin import Admin

_ROOT = Path(__file__).parents[2]
_ENVIRONMENTS = {"4.0": ".venv-4.0", "4.1": ".venv-4.1", "4.2": ".venv-4.2", "4.3": ".venv"}
_MODES = [
    (line, mode)
    for line in _ENVIRONMENTS
    for mode in ("micro-batch", "real-time")
    if (line, mode) != ("4.0", "real-time")
]
_PAIRS = [
    (first, second) for first in _MODES for second in _MODES if first != second and "real-time" in (first[1], second[1])
]
_NEWEST = ("4.3", "real-time")
_SENT_EACH = 7


class LineDriver:
    """A process with Spark of one line, which runs steps of queries."""

    def __init__(self, line: str, service_url: str, jar: Path, log: Path) -> None:
        python = _ROOT / _ENVIRONMENTS[line] / "bin" / "python"
        if not python.exists():
            pytest.skip(f"{python} does not exist: make {_ENVIRONMENTS[line]}/.ready")
        program = str(Path(__file__).with_name("line_driver.py"))
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if "site-packages" not in path),
        }
        environment.pop("SPARK_HOME", None)
        with log.open("w") as errors:
            self.process = subprocess.Popen(
                [str(python), program, service_url, str(jar)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=environment,
            )

    def run(self, **step: object) -> str:
        """Run a step; returns its error."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(step) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith(ANSWER):
                return line.removeprefix(ANSWER).strip()
        raise AssertionError("the driver ended")

    def close(self) -> None:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        self.process.wait(300)
        self.process.stdout.close()


@pytest.fixture(scope="module")
def drivers(
    service_url: str, connector_jar: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], LineDriver]]:
    """The driver of a line, which is started when it is first used."""
    started: dict[str, LineDriver] = {}
    folder = tmp_path_factory.mktemp("drivers")

    def driver(line: str) -> LineDriver:
        if line not in started:
            started[line] = LineDriver(line, service_url, connector_jar, folder / f"{line}.log")
        return started[line]

    yield driver
    for one in started.values():
        one.close()


def _partition(row: str) -> str:
    return row[0]


class Query:
    """A query that copies a topic of two partitions, in one mode and line after the other."""

    def __init__(
        self, drivers: Callable[[str], LineDriver], admin: Admin, client: pulsar_client.Client, topic: str, folder: Path
    ) -> None:
        admin.create_topic(topic, partitions=2)
        self._partitions = [f"{topic}-partition-{number}" for number in (0, 1)]
        self._drivers, self._admin, self._client = drivers, admin, client
        self._step = {"topic": topic, "checkpoint": str(folder)}
        self._copy = Copy(client, f"{topic}-copy")
        self._sent: list[str] = []

    def goes_on(self, line: str, mode: str, state_format: str = "2") -> str:
        """Send messages, and copy them; returns the error."""
        for number, partition in enumerate(self._partitions):
            values = [f"{number} {len(self._sent) + one}" for one in range(_SENT_EACH)]
            produce(self._client, partition, [value.encode() for value in values], batch_size=_SENT_EACH)
            self._sent += values
        error = self._drivers(line).run(mode=mode, rows=len(self._sent), format=state_format, **self._step)
        # a task that was told to end may read what is sent at once
        eventually(lambda: not any(map(self._admin.subscriptions, self._partitions)))
        if not error:
            assert sorted(self._copy.rows(), key=_partition) == sorted(self._sent, key=_partition), "each in its order"
        return error

    def close(self) -> None:
        self._copy.close()


@pytest.fixture
def query(
    drivers: Callable[[str], LineDriver], admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> Iterator[Query]:
    query = Query(drivers, admin, client, topic, tmp_path)
    yield query
    query.close()


@pytest.mark.exhaustive  # one line alone is in test_real_time.py
@pytest.mark.parametrize(("first", "second"), _PAIRS, ids=" ".join)
def test_a_checkpoint_goes_on_in_another_mode_and_line(
    query: Query, first: tuple[str, str], second: tuple[str, str]
) -> None:
    for line, mode in (first, second, first):
        assert not query.goes_on(line, mode)


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", [one for one in _MODES if one != _NEWEST], ids=" ".join)
def test_a_checkpoint_that_was_begun_with_defaults_is_for_micro_batches_of_spark_4_3(
    query: Query, first: tuple[str, str]
) -> None:
    assert not query.goes_on(*first, state_format="")
    assert "CHECKPOINT_FORMAT_V1_NOT_SUPPORTED" in query.goes_on(*_NEWEST, state_format="")
    assert not query.goes_on("4.3", "micro-batch", state_format="")
