"""The part of the demo without Spark: the official client and the admin interface."""

from __future__ import annotations

import io
import json
import random
import threading
import time
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import fastavro
import pulsar

from pulsar_spark.demo.rides import SCHEMA, Ride, Totals, make_ride

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_REQUEST_SECONDS = 120.0
_READ_MILLISECONDS = 120_000
_TICK_SECONDS = 0.05


class _RideSchema(pulsar.schema.AvroSchema):  # type: ignore[misc]
    """The client's AVRO schema, which would parse the definition for every message."""

    _parsed = fastavro.parse_schema(SCHEMA)

    def __init__(self) -> None:
        super().__init__(None, SCHEMA)

    def encode(self, obj: dict[str, object]) -> bytes:
        buffer = io.BytesIO()
        fastavro.schemaless_writer(buffer, self._parsed, obj)
        return buffer.getvalue()


def connect(service_url: str, log: Path) -> pulsar.Client:
    """The official client, which logs to a file."""
    return pulsar.Client(service_url, logger=pulsar.FileLogger(pulsar.LoggerLevel.Warn, str(log)))


def create_partitioned(admin_url: str, topic: str, partitions: int) -> None:
    """Create a partitioned topic in ``public/default``."""
    url = f"{admin_url}/admin/v2/persistent/public/default/{topic}/partitions"
    request = urllib.request.Request(
        url, data=str(partitions).encode(), method="PUT", headers={"Content-Type": "application/json"}
    )
    # Proxies of the environment are not for 127.0.0.1.
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=_REQUEST_SECONDS).close()


class RideProducer:
    """Sends rides in batches without waiting for each one, and counts acknowledgements."""

    def __init__(self, client: pulsar.Client, topic: str) -> None:
        self.totals = Totals()
        self.failed = 0
        self._producer = client.create_producer(
            topic,
            schema=_RideSchema(),
            compression_type=pulsar.CompressionType.LZ4,
            batching_enabled=True,
            batching_max_messages=1000,
            max_pending_messages=20_000,
            block_if_queue_full=True,
        )

    def send(self, rides: Iterable[Ride]) -> None:
        """Send rides; returns before they are acknowledged."""
        for ride in rides:
            self.totals.add(ride)
            self._producer.send_async(
                ride.value,
                self._acknowledged,
                partition_key=ride.driver,
                event_timestamp=ride.pickup_ms,
                properties={"app": ride.app},
            )

    def flush(self) -> None:
        """Wait until the broker has acknowledged all rides.

        Raises:
            RuntimeError: A message was refused.
        """
        self._producer.flush()
        if self.failed:
            raise RuntimeError(f"{self.failed} rides could not be sent")

    def _acknowledged(self, result: pulsar.Result, _: object) -> None:
        self.failed += result != pulsar.Result.Ok


class BackgroundProducer:
    """Sends rides at an even rate from its own thread while a query runs."""

    def __init__(self, producer: RideProducer, *, seed: int, first_number: int, per_second: int) -> None:
        self._producer = producer
        self._chance = random.Random(seed)
        self._number = first_number
        self._per_second = per_second
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rides", daemon=True)

    def __enter__(self) -> BackgroundProducer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        begin, first = time.monotonic(), self._number
        while not self._stop.wait(_TICK_SECONDS):
            due = first + int((time.monotonic() - begin) * self._per_second)
            now_ms = time.time_ns() // 1_000_000
            self._producer.send(make_ride(self._chance, number, now_ms) for number in range(self._number, due))
            self._number = max(self._number, due)


@dataclass(frozen=True)
class Receipt:
    """A message of the topic that Spark's stream wrote.

    Attributes:
        ride_id: The ride it is for.
        city: Its city.
        cents: Its fare.
        driver: The message's key.
        delay_ms: From the pickup, its event time, to the moment Spark sent it.
    """

    ride_id: str
    city: str
    cents: int
    driver: str
    delay_ms: int

    @classmethod
    def of(cls, value: Mapping[str, Any], message: pulsar.Message) -> Receipt:
        """Build a receipt from a message."""
        delay_ms = message.publish_timestamp() - message.event_timestamp()
        return cls(value["ride_id"], value["city"], value["cents"], message.partition_key(), delay_ms)

    @property
    def number(self) -> int:
        """The id of the ride."""
        return int(self.ride_id.partition("-")[2])


def read_json(client: pulsar.Client, topic: str) -> Iterator[tuple[dict[str, Any], pulsar.Message]]:
    """Read a topic of JSON records from its first message to the current last one."""
    reader = client.create_reader(topic, pulsar.MessageId.earliest, receiver_queue_size=5000)
    try:
        while reader.has_message_available():
            message = reader.read_next(timeout_millis=_READ_MILLISECONDS)
            yield json.loads(message.data()), message
    finally:
        reader.close()
