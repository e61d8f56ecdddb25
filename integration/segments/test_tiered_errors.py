"""Offloaded copies that are damaged or out of reach: named at segment level, left to the broker, warned of, at `auto`.

What is damaged is a copy of the copy: the broker has its own, so that it can read what the connector cannot.
"""

from __future__ import annotations

import socket
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from support.proxies.admin_proxy import changed_admin_url
from support.servers.offloading import ENTRIES_PER_LEDGER, Offloading
from support.servers.s3_server import running_s3
from support.spark.errors import failing
from support.spark.logs import warnings
from support.spark.waiting import IN_TIME, within
from support.topics.messages import produce, read_all
from support.topics.reading import assert_exactly_once, batch, existing, seen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from support.servers.admin import Json
    from support.topics.reading import Seen

_TOPIC = "persistent://public/default/copied"
_FEW_ENTRIES_BYTES = 5000
# DamagedOffloadSuite damages both formats.
_FORMATS = pytest.mark.parametrize(
    "offloading", ["block", pytest.param("mapfile", marks=pytest.mark.exhaustive)], indirect=True
)


@dataclass(frozen=True)
class Copied:
    """A topic with two offloaded ledgers, and its storage as Hadoop sees it."""

    spark: SparkSession
    offloading: Offloading
    messages: list[Seen]

    def read(self, level: str, **options: str) -> DataFrame:
        server = self.offloading.server
        chosen = {"topic": _TOPIC, "readLevel": level, "admin.url": server.admin_url, **options}
        return batch(self.spark, server.service_url, **chosen)

    def files(self, location: str) -> list[tuple[str, str]]:
        """Data and index of each ledger."""
        found = []
        for ledger in self.offloading.ledgers(_TOPIC):
            number, uuid = ledger["ledgerId"], ledger["offloadedContextUuid"]
            if self.offloading.format == "block":
                data = f"{location}/{uuid}-ledger-{number}"
                found.append((data, f"{data}-index"))
            else:
                folder = f"{location}/public/default/persistent/copied/{number}-{uuid}"
                found.append((f"{folder}/data", f"{folder}/index"))
        return found

    def copy(self, name: str) -> str:
        """Copy everything to a place of this name; its location."""
        location = f"{self.offloading.location}/{name}"
        for source, target in zip(self.files(self.offloading.location), self.files(location), strict=True):
            for old, new in zip(source, target, strict=True):
                self.write(new, self._bytes(old))
        return location

    def delete(self, file: str) -> None:
        path, storage = self._found(file)
        assert storage.delete(path, False)

    def shorten(self, file: str) -> None:
        """Leave the first half of a file, of a block's padding nothing."""
        # Read from the original, as the client of an object store may remember what it has read of this one.
        copy = file.removeprefix(f"{self.offloading.location}/").partition("/")[0]
        content = self._bytes(file.replace(f"/{copy}/", "/", 1))
        self.write(file, content[: min(len(content) // 2, _FEW_ENTRIES_BYTES)])

    def write(self, file: str, content: bytes) -> None:
        path, storage = self._found(file)
        target = storage.create(path, True)
        target.write(bytearray(content))
        target.close()

    def _bytes(self, file: str) -> bytes:
        path, storage = self._found(file)
        source = storage.open(path)
        try:
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(source))
        finally:
            source.close()

    def _found(self, file: str) -> tuple[Any, Any]:
        path = self._jvm.org.apache.hadoop.fs.Path(file)
        return path, path.getFileSystem(self.spark.sparkContext._jsc.hadoopConfiguration())

    @property
    def _jvm(self) -> Any:  # noqa: ANN401 - what py4j gives has no type
        return self.spark.sparkContext._jvm


@pytest.fixture(scope="module")
def copied(spark: SparkSession, offloading: Offloading) -> Copied:
    produce(offloading.client, _TOPIC, [b"%d" % n * 100 for n in range(2 * ENTRIES_PER_LEDGER + 10)])
    messages = existing(read_all(offloading.client, _TOPIC))
    offloading.offload(_TOPIC)
    assert len(offloading.ledgers(_TOPIC)) == 2
    return Copied(spark, offloading, messages)


def _check(copied: Copied, options: Mapping[str, str], folder: Path, condition: str, *words: str) -> None:
    """Named at segment level, with the words; a warning with the same words, and the right rows, at `auto`."""
    with within(IN_TIME), failing("PULSAR_SEGMENT_READ_FAILED", _TOPIC, f"[{condition}]", *words) as failure:
        copied.read("segment", **options).collect()
    assert "test-secret" not in str(failure.value)
    with within(IN_TIME), warnings(copied.spark, folder) as warned:
        assert_exactly_once(seen(copied.read("auto", **options)), copied.messages)
    missing = [word for word in (_TOPIC, condition, *words) if word not in warned()]
    assert missing == []


@_FORMATS
def test_a_copy_that_is_whole(copied: Copied) -> None:
    """The control. Clients of object stores may keep what they have read, so the others begin with the damage."""
    options = {"offload.location": copied.copy("whole"), "offload.format": copied.offloading.format}
    assert_exactly_once(seen(copied.read("segment", **options)), copied.messages)


@_FORMATS
@pytest.mark.parametrize(
    ("name", "damage", "condition"),
    [
        ("no-index", lambda copied, _, index: copied.delete(index), "PULSAR_OFFLOAD_GONE"),
        ("no-data", lambda copied, data, _: copied.delete(data), "PULSAR_OFFLOAD_GONE"),
        ("cut-off", lambda copied, data, _: copied.shorten(data), "PULSAR_OFFLOAD_CORRUPT"),
    ],
)
def test_a_file_that_is_damaged(
    copied: Copied, tmp_path: Path, name: str, damage: Callable[[Copied, str, str], None], condition: str
) -> None:
    location = copied.copy(name)
    options = {"offload.location": location, "offload.format": copied.offloading.format}
    second = copied.files(location)[1]
    damage(copied, *second)
    ledger = str(copied.offloading.ledgers(_TOPIC)[1]["ledgerId"])
    _check(copied, options, tmp_path, condition, f"/{name}/", ledger)


@pytest.mark.parametrize("offloading", ["block"], indirect=True)
def test_an_index_that_is_cut_off(copied: Copied, tmp_path: Path) -> None:
    location = copied.copy("half-an-index")
    copied.shorten(copied.files(location)[0][1])
    _check(copied, {"offload.location": location}, tmp_path, "PULSAR_OFFLOAD_CORRUPT", location, "the index")


@_FORMATS
def test_an_offload_driver_that_is_not_known(copied: Copied, tmp_path: Path) -> None:
    def change(path: str, answer: Json) -> Json:
        return {"managedLedgerOffloadDriver": "teleport"} if "ffloadPolicies" in path else answer

    with changed_admin_url(copied.offloading.server.admin_url, change) as url:
        why = "the offload driver teleport is not known here"
        with failing("PULSAR_SEGMENT_UNAVAILABLE", _TOPIC, why):
            copied.read("segment", **{"admin.url": url}).collect()
        with warnings(copied.spark, tmp_path) as warned:
            assert_exactly_once(seen(copied.read("auto", **{"admin.url": url})), copied.messages)
    assert why in warned()


@contextmanager
def _bucket(spark: SparkSession, name: str, endpoint: str) -> Iterator[str]:
    """Another place of objects, which the connector alone knows; few attempts to reach it."""
    hadoop = spark.sparkContext._jsc.hadoopConfiguration()
    settings = {"endpoint": endpoint, "attempts.maximum": "1", "retry.limit": "1"}
    keys = {f"fs.s3a.bucket.{name}.{key}": value for key, value in settings.items()}
    for key, value in keys.items():
        hadoop.set(key, value)
    try:
        yield f"s3a://{name}"
    finally:
        for key in keys:
            hadoop.unset(key)


@pytest.mark.parametrize("offloading", ["block"], indirect=True)
def test_credentials_that_are_wrong(copied: Copied, tmp_path: Path) -> None:
    with running_s3(tmp_path) as server, _bucket(copied.spark, "strict", server.endpoint) as location:
        server.refuse_everybody()
        _check(copied, {"offload.location": location}, tmp_path, "PULSAR_OFFLOAD_FAILED", location, "AccessDenied")


@pytest.mark.parametrize("offloading", ["block"], indirect=True)
@pytest.mark.parametrize(("task_bytes", "waited"), [("5k", "4000 ms"), ("100m", "8000 ms")])
def test_storage_that_never_answers(copied: Copied, tmp_path: Path, task_bytes: str, waited: str) -> None:
    """It is waited for once, not by each task: by the driver when tasks are small, half of its time, else by a task."""
    deadlines = {"pollTimeoutMs": "8000", "operationTimeoutMs": "8000", "maxBytesPerPartition": task_bytes}
    with socket.create_server(("127.0.0.1", 0), backlog=64) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with _bucket(copied.spark, f"silent-{task_bytes}", endpoint) as location:
            options = {"offload.location": location, **deadlines}
            with within(IN_TIME), warnings(copied.spark, tmp_path) as warned:
                assert_exactly_once(seen(copied.read("auto", **options)), copied.messages)
            missing = [word for word in (_TOPIC, "PULSAR_OFFLOAD_TIMEOUT", location, waited) if word not in warned()]
            assert missing == []
            with within(IN_TIME), failing("PULSAR_SEGMENT_READ_FAILED", _TOPIC, "[PULSAR_OFFLOAD_TIMEOUT]", location):
                copied.read("segment", **options).collect()
