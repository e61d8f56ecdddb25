"""A task that fails while its marker is on the way, beside an older transaction that stays open.

A broker frees a topic partition from a late message of an aborted transaction only if no older transaction is open.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from broker_proxy import BrokerProxy
from commands import Command
from relay import listening
from waiting import eventually

if TYPE_CHECKING:
    import socket

    from broker_proxy import _Connection
    from exactlyonce.copies import Copy
    from pyspark.sql import SparkSession
    from transactions import Sender

_VALUES = [b"%d" % number for number in range(40)]
_ABORT_SECONDS = 3.0


class _MarkerLoser(BrokerProxy):
    """Loses the first marker and the receipts of the rows before it; then keeps its producer away.

    Attributes:
        lost: The marker was sent and did not arrive.
        ended: A transaction was ended after that.
        keeps_away: Whether requests of producers of markers are lost.
    """

    def __init__(self, broker_url: str, listening: socket.socket) -> None:
        super().__init__(broker_url, listening)
        self.lost = threading.Event()
        self.ended = threading.Event()
        self.keeps_away = False
        self._has_rows = False

    def passed(self, connection: _Connection, frame: bytes, is_answer: bool) -> bytes | None:
        kind = Command.of(frame).kind
        is_first = not self.lost.is_set()
        if kind == "SEND" and is_first:
            self._has_rows |= b'"kind"' not in frame
            if b'"kind":"marker"' in frame:
                self.lost.set()
                return None
        if kind == "SEND_RECEIPT" and is_first and self._has_rows:
            return None
        if kind == "PRODUCER" and self.keeps_away and b"-mark" in frame:
            return None
        if kind == "END_TXN_RESPONSE" and not is_first:
            self.ended.set()
        return super().passed(connection, frame, is_answer)


def test_a_marker_does_not_arrive_after_its_transaction_was_aborted(
    spark: SparkSession, copy: Copy, sender: Sender, service_url: str
) -> None:
    older = sender.begin()
    copy.send(_VALUES)
    with listening() as port, ThreadPoolExecutor(1) as pool:
        proxy = _MarkerLoser(service_url, port)
        with proxy.running():
            running = pool.submit(copy.run, spark, proxy.service_url)
            eventually(lambda: proxy.lost.is_set() or running.done())
            proxy.keeps_away = True
            proxy.cut()
            proxy.ended.wait(_ABORT_SECONDS)
            proxy.keeps_away = False
            proxy.cut()
            failures = running.result(120)
    assert proxy.lost.is_set()
    assert [one for one in failures if "PULSAR_WRITE_CONNECTION_LOST" in one] == failures
    copy.check(_VALUES)
    sender.end(older, commit=False)
