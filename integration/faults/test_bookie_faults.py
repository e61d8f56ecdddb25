"""Direct reads while bookies die, freeze, lose or spoil what they have.

As long as one copy is left, all is read from bookies; when none is, that is an error in time.
"""

from __future__ import annotations

import mmap
import threading
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import pytest

from support.servers.cluster import BOOKIES, Cluster, running_cluster
from support.spark.blocking_batch import LARGE, TAKEN_AT_MOST, blocking_batch
from support.spark.errors import failing
from support.spark.waiting import IN_TIME, eventually, within
from support.topics.messages import produce, read_all
from support.topics.reading import (
    Seen,
    assert_exactly_once,
    batch,
    description,
    entries_by_level,
    existing,
    read_rows,
    seen,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession

    from support.servers.cluster_node import Node

_STRIPED = "public/striped"

# Each task chooses a copy by lot: of so many, not all pass by the bookie that has the fault.
_TASKS = 8
_ENTRIES = 160

# With a setting of its own BookKeeper's client reads; otherwise only where each entry is on some of a ledger's bookies.
_BY_CLIENT = {"bookkeeper.readEntryTimeoutSec": "2"}
_CLIENT = pytest.param("client", marks=pytest.mark.exhaustive)  # as striped, of which each bookie has all
_WIRE = pytest.param("wire", marks=pytest.mark.exhaustive)  # BookieProtocolEntrySourceSuite has the same faults
_WAYS = pytest.mark.parametrize("way", ["striped", _CLIENT, _WIRE])

# What is read ahead may be little, so that a fault meets the read before its end.
_LITTLE_AHEAD = {"readAheadBytes": "1m", "minPartitions": "1"}


@pytest.fixture(scope="module")
def cluster(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:  # noqa: ARG001
    with running_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        cluster.admin.create_namespace(_STRIPED)
        striping = {"bookkeeperEnsemble": BOOKIES, "bookkeeperWriteQuorum": 2, "bookkeeperAckQuorum": 2}
        cluster.admin.set_policy(_STRIPED, "persistence", {**striping, "managedLedgerMaxMarkDeleteRate": 0.0})
        yield cluster


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    return f"persistent://public/default/{request.node.name}".replace("[", "-").replace("]", "")


def _by(way: str, topic: str) -> tuple[str, dict[str, str]]:
    """A topic and the options with which it is read in a way."""
    return (topic.replace("public/default", _STRIPED) if way == "striped" else topic), (
        {} if way == "wire" else _BY_CLIENT
    )


def _frame(spark: SparkSession, cluster: Cluster, topic: str, **options: str) -> DataFrame:
    chosen = {
        "readLevel": "segment",
        "admin.url": cluster.admin.url,
        "minPartitions": str(_TASKS),
        **options,
    }
    return batch(spark, cluster.service_url, topic=topic, **chosen)


def _planned(frame: DataFrame) -> DataFrame:
    """A read that keeps to what is planned now, whenever its rows are collected.

    Under ``auto`` the driver remembers for up to a minute that bookies did not answer, as in the test before.
    """

    def from_bookies() -> DataFrame | None:
        chosen = frame.select("__topic", "__position", "value")
        return chosen if "bookies" in description(chosen) else None

    chosen = eventually(from_bookies)
    assert chosen is not None
    return chosen


def _fill(writer: pulsar_client.Client, topic: str, entries: int = _ENTRIES, batch_size: int = 5) -> list[Seen]:
    produce(
        writer, topic, [b"%08d of %s" % (n, topic.encode()) for n in range(entries * batch_size)], batch_size=batch_size
    )
    return existing(read_all(writer, topic))


def _ledgers(cluster: Cluster, topic: str) -> list[int]:
    return [int(one["ledgerId"]) for one in cluster.admin.internal_stats(topic)["ledgers"]]


@contextmanager
def _unnoticed(cluster: Cluster, writer: pulsar_client.Client, topic: str) -> Iterator[None]:
    """Whatever is done inside, afterwards the writer goes on in the ledger that it had."""
    before = _ledgers(cluster, topic)
    yield
    produce(writer, topic, [b"afterwards"] * 10)
    assert _ledgers(cluster, topic) == before, "the broker had to begin another ledger"


def test_a_bookie_is_dead_and_a_producer_writes(
    spark: SparkSession, cluster: Cluster, writer: pulsar_client.Client, topic: str
) -> None:
    there = len(_fill(writer, topic))
    before, done = _ledgers(cluster, topic), threading.Event()

    def write() -> None:
        while not done.is_set():
            produce(writer, topic, [b"meanwhile"] * 20)

    with cluster.ensembles(topic)[0][0].killed():
        thread = threading.Thread(target=write)
        thread.start()
        try:
            eventually(lambda: len(cluster.ensembles(topic)) == 2)
            found = read_rows(_frame(spark, cluster, topic))
        finally:
            done.set()
            thread.join()
        assert _ledgers(cluster, topic) == before, "reading made the broker begin another ledger"
        assert len(found) >= there
        assert_exactly_once(found, existing(read_all(writer, topic))[: len(found)])
        assert entries_by_level(_frame(spark, cluster, topic))["bookies"] > _ENTRIES


# BookieProtocolEntrySourceSuite has bookies that are silent, test_segment_errors one that falls silent in the middle.
@pytest.mark.parametrize(
    ("way", "fault"),
    [
        ("striped", "killed"),
        pytest.param("striped", "frozen", marks=pytest.mark.exhaustive),
        *(
            pytest.param(way, fault, marks=pytest.mark.exhaustive)
            for way in ("wire", "client")
            for fault in ("killed", "frozen")
        ),
    ],
)
def test_a_bookie_fails_in_the_middle_of_a_read(
    spark: SparkSession,
    cluster: Cluster,
    writer: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    way: str,
    fault: str,
) -> None:
    name, options = _by(way, topic)
    produce(writer, name, [LARGE] * (TAKEN_AT_MOST + 40))
    wanted = existing(read_all(writer, name))
    frame = _frame(spark, cluster, name, **_LITTLE_AHEAD, **options)
    ensemble = cluster.ensembles(name)[0]
    assert len(ensemble) == (BOOKIES if way == "striped" else 2)
    with _unnoticed(cluster, writer, name), blocking_batch(frame, tmp_path) as read, getattr(ensemble[0], fault)():
        read.release()
        with within(IN_TIME):
            assert_exactly_once(read.rows.result(timeout=300), wanted)


@pytest.mark.exhaustive  # BookieProtocolEntrySourceSuite has silent bookies, and above one freezes in the middle
@pytest.mark.parametrize("way", ["striped", "client", "wire"])
def test_a_bookie_is_frozen_from_the_start(
    spark: SparkSession, cluster: Cluster, writer: pulsar_client.Client, topic: str, way: str
) -> None:
    name, options = _by(way, topic)
    wanted = _fill(writer, name)
    with _unnoticed(cluster, writer, name), cluster.ensembles(name)[0][0].frozen(), within(IN_TIME):
        assert_exactly_once(seen(_frame(spark, cluster, name, **options)), wanted)


# A read with another ensemble is the first test; BookieProtocolEntrySourceSuite has ledgers whose bookies changed.
@pytest.mark.exhaustive
@pytest.mark.parametrize("way", ["client", "wire"])
def test_a_ledger_whose_bookies_changed_while_it_was_written(
    spark: SparkSession, cluster: Cluster, writer: pulsar_client.Client, topic: str, way: str
) -> None:
    _, options = _by(way, topic)
    _fill(writer, topic)
    before = _ledgers(cluster, topic)
    with cluster.ensembles(topic)[0][0].killed():
        wanted = _fill(writer, topic)
    first, second = cluster.ensembles(topic)
    assert set(first) != set(second)
    assert _ledgers(cluster, topic) == before
    (added,) = set(second) - set(first)
    assert_exactly_once(seen(_frame(spark, cluster, topic, **options)), wanted)
    with _unnoticed(cluster, writer, topic), added.frozen():
        assert_exactly_once(seen(_frame(spark, cluster, topic, **options)), wanted)


@pytest.mark.exhaustive  # SegmentEntrySourceSuite: the rest of an unreadable range is located again, at both levels
def test_a_read_survives_copies_that_move_after_the_plan(
    spark: SparkSession, cluster: Cluster, writer: pulsar_client.Client, topic: str
) -> None:
    wanted = _fill(writer, topic)
    cluster.admin.unload(topic)
    frame = _planned(_frame(spark, cluster, topic))
    ledger = _ledgers(cluster, topic)[0]
    first, second = cluster.ensembles(topic, ledger)[0]
    (third,) = set(cluster.bookies) - {first, second}

    def moved() -> bool:
        cluster.admin.unload(topic)  # a broker does not look again for ledgers that it has opened
        return set(cluster.ensembles(topic, ledger)[0]) == {second, third}

    with first.killed():
        cluster.auto_recovery.start()
        try:
            eventually(moved)  # auto-recovery starts a JVM of its own
        finally:
            cluster.auto_recovery.kill()
        with second.killed(), within(IN_TIME):
            rows = [Seen(row[0], row[1], bytes(row[2])) for row in frame.collect()]
    assert_exactly_once(rows, wanted)


@_WAYS
def test_a_copy_is_spoiled(
    spark: SparkSession, cluster: Cluster, writer: pulsar_client.Client, topic: str, way: str
) -> None:
    name, options = _by(way, topic)
    wanted = _fill(writer, name)
    spoiled, *others = cluster.ensembles(name)[0]
    with _unnoticed(cluster, writer, name):
        _spoil(spoiled, name)
        with within(IN_TIME):
            assert_exactly_once(seen(_frame(spark, cluster, name, **options)), wanted)
    planned = _planned(_frame(spark, cluster, name, pollTimeoutMs="8000", **options))
    with ExitStack() as stack:
        for other in others:
            stack.enter_context(other.frozen())
        with within(IN_TIME), failing("PULSAR_SEGMENT_READ_FAILED", name):
            planned.collect()


@pytest.mark.exhaustive  # a copy is spoiled above; SegmentEntrySourceSuite has entries that stay unreadable
def test_every_copy_is_spoiled(spark: SparkSession, cluster: Cluster, writer: pulsar_client.Client, topic: str) -> None:
    _fill(writer, topic)
    cluster.admin.unload(topic)  # what the broker has in memory
    deadlines = {"pollTimeoutMs": "8000", "operationTimeoutMs": "8000"}
    segment, auto = (
        _planned(_frame(spark, cluster, topic, readLevel=level, **deadlines)) for level in ("segment", "auto")
    )
    for bookie in cluster.ensembles(topic)[0]:
        _spoil(bookie, topic)
    with within(IN_TIME), failing("PULSAR_SEGMENT_READ_FAILED", topic):
        segment.collect()
    # Whether the broker refuses or gives no answer is its affair.
    with (
        within(IN_TIME),
        pytest.raises(Exception, match=r"\[PULSAR_(REQUEST_FAILED|UNREACHABLE|READ_TIMEOUT)\].*" + topic),
    ):
        auto.collect()


def _spoil(bookie: Node, topic: str) -> None:
    """Change a byte of every message of a topic in the files of one bookie."""
    bookie.stop()
    # What its journal has may be taken in again when it starts.
    files = [*bookie.folder.glob("ledgers/current/*.log"), *bookie.folder.glob("journal/current/*.txn")]
    files = [file for file in files if file.stat().st_size]
    changed = sum(_spoiled(file, topic.encode()) for file in files)
    bookie.start()
    assert changed, f"{bookie.name} has nothing of {topic} in its files"


def _spoiled(file: Path, text: bytes) -> int:
    with file.open("r+b") as entries, mmap.mmap(entries.fileno(), 0) as content:
        changed, place = 0, content.find(text)
        while place >= 0:
            content[place : place + 1] = b"?"
            changed, place = changed + 1, content.find(text, place + 1)
        return changed


@pytest.mark.parametrize(
    ("fault", "by_broker"),
    [pytest.param("killed", "PULSAR_REQUEST_FAILED", marks=pytest.mark.exhaustive), ("frozen", "PULSAR_UNREACHABLE")],
)
def test_no_copy_is_left(
    spark: SparkSession, cluster: Cluster, writer: pulsar_client.Client, topic: str, fault: str, by_broker: str
) -> None:
    wanted = _fill(writer, topic)
    cluster.admin.unload(topic)  # what the broker has in memory
    ensemble = cluster.ensembles(topic)[0]
    deadlines = {"pollTimeoutMs": "6000", "operationTimeoutMs": "5000"}
    # The broker reads the last message to say where a topic ends, so without bookies nothing new can be planned.
    segment, auto = (
        _planned(_frame(spark, cluster, topic, readLevel=level, **deadlines)) for level in ("segment", "auto")
    )
    with ExitStack() as stack:
        for bookie in ensemble:
            stack.enter_context(getattr(bookie, fault)())
        with within(IN_TIME), failing("PULSAR_SEGMENT_READ_FAILED", topic):
            segment.collect()
        with within(IN_TIME), failing(by_broker, topic):
            auto.collect()
    assert_exactly_once(seen(_frame(spark, cluster, topic)), wanted)
