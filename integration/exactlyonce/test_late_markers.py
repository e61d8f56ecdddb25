"""A task that fails while its marker is on the way, beside an older transaction that stays open.

A broker forgets that a transaction was aborted where it has stored no message of any. A late message of it hides those
behind it, until another transaction ends there while no older one is open.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from support.proxies.broker_proxy import BrokerProxy
from support.proxies.commands import Command
from support.proxies.relay import listening
from support.spark.waiting import eventually

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

    from exactlyonce.copies import Copy
    from pyspark.sql import SparkSession

    from support.proxies.broker_proxy import _Connection
    from support.topics.transactions import Sender

_VALUES = [b"%d" % number for number in range(40)]
_ABORT_SECONDS = 3.0


class _MarkerLoser(BrokerProxy):
    """Loses markers and the receipts of rows until `is_cut`; from then on it may keep producers of markers away.

    Attributes:
        lost: A marker was sent and did not arrive.
        ended: A transaction was ended after the cut.
        is_cut: Whether the test has cut the connections, or is about to.
        keeps_away: Whether requests of producers of markers are lost after that.
    """

    def __init__(self, broker_url: str, listening: socket.socket) -> None:
        super().__init__(broker_url, listening)
        self.lost = threading.Event()
        self.ended = threading.Event()
        self.is_cut = False
        self.keeps_away = True
        self._has_rows = False

    def passed(self, connection: _Connection, frame: bytes, is_answer: bool) -> bytes | None:
        kind = Command.of(frame).kind
        is_lost = False
        if self.is_cut:
            is_lost = kind == "PRODUCER" and self.keeps_away and b"-mark" in frame
            if kind == "END_TXN_RESPONSE":
                self.ended.set()
        elif kind == "SEND":
            self._has_rows |= b'"kind"' not in frame  # else it is a record
            is_lost = b'"kind":"marker"' in frame
            if is_lost:
                self.lost.set()
        else:
            is_lost = kind == "SEND_RECEIPT" and self._has_rows
        return None if is_lost else super().passed(connection, frame, is_answer)


@pytest.fixture
def older(sender: Sender) -> Iterator[None]:
    """A transaction that is open all the time."""
    transaction = sender.begin()
    yield
    sender.end(transaction, commit=False)


@pytest.mark.usefixtures("older")
def test_a_marker_does_not_arrive_after_its_transaction_was_aborted(
    spark: SparkSession, copy: Copy, service_url: str
) -> None:
    copy.send(_VALUES)
    with listening() as port, ThreadPoolExecutor(1) as pool:
        proxy = _MarkerLoser(service_url, port)
        with proxy.running():
            running = pool.submit(copy.run, spark, proxy.service_url)
            eventually(lambda: proxy.lost.is_set() or running.done())
            proxy.is_cut = True
            proxy.cut()
            proxy.ended.wait(_ABORT_SECONDS)
            proxy.keeps_away = False
            proxy.cut()
            failures = running.result(300)
    assert proxy.lost.is_set()
    assert failures
    assert all("PULSAR_WRITE_CONNECTION_LOST" in one for one in failures), failures
    copy.check(_VALUES)
