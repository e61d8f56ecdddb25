"""The clock of driver and tasks is set while they read and write: it decides nothing."""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.servers.shifted_clock import ShiftedClock
from support.spark.programs import running_program
from support.spark.waiting import becomes, eventually
from support.topics.messages import produce, read_all

if TYPE_CHECKING:
    import subprocess

    import pulsar as pulsar_client

    from support.servers.admin import Admin
    from support.servers.servers import Addresses

pytestmark = pytest.mark.exhaustive

_DRIVER = Path(__file__).with_name("clock_driver.py")
_GUARANTEES = ("at-least-once", "exactly-once")
_MESSAGES = 200
# Less than Spark takes for the silence of an executor that is lost.
_AHEAD_SECONDS = 60
_SECONDS = 300


def test_the_clock_of_a_job_jumps_ahead_and_back(
    admin: Admin,
    client: pulsar_client.Client,
    pulsar: Addresses,
    topic: str,
    connector_jar: Path,
    tmp_path: Path,
) -> None:
    clock = ShiftedClock(tmp_path / "clock")
    copies = {one: f"{topic}-{one}" for one in _GUARANTEES}
    for name in (topic, *copies.values()):
        admin.create_topic(name, partitions=2)
    task = {"jar": str(connector_jar), "service.url": pulsar.service_url, "admin.url": pulsar.admin_url}
    task |= {"topic": topic, "folder": str(tmp_path)}
    with running_program(_DRIVER, {**task, "copies": copies}, tmp_path, clock.environment) as job:
        for turn, seconds in enumerate((0, _AHEAD_SECONDS, 0), 1):
            with clock.ahead(seconds):
                numbers = range(_MESSAGES * (turn - 1), _MESSAGES * turn)
                produce(client, topic, [b"%d" % number for number in numbers], batch_size=7)
                eventually(partial(_has_read, job, tmp_path, _MESSAGES * turn, seconds), seconds=_SECONDS)
                wanted = {b"%d" % number for number in range(_MESSAGES * turn)}
                for copy in copies.values():
                    becomes(partial(_different, client, copy), wanted, seconds=_SECONDS)
    copied = [message.payload for message in read_all(client, copies["exactly-once"])]
    assert len(copied) == len(set(copied))


def _has_read(job: subprocess.Popen[str], folder: Path, count: int, ahead: int) -> bool:
    """Whether the last batch reads had so many rows, by a clock that is so far ahead."""
    assert job.poll() is None, (folder / "driver.log").read_text()[-3000:]
    if not (folder / "told").exists():
        return False
    told = json.loads((folder / "told").read_text())
    is_set = abs(told["millis"] / 1000 - time.time() - ahead) < _AHEAD_SECONDS / 2
    return bool(is_set and told["rows"] == [count, count])


def _different(client: pulsar_client.Client, topic: str) -> set[bytes]:
    return {message.payload for message in read_all(client, topic)}
