"""Exactly-once writes whose drivers are killed at a point of the protocol, or run two at a time."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.proxies.broker_proxy import running_broker_proxy
from support.spark.programs import running_program
from support.spark.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exactlyonce.copies import Copy
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.exhaustive

_DRIVER = Path(__file__).with_name("driver.py")
_SECONDS = 180
_VALUES = [b"%d" % number for number in range(60)]


@contextmanager
def _driver(copy: Copy, url: str, jar: Path) -> Iterator[int]:
    """Runs the stream in a process of its own; yields the id of its JVM."""
    task = {"jar": str(jar), "source_url": copy.source_url, "source": copy.source, "target": copy.target, "url": url}
    folder = copy.folder.parent
    with running_program(_DRIVER, {**task, "sink": copy.sink, "folder": str(folder)}, folder) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, (folder / "driver.log").read_text()[-3000:]
        yield int(line)


@pytest.mark.parametrize(
    ("kind", "after"),
    [
        *(pytest.param("SEND_RECEIPT", number) for number in (0, 1, 2, 3, 5, 7, 8, 10, 13, 16, 19)),
        *(pytest.param("END_TXN_RESPONSE", number) for number in range(5)),
        *(pytest.param("NEW_TXN_RESPONSE", number) for number in range(4)),
    ],
)
def test_a_driver_is_killed_before_it_hears_a_reply(
    spark: SparkSession, copy: Copy, service_url: str, connector_jar: Path, kind: str, after: int
) -> None:
    copy.send(_VALUES)
    with running_broker_proxy(service_url) as proxy:
        proxy.lose(kind, after=after)
        with _driver(copy, proxy.service_url, connector_jar) as jvm:
            eventually(lambda: proxy.has_lost, seconds=_SECONDS)
            os.kill(jvm, signal.SIGKILL)
    assert copy.run(spark, service_url) == []
    copy.check(_VALUES)


def test_two_drivers_of_one_checkpoint(spark: SparkSession, copy: Copy, service_url: str, connector_jar: Path) -> None:
    copy.send(_VALUES)
    with _driver(copy, service_url, connector_jar) as jvm:
        eventually(lambda: copy.visible > 0, seconds=_SECONDS)
        os.kill(jvm, signal.SIGSTOP)
        copy.send([b"more %d" % number for number in range(60)])
        failures = copy.run(spark, service_url)
        os.kill(jvm, signal.SIGCONT)
        copy.send([b"last %d" % number for number in range(60)])
        failures += copy.run(spark, service_url)
        print(*(one[:300] for one in failures), sep="\n")
    copy.check([*_VALUES, *(b"%s %d" % (word, number) for word in (b"more", b"last") for number in range(60))])
