"""Queries share a connection to each broker, which none of them may cut."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait as wait_until_done
from typing import TYPE_CHECKING

from support.proxies.holding_proxy import HoldingProxy
from support.proxies.relay import listening
from support.spark.waiting import eventually
from support.topics.messages import produce, read_all
from support.topics.reading import Batches, assert_exactly_once, existing, running, start, stream, wait_for

if TYPE_CHECKING:
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

    from support.servers.admin import Admin

_CLOSING_SECONDS = 3


def test_a_query_that_ends_while_its_consumers_subscribe_again_cuts_no_connection_of_others(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, admin: Admin, topic: str, tmp_path: Path
) -> None:
    """The client cuts the connection when a broker answers the subscribe of a consumer that is closed by then."""
    moved = f"{topic}-moved"
    kept, ending = Batches(), Batches()
    for name in (topic, moved):
        produce(client, name, [b"first"])
    with listening() as port, ThreadPoolExecutor(1) as pool:
        proxy = HoldingProxy(service_url, port)
        with proxy.running():
            others = stream(spark, proxy.service_url, topic=topic, startingOffsets="earliest")
            own = stream(spark, proxy.service_url, topic=moved, startingOffsets="earliest")
            with running(start(others, tmp_path / "others", kept)) as query:
                with running(start(own, tmp_path / "own", ending)) as moving:
                    wait_for(1, query, kept)
                    wait_for(1, moving, ending)
                    before = proxy.connections
                    proxy.held = "SUBSCRIBE"
                    admin.unload(moved)
                    eventually(lambda: proxy.has_held)
                    stopped = pool.submit(moving.stop)
                    wait_until_done([stopped], _CLOSING_SECONDS)  # one that does not wait for its consumers is done
                    proxy.held = ""
                    proxy.deliver()
                    stopped.result(300)
                produce(client, topic, [b"second"])
                wait_for(2, query, kept)
                produce(client, topic, [b"third"])
                wait_for(3, query, kept)
                assert proxy.connections == before, "no client connected again"
    assert_exactly_once(kept.rows, existing(read_all(client, topic)))
