"""Tokens that expire under a query: one that is renewed is used at once, one that is not ends the query by its name."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pulsar as pulsar_client
import pytest

from support.servers.auth_server import AuthServer
from support.servers.issuer import running_issuer
from support.spark.errors import assert_says
from support.spark.waiting import eventually
from support.topics.messages import read_all
from support.topics.reading import running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_LIFE_SECONDS = 10  # of a token
_RENEWED_SECONDS = 1
_TRIGGER = "1 second"
_LIVES = 3
_END_SECONDS = 180


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AuthServer]:
    """A server that closes a connection whose token expired and is not renewed."""
    config = {"authenticationRefreshCheckSeconds": "3"}
    strict = AuthServer(tmp_path_factory.mktemp("strict"), config, transactions=True)
    with strict.server:
        yield strict


@pytest.fixture
def client(strict: AuthServer, tmp_path: Path) -> Iterator[pulsar_client.Client]:
    """One that never loses its login."""
    logger = pulsar_client.FileLogger(pulsar_client.LoggerLevel.Warn, str(tmp_path / "client.log"))
    login = pulsar_client.AuthenticationToken(strict.admin_token)
    client = pulsar_client.Client(strict.server.service_url, authentication=login, logger=logger)
    yield client
    client.close()


def _short(strict: AuthServer) -> str:
    return strict.token("admin", exp=int(time.time()) + _LIFE_SECONDS)


@dataclass
class _Lived:
    """Options of a login whose tokens are short, and what renews it."""

    options: dict[str, str]
    renew: Callable[[], object]

    @contextmanager
    def renewed(self) -> Iterator[None]:
        """Renew it all the time."""
        over = threading.Event()

        def renew() -> None:
            while not over.wait(_RENEWED_SECONDS):
                self.renew()

        thread = threading.Thread(target=renew)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


@contextmanager
def _file(strict: AuthServer, folder: Path) -> Iterator[_Lived]:
    """A file that something else writes anew, all at once, as Kubernetes does."""
    file, fresh = folder / "token", folder / "fresh"

    def renew() -> None:
        fresh.write_text(_short(strict))
        fresh.replace(file)

    renew()
    yield _Lived({"auth.tokenFile": str(file)}, renew)


@contextmanager
def _issuer(strict: AuthServer, _: Path) -> Iterator[_Lived]:
    with running_issuer(partial(_short, strict), seconds=_LIFE_SECONDS) as issuer:
        yield _Lived(issuer.typed(issuer.key_data()), lambda: None)
        assert len(issuer.given) >= _LIVES


def _copying(
    spark: SparkSession,
    strict: AuthServer,
    topic: str,
    folder: Path,
    login: dict[str, str],
    guarantee: str = "at-least-once",
) -> StreamingQuery:
    """A stream that reads a topic and writes it to another one."""
    options = {"startingOffsets": "earliest", "operationTimeoutMs": "20000", "pollTimeoutMs": "20000", **login}
    rows = spark.readStream.format("pulsar").options(**strict.options(topic, **options)).load()
    sink = {"operationTimeoutMs": "20000", "sendTimeoutMs": "20000", "deliveryGuarantee": guarantee, **login}
    writer = rows.select("value").writeStream.format("pulsar").options(**strict.options(f"{topic}-copy", **sink))
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    return writer.trigger(processingTime=_TRIGGER).start()


@pytest.mark.parametrize(
    ("login", "guarantee", "name"),
    [
        (_file, "at-least-once", "file"),
        (_issuer, "at-least-once", "oauth2"),
        (_file, "exactly-once", "file-exactly-once"),
        pytest.param(_issuer, "exactly-once", "oauth2-exactly-once", marks=pytest.mark.exhaustive),
    ],
)
def test_a_stream_outlives_its_tokens(
    spark: SparkSession,
    strict: AuthServer,
    client: pulsar_client.Client,
    tmp_path: Path,
    login: Callable[[AuthServer, Path], AbstractContextManager[_Lived]],
    guarantee: str,
    name: str,
) -> None:
    topic = f"persistent://public/default/renewed-{name}"
    strict.admin.create_topic(topic)
    strict.admin.create_topic(f"{topic}-copy")
    producer = client.create_producer(topic, send_timeout_millis=0)
    with (
        login(strict, tmp_path) as lived,
        lived.renewed(),
        running(_copying(spark, strict, topic, tmp_path, lived.options, guarantee)) as query,
    ):
        end = time.monotonic() + _LIVES * _LIFE_SECONDS
        sent = 0
        while time.monotonic() < end:
            producer.send(str(sent).encode())
            sent += 1
            eventually(partial(_has_copied, strict, query, f"{topic}-copy", sent))
        query.processAllAvailable()  # what is copied may not be committed
    assert [message.payload for message in read_all(client, f"{topic}-copy")] == [b"%d" % n for n in range(sent)]


def _has_copied(strict: AuthServer, query: StreamingQuery, copy: str, count: int) -> bool:
    failure = query.exception()
    assert failure is None, failure
    return bool(strict.admin.stats(copy)["msgInCounter"] >= count)


def test_a_token_that_is_not_renewed_ends_the_stream(
    spark: SparkSession, strict: AuthServer, client: pulsar_client.Client, tmp_path: Path
) -> None:
    topic = "persistent://public/default/not-renewed"
    strict.admin.create_topic(topic)
    strict.admin.create_topic(f"{topic}-copy")
    producer = client.create_producer(topic, send_timeout_millis=0)
    with _file(strict, tmp_path) as lived, running(_copying(spark, strict, topic, tmp_path, lived.options)) as query:

        def has_ended() -> bool:
            producer.send(b"x")
            return query.exception() is not None

        eventually(has_ended, seconds=_END_SECONDS)
        failure = query.exception()
    assert failure is not None
    assert_says(failure, "PULSAR_ACCESS_DENIED", topic, "Failed to authenticate")
