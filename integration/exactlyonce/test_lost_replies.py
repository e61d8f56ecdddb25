"""Exactly-once writes whose connections are cut after the broker did something and before it said so."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from support.proxies.broker_proxy import running_broker_proxy
from support.spark.waiting import eventually

if TYPE_CHECKING:
    from exactlyonce.copies import Copy
    from pyspark.sql import SparkSession

_VALUES = [b"%d" % number for number in range(40)]
_KINDS = {
    "SEND_RECEIPT": range(17),
    "NEW_TXN_RESPONSE": range(5),
    "ADD_PARTITION_TO_TXN_RESPONSE": range(8),
    "END_TXN_RESPONSE": range(5),
}
# One point of each kind: a row of a task, a transaction that begins, one that is committed.
_GATE = {("SEND_RECEIPT", 4), ("END_TXN_RESPONSE", 1)}


def _points() -> list[object]:
    return [
        pytest.param(kind, after, marks=() if (kind, after) in _GATE else pytest.mark.exhaustive)
        for kind, numbers in _KINDS.items()
        for after in numbers
    ]


def test_a_stream_is_written_once_in_several_runs(spark: SparkSession, copy: Copy, service_url: str) -> None:
    for part in (_VALUES[:25], _VALUES[25:]):
        copy.send(part)
        assert copy.run(spark, service_url) == []
    copy.check(_VALUES)


@pytest.mark.parametrize(("kind", "after"), _points())
def test_a_reply_is_lost_with_its_connection(
    spark: SparkSession, copy: Copy, service_url: str, kind: str, after: int
) -> None:
    copy.send(_VALUES)
    with running_broker_proxy(service_url) as proxy, ThreadPoolExecutor(1) as pool:
        proxy.lose(kind, after=after)
        running = pool.submit(copy.run, spark, proxy.service_url)
        try:
            eventually(lambda: proxy.has_lost or running.done())
        finally:
            proxy.cut()
        failures = running.result(300)
        assert proxy.has_lost, f"there are fewer than {after + 1} {kind}"
    print(f"{kind} {after}: {len(failures)} failures", *(one[:200] for one in failures), sep="\n  ")
    copy.check(_VALUES)
