"""One query from the oldest ledger of a large backlog to the tail, while a producer writes and drivers are killed."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pulsar as pulsar_client
import pytest

from support.proxies.admin_proxy import running_admin_proxy
from support.proxies.counting import counted
from support.servers.servers import Addresses, own_server
from support.spark.programs import running_program
from support.spark.waiting import eventually
from support.topics.messages import produce
from support.topics.reading import by_level
from support.topics.remaining import remaining

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

    from support.servers.admin import Admin

pytestmark = pytest.mark.exhaustive

_DRIVER = Path(__file__).with_name("backlog_driver.py")
_SECONDS = 600
_ENTRIES = 5_000
_LEDGERS = int(os.environ.get("PULSAR_SPARK_TEST_LEDGERS", "200"))
_BATCHES = 25  # of the backlog
_MOST = _LEDGERS * _ENTRIES // _BATCHES
_WRITTEN = _MOST // 10
_LOOK_SECONDS = 0.05


@pytest.fixture(scope="module")
def pulsar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    limits = {"managedLedgerMaxEntriesPerLedger": str(_ENTRIES), "managedLedgerMinLedgerRolloverTimeMinutes": "0"}
    with own_server(tmp_path_factory.mktemp("backlog"), limits, transactions=False) as addresses:
        yield addresses


@contextmanager
def _writing(client: pulsar_client.Client, topic: str, first: int, folder: Path) -> Iterator[Callable[[], None]]:
    """A producer that writes numbers until it is stopped, some after each micro-batch, fewer than are read."""
    done = threading.Event()

    def write() -> None:
        number, commits = first, -1
        while not done.wait(_LOOK_SECONDS):
            if _commits(folder) > commits:
                commits = _commits(folder)
                produce(client, topic, [b"%d" % n for n in range(number, number + _WRITTEN)])
                number += _WRITTEN

    def stop() -> None:
        done.set()
        writer.join()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield stop
    finally:
        stop()


def _read(client: pulsar_client.Client, topic: str) -> list[tuple[str, bytes]]:
    reader = client.create_reader(topic, pulsar_client.MessageId.earliest, receiver_queue_size=10_000)
    found = []
    for message in remaining(reader):
        place = message.message_id()
        found.append((f"{place.ledger_id()}:{place.entry_id()}", message.data()))
    reader.close()
    return found


def _commits(folder: Path) -> int:
    return sum(one.name.isdigit() for one in folder.glob("checkpoint/commits/*"))


def _wait(folder: Path, commits: int, process: subprocess.Popen[str]) -> None:
    eventually(lambda: _commits(folder) >= commits or process.poll() is not None, seconds=_SECONDS)
    assert process.poll() is None, (folder / "driver.log").read_text()[-3000:]


def test_a_million_messages_in_two_hundred_ledgers_over_three_kills(
    spark: SparkSession,
    connector_jar: Path,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
) -> None:
    for ledger in range(_LEDGERS):
        produce(client, topic, [b"%d" % n for n in range(ledger * _ENTRIES, (ledger + 1) * _ENTRIES)])
    assert len(admin.internal_stats(topic)["ledgers"]) >= _LEDGERS
    with running_admin_proxy(admin.url) as proxy, counted(proxy) as counts:
        options = {"topic": topic, "admin.url": proxy.url, "maxMessagesPerTrigger": str(_MOST)}
        task = {
            "folder": str(tmp_path),
            "jar": str(connector_jar),
            "service.url": service_url,
            "options": options,
        }
        with _writing(client, topic, _LEDGERS * _ENTRIES, tmp_path) as stop_writing:
            for commits in (3, 9, 16):
                with running_program(_DRIVER, task, tmp_path) as killed:
                    _wait(tmp_path, commits, killed)
            with running_program(_DRIVER, task, tmp_path) as process:
                _wait(tmp_path, _BATCHES + 3, process)
                stop_writing()
                (tmp_path / "stop").touch()
                metrics, _ = process.communicate(timeout=_SECONDS)
        requests = counts.to_plan()
    found = by_level({name.removeprefix("pulsar"): int(n) for name, n in json.loads(metrics).items()}, "Rows")
    frame = spark.read.parquet(str(tmp_path / "rows"))
    rows = sorted((row[2], *map(int, row[0].split(":")), bytes(row[1])) for row in frame.collect())
    assert max(Counter(row[0] for row in rows).values()) <= _MOST
    assert [(f"{row[1]}:{row[2]}", row[3]) for row in rows] == _read(client, topic)
    # A driver that is killed may have planned a micro-batch that the next one plans again.
    assert requests <= _commits(tmp_path) + 3, f"{requests} for {_commits(tmp_path)} micro-batches"
    assert found["bookies"] > 0
