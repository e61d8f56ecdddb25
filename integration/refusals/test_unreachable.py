"""Servers that are down, that never answer, and that do not exist: one clear error within the time that is given."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from support.spark.actions import read, stream, write
from support.spark.errors import failing, no_job
from support.spark.waiting import IN_TIME, within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.topics.writing import Target


@pytest.fixture(scope="module")
def nothing_listens() -> Iterator[str]:
    """An address that refuses connections for as long as the test runs: bound, but not listening."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"pulsar://127.0.0.1:{taken.getsockname()[1]}"


@pytest.mark.parametrize("action", [read, stream, write])
def test_a_server_that_is_down(
    target: Target, topic: str, nothing_listens: str, action: Callable[[Target, dict[str, str]], None]
) -> None:
    options = {"service.url": nothing_listens, "operationTimeoutMs": "1500"}
    with (
        no_job(target.spark),
        within(IN_TIME),
        failing("PULSAR_UNREACHABLE", nothing_listens, "1500 ms", "refused", "operationTimeoutMs"),
    ):
        action(target, {**target.options(topic), **options})


@pytest.mark.parametrize("action", [read, stream, write])
def test_a_server_that_never_answers(
    target: Target, topic: str, action: Callable[[Target, dict[str, str]], None]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"pulsar://127.0.0.1:{silent.getsockname()[1]}"
        with no_job(target.spark), within(IN_TIME), failing("PULSAR_UNREACHABLE", url, "1500 ms"):
            action(target, {**target.options(topic), "service.url": url, "operationTimeoutMs": "1500"})


def test_a_host_that_does_not_exist(target: Target, topic: str) -> None:
    options = {"service.url": "pulsar://no-such-host.invalid:6650", "operationTimeoutMs": "1500"}
    with no_job(target.spark), failing("PULSAR_UNREACHABLE", "no-such-host.invalid"):
        read(target, {**target.options(topic), **options})


def test_a_server_that_is_down_when_rows_name_their_topics(target: Target, nothing_listens: str) -> None:
    options = {"service.url": nothing_listens, "operationTimeoutMs": "1500"}
    rows = target.spark.sql("select 'x' as value, 't' as __topic").write.format("pulsar").mode("append")
    with no_job(target.spark), failing("PULSAR_UNREACHABLE", nothing_listens, "1500 ms", "refused"):
        rows.options(**options).save()
