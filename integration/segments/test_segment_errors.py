"""What `readLevel=segment` says when it cannot have its way; `auto` reads through the broker, and warns why."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from support.proxies.admin_proxy import RefusedError, changed_admin_url
from support.proxies.bookie_relay import bookie_of, running_bookie_relay
from support.spark.errors import failing, refused
from support.spark.logs import warnings
from support.spark.waiting import IN_TIME, within
from support.topics.messages import produce, read_all
from support.topics.reading import Seen, assert_exactly_once, batch, description, existing, seen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession

    from support.servers.admin import Admin, Json


@pytest.fixture
def wanted(client: pulsar_client.Client, topic: str) -> list[Seen]:
    """The messages of the topic."""
    produce(client, topic, [b"%d" % number for number in range(20)], batch_size=7)
    return existing(read_all(client, topic))


@pytest.fixture
def read(spark: SparkSession, service_url: str, topic: str) -> Callable[..., DataFrame]:
    """A read of the topic at a level, with this admin service and further options."""

    def made(level: str, admin_url: str, **options: str) -> DataFrame:
        chosen = {"topic": topic, "readLevel": level, "admin.url": admin_url, **options}
        return batch(spark, service_url, **chosen)

    return made


def _changed(part: str, change: Callable[[Json], Json]) -> Callable[[str, Json], Json]:
    """What changes the answers of one resource."""
    return lambda path, answer: change(answer) if part in path else answer


@contextmanager
def _left_to_the_broker(spark: SparkSession, folder: Path, why: str) -> Iterator[None]:
    """What is done inside warns that the broker reads, and why."""
    with warnings(spark, folder) as warned:
        yield
    assert "read at broker level" in warned()
    assert why in warned()


def test_nothing_is_warned_of_where_nothing_is_wrong(
    spark: SparkSession, admin: Admin, wanted: list[Seen], read: Callable[..., DataFrame], tmp_path: Path
) -> None:
    """The control: an admin service that is merely passed through, the same checks."""
    with changed_admin_url(admin.url, lambda _, answer: answer) as url, warnings(spark, tmp_path) as warned:
        for level in ("broker", "segment", "auto"):
            assert_exactly_once(seen(read(level, url)), wanted)
    assert "read at broker level" not in warned()


def test_segments_without_the_admin_service(
    spark: SparkSession, service_url: str, topic: str, wanted: list[Seen]
) -> None:
    with refused("PULSAR_SEGMENT_UNAVAILABLE", topic, "admin.url is not set"):
        seen(batch(spark, service_url, topic=topic, readLevel="segment"))
    assert_exactly_once(seen(batch(spark, service_url, topic=topic)), wanted)


@pytest.mark.parametrize(
    ("status", "text", "condition"),
    [
        (401, "Unauthorized", "PULSAR_ACCESS_DENIED"),
        (403, "Forbidden", "PULSAR_ACCESS_DENIED"),
        (500, "Broken", "PULSAR_REQUEST_FAILED"),
    ],
)
def test_an_admin_service_that_refuses(
    spark: SparkSession,
    admin: Admin,
    topic: str,
    wanted: list[Seen],
    read: Callable[..., DataFrame],
    tmp_path: Path,
    status: int,
    text: str,
    condition: str,
) -> None:
    def refuse(_: Json) -> Json:
        raise RefusedError(status, text)

    with changed_admin_url(admin.url, _changed("/internalStats", refuse)) as url:
        with failing(condition, topic, url, text):
            seen(read("segment", url))
        with _left_to_the_broker(spark, tmp_path, text):
            assert_exactly_once(seen(read("auto", url)), wanted)


def test_an_admin_service_that_never_answers(
    spark: SparkSession, topic: str, wanted: list[Seen], read: Callable[..., DataFrame], tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with within(IN_TIME), failing("PULSAR_UNREACHABLE", topic, url, "8000 ms"):
            seen(read("segment", url, operationTimeoutMs="8000"))
        with within(IN_TIME), warnings(spark, tmp_path) as warned:
            assert_exactly_once(seen(read("auto", url, operationTimeoutMs="8000")), wanted)
    assert url in warned()


def _with_metadata(change: Callable[[str], str]) -> Callable[[Json], Json]:
    def changed(answer: Json) -> Json:
        ledgers = [{**ledger, "metadata": change(ledger["metadata"])} for ledger in answer["ledgers"]]
        return {**answer, "ledgers": ledgers}

    return changed


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_with_metadata(lambda text: f"Ledger({text})"), "its metadata is not understood"),
        # BookieMetadataParserSuite has more texts of another form, LedgerAnswerSuite an answer without ledgers
        pytest.param(
            _with_metadata(lambda text: text.replace("0=[", "first: [")),
            "its ensembles are not understood",
            marks=pytest.mark.exhaustive,
        ),
        pytest.param(
            _with_metadata(lambda text: text.replace("writeQuorumSize=1", "writeQuorumSize=9")),
            "is not sound",
            marks=pytest.mark.exhaustive,
        ),
        (_with_metadata(lambda text: text.replace("digestType=CRC32C", "digestType=MAC")), "digest type MAC"),
        (_with_metadata(lambda _: ""), "reported no metadata of ledger"),
        pytest.param(
            lambda answer: {**answer, "ledgers": []},
            "is not in the topic's list of ledgers",
            marks=pytest.mark.exhaustive,
        ),
        (lambda answer: {**answer, "lastConfirmedEntry": "?"}, "is not"),
        (lambda _: {}, "is not in the topic's list of ledgers"),
    ],
)  # fmt: skip
def test_answers_of_an_unknown_shape(
    spark: SparkSession,
    admin: Admin,
    topic: str,
    wanted: list[Seen],
    read: Callable[..., DataFrame],
    tmp_path: Path,
    change: Callable[[Json], Json],
    why: str,
) -> None:
    with changed_admin_url(admin.url, _changed("/internalStats", change)) as url:
        with failing("PULSAR_SEGMENT_UNAVAILABLE", topic, why):
            seen(read("segment", url))
        with _left_to_the_broker(spark, tmp_path, why):
            assert_exactly_once(seen(read("auto", url)), wanted)


@pytest.mark.parametrize("settings", [{}, {"bookkeeper.readEntryTimeoutSec": "1"}], ids=["wire", "client"])
def test_bookies_that_cannot_be_reached(
    spark: SparkSession,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    wanted: list[Seen],
    read: Callable[..., DataFrame],
    tmp_path: Path,
    settings: dict[str, str],
) -> None:
    admin.unload(topic)
    assert existing(read_all(client, topic)) == wanted
    bookie = bookie_of(admin, topic)
    options = {"bookieAddresses": f"{bookie}=127.0.0.1:9", **settings}
    with failing("PULSAR_SEGMENT_READ_FAILED", topic):
        seen(read("segment", admin.url, **options))
    with warnings(spark, tmp_path) as warned:
        assert_exactly_once(seen(read("auto", admin.url, **options)), wanted)
    assert f"no connection to {bookie}" in warned()


def test_bookies_that_fall_silent_are_waited_for_once_and_not_for_each_ledger(
    spark: SparkSession,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    read: Callable[..., DataFrame],
    tmp_path: Path,
) -> None:
    for _ in range(10):
        produce(client, topic, [b"%d" % number for number in range(20)], batch_size=7)
        admin.unload(topic)
    wanted = existing(read_all(client, topic))
    with running_bookie_relay(bookie_of(admin, topic)) as relay, warnings(spark, tmp_path) as warned:
        options = {"bookieAddresses": f"{relay.bookie}={relay.address}", "minPartitions": "1", "pollTimeoutMs": "16000"}
        frame = read("auto", admin.url, **options).select("__topic", "__position", "value")
        assert "10 bookies" in description(frame)
        relay.fall_silent()
        with within(60):  # nine ledgers would be waited for at least 72 s
            rows = [Seen(row[0], row[1], bytes(row[2])) for row in frame.collect()]
    assert_exactly_once(rows, wanted)
    assert warned().count("the broker reads it") == 9
    assert f"no answer from {relay.bookie}" in warned()
