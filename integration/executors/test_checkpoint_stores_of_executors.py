"""State in a checkpoint store that executors of their own write and read, also while they and drivers are killed."""

from __future__ import annotations

import os
import signal
import subprocess
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from checkpoints.stores import APART, KEYS, PARTITIONS, ROCKSDB, counted, counts, last_commit, publish, start_counting
from executors.hosts import executors_of

from pulsar_spark.testing import run_to_end
from support.servers.servers import remove_namespace
from support.spark.programs import running_program
from support.spark.settings import hadoop_settings, session_settings, stores_of
from support.spark.waiting import eventually
from support.topics.reading import dice, running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from executors.hosts import Executors

    from support.servers.admin import Admin
    from support.servers.servers import Addresses
    from support.topics.writing import Target

pytestmark = pytest.mark.exhaustive

_DRIVER = Path(__file__).with_name("counting_driver.py")
_DRIVERS, _EXECUTORS = 8, 12
"""How many of each are killed."""

_ROWS = 200
"""So many for each kill: more than a query reads until it is killed."""

_SECONDS = 300


@pytest.fixture(scope="module")
def stores(admin: Admin, namespace: str) -> Iterator[str]:
    """A namespace for stores, whose subscriptions stay."""
    name = f"{namespace}-stores"
    admin.create_namespace(name)
    yield name
    remove_namespace(admin, name)


@pytest.mark.parametrize("kills", [0, 4])
def test_state_of_executors_is_exact(
    target: Target, pulsar: Addresses, executors: Executors, topic: str, stores: str, kills: int
) -> None:
    spark, total = target.spark, 2000
    checkpoint = f"pulsar-fs://{stores}/store-{kills}/query"
    publish(target.client, topic, total)
    with (
        session_settings(spark, {**PARTITIONS, **ROCKSDB}),
        hadoop_settings(spark, {**stores_of(pulsar), **APART}),
    ):
        query = start_counting(counted(spark, target.service_url, topic, 10), checkpoint, to_end=False)
        with running(query):
            for _ in range(kills):

                def newest() -> int:
                    assert query.isActive, query.exception()
                    return query.lastProgress["batchId"] if query.lastProgress else -1

                before = newest()
                eventually(lambda before=before: newest() > before + 3)  # type: ignore[misc]
                executors.both()[0].kill()
        run_to_end(start_counting(counted(spark, target.service_url, topic, 1000), checkpoint, to_end=True))
        assert counts(spark, checkpoint) == dict.fromkeys(range(KEYS), total // KEYS)


def test_drivers_and_executors_are_killed_again_and_again(
    target: Target, pulsar: Addresses, connector_jar: Path, topic: str, stores: str, tmp_path: Path
) -> None:
    random, spark = dice(), target.spark
    of_driver = Counter(random.randrange(_DRIVERS) for _ in range(_EXECUTORS))
    checkpoint, published = f"pulsar-fs://{stores}/killed/query", 0
    hadoop = {**stores_of(pulsar), **APART}
    settings = {**{f"spark.hadoop.{name}": value for name, value in hadoop.items()}, **PARTITIONS, **ROCKSDB}
    task = {
        "jar": str(connector_jar),
        "settings": settings,
        "service_url": target.service_url,
        "topic": topic,
        "checkpoint": checkpoint,
        "limit": 10,
    }

    def await_batches(process: subprocess.Popen[str]) -> None:
        """Until some more batches are committed, and a moment longer."""
        nonlocal published
        goal = last_commit(spark, checkpoint) + random.randint(1, 5)
        publish(target.client, topic, _ROWS, published)
        published += _ROWS

        def is_reached() -> bool:
            assert process.poll() is None, (tmp_path / "driver.log").read_text()[-3000:]
            return last_commit(spark, checkpoint) >= goal

        eventually(is_reached, seconds=_SECONDS)
        with suppress(subprocess.TimeoutExpired):
            process.wait(random.random() * 0.3)

    with session_settings(spark, {**PARTITIONS, **ROCKSDB}), hadoop_settings(spark, hadoop):
        for number in range(_DRIVERS):
            with running_program(_DRIVER, task, tmp_path) as process:
                assert process.stdout is not None
                words = process.stdout.readline().split()
                assert words, (tmp_path / "driver.log").read_text()[-3000:]
                jvm, application = words
                for _ in range(of_driver[number]):
                    await_batches(process)
                    random.choice(eventually(lambda of=application: executors_of(of))).kill()  # type: ignore[misc]
                await_batches(process)
                os.kill(int(jvm), signal.SIGKILL)
        run_to_end(start_counting(counted(spark, target.service_url, topic, 1000), checkpoint, to_end=True))
        assert counts(spark, checkpoint) == dict.fromkeys(range(KEYS), published // KEYS)
