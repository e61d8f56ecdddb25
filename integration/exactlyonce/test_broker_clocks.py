"""Exactly-once writes while the clocks of brokers jump by more than `txnTimeout`.

A coordinator looks at its clock when a transaction is due, and when a broker takes it over. Here coordinators are
unloaded after the jump, so transactions time out that began a moment ago.
"""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import pytest

from pulsar_spark import sinks
from support.proxies.broker_proxy import BrokerProxy
from support.proxies.commands import Command, fields
from support.proxies.relay import listening
from support.servers.admin import AdminError
from support.servers.cluster import Cluster, running_cluster
from support.servers.servers import Addresses
from support.servers.shifted_clock import ShiftedClock
from support.spark.errors import failing
from support.spark.waiting import eventually
from support.topics.messages import read_all
from support.topics.reading import run_available
from support.topics.sink_records import read_control_topics
from support.topics.transactions import Sender

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

    from exactlyonce.copies import Copy
    from pyspark.sql import SparkSession

    from support.proxies.broker_proxy import _Connection

pytestmark = pytest.mark.exhaustive

_AHEAD_SECONDS = 4 * 60 * 60  # the default of `txnTimeout` is 3 hours
_COORDINATOR = "persistent://pulsar/system/transaction_coordinator_assign-partition-"
_VALUES = [b"%d" % number for number in range(20)]  # an epoch with a transaction of each of the two tasks
_SECONDS = 300
_LEAST, _MOST, _ACTION, _COMMIT = 2, 3, 4, 0
_MARKER = re.compile(rb'"kind":"marker".*?"most":(\d+),"least":(\d+)')


class _Pause(BrokerProxy):
    """Keeps a command of a transaction back, and what follows it on its connection.

    Attributes:
        found: The coordinator of the transaction and its number there, once the command is kept back.
        go_on: Set by the test when the command may pass.
    """

    def __init__(self, broker_url: str, listening: socket.socket, commits: int | None) -> None:
        """Keep the commit after so many that have responses; the first marker if that is None."""
        super().__init__(broker_url, listening)
        self.found: tuple[int, int] | None = None
        self.go_on = threading.Event()
        self._left = commits
        self._ends = self._ended = 0

    def passed(self, connection: _Connection, frame: bytes, is_answer: bool) -> bytes | None:
        command = Command.of(frame)
        if is_answer:
            self._ended += command.kind == "END_TXN_RESPONSE"
        elif self.found is None and (one := self._chosen(command, frame)):
            eventually(lambda: self._ended == self._ends)
            self.found = one
            self.go_on.wait(_SECONDS)
        elif command.kind == "END_TXN":
            self._ends += 1
        return super().passed(connection, frame, is_answer)

    def _chosen(self, command: Command, frame: bytes) -> tuple[int, int] | None:
        if self._left is None:
            marker = _MARKER.search(frame) if command.kind == "SEND" else None
            return (int(marker[1]), int(marker[2])) if marker else None
        if command.kind != "END_TXN":
            return None
        values = {field.number: field.value for field in fields(command.body)}
        if values[_ACTION] != _COMMIT:
            return None
        self._left -= 1
        return None if self._left >= 0 else (int(values[_MOST]), int(values[_LEAST]))


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> ShiftedClock:
    """That of the broker."""
    return ShiftedClock(tmp_path_factory.mktemp("clock") / "library")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, clock: ShiftedClock) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    with running_cluster(folder, transactions=True, environment=clock.environment) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def pulsar(cluster: Cluster) -> Addresses:
    return Addresses(cluster.service_url, cluster.admin.url)


def _time_out(spark: SparkSession, cluster: Cluster, ids: set[tuple[int, int]]) -> None:
    """Have coordinators look at the clock, and wait until these transactions have ended."""
    for coordinator in {most for most, _ in ids}:
        eventually(partial(cluster.admin.unload_if_idle, f"{_COORDINATOR}{coordinator}"))
    Sender(spark, cluster.service_url).close()  # a client that connects has them loaded
    for most, least in ids:
        eventually(partial(_has_ended, cluster, f"{most}/{least}"))


def _has_ended(cluster: Cluster, transaction: str) -> bool:
    try:
        cluster.admin.call("GET", f"/admin/v3/transactions/transactionMetadata/{transaction}")
    except AdminError as error:
        return "coordinator" not in str(error)
    return False


def _fails(spark: SparkSession, copy: Copy, cluster: Cluster, clock: ShiftedClock, commits: int | None) -> str:
    """The error of a stream whose transactions time out before a marker or a commit; all that are open before any."""
    copy.send(_VALUES)
    with listening() as port, ThreadPoolExecutor(1) as pool:
        proxy = _Pause(cluster.service_url, port, commits)
        with proxy.running():
            running = pool.submit(run_available, copy.writer(spark, proxy.service_url))
            one = eventually(lambda: proxy.found)
            try:
                records = read_control_topics(copy.client, copy.namespace, copy.sink).open if commits == 0 else ()
                with clock.ahead(_AHEAD_SECONDS):
                    _time_out(spark, cluster, {one, *(other.id for record in records for other in record.transactions)})
                    proxy.go_on.set()
                    with pytest.raises(Exception, match=r"\[PULSAR_") as failed:
                        running.result(_SECONDS)
            finally:
                proxy.go_on.set()
    return str(failed.value)


@pytest.mark.parametrize("commits", [None, 0], ids=["before-the-decision", "after-the-decision"])
def test_an_epoch_that_times_out_by_the_clock_of_brokers_is_written_again(
    spark: SparkSession, copy: Copy, cluster: Cluster, clock: ShiftedClock, commits: int | None
) -> None:
    """Before the decision one of its two transactions has ended, after it both have."""
    assert "[PULSAR_SINK_EPOCH_DROPPED]" in _fails(spark, copy, cluster, clock, commits)
    assert copy.visible == 0
    assert copy.run(spark, cluster.service_url) == []
    copy.check(_VALUES)


def test_an_epoch_that_times_out_in_part_by_the_clock_of_brokers_is_torn(
    spark: SparkSession, copy: Copy, cluster: Cluster, clock: ShiftedClock
) -> None:
    torn = ("PULSAR_SINK_EPOCH_TORN", "1 transactions are committed", "lost are 10 rows of partition")
    text = _fails(spark, copy, cluster, clock, 1)
    assert not [word for word in torn if word not in text], text[:3000]
    with failing(*torn):
        run_available(copy.writer(spark, cluster.service_url))
    sinks.repair(spark, copy.sink, namespace=copy.namespace, service_url=cluster.service_url, accept_lost=0)
    copy.send([b"more"])
    assert copy.run(spark, cluster.service_url) == []
    visible = [one.payload for one in read_all(copy.client, copy.target)]
    assert visible in ([*_VALUES[0::2], b"more"], [*_VALUES[1::2], b"more"])
