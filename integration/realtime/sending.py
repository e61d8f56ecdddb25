"""Messages of random sizes to several partitions, and the copy that a query makes of them."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pulsar

from support.topics.messages import produce, read_all
from support.topics.reading import dice
from support.topics.remaining import remaining

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from support.servers.admin import Admin

PARTITIONS = 4


class Sender:
    """Sends messages ``partition number`` in batches of random sizes, as long as a block lasts."""

    def __init__(self, client: pulsar.Client, topic: str) -> None:
        self.sent: list[str] = []
        self._client, self._topic = client, topic
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.dice = dice()

    @contextmanager
    def sending(self) -> Iterator[None]:
        self._thread.start()
        try:
            yield
        finally:
            self.stop()

    def stop(self) -> None:
        """Stop after the batch that is being sent, so that `sent` does not change any more."""
        self._stop.set()
        self._thread.join()

    def stored(self) -> list[str]:
        """What the topic holds: a producer whose partition is unloaded sends again what it has no receipt for."""
        return [one.payload.decode() for one in read_all(self._client, self._topic)]

    def _run(self) -> None:
        numbers = [0] * PARTITIONS
        while not self._stop.wait(0.02):
            partition = self.dice.randrange(PARTITIONS)
            count = self.dice.choice([1, 2, 10, 300])
            values = [f"{partition} {numbers[partition] + i}" for i in range(count)]
            numbers[partition] += count
            compression = self.dice.choice(["NONE", "LZ4", "ZSTD"])
            name = f"{self._topic}-partition-{partition}"
            produce(self._client, name, [v.encode() for v in values], batch_size=count, compression=compression)
            self.sent += values


class Copy:
    """What a topic holds by now, while it grows; each row is received once."""

    def __init__(self, client: pulsar.Client, topic: str) -> None:
        self._reader = client.create_reader(topic, pulsar.MessageId.earliest)
        self._rows: list[str] = []

    def rows(self) -> list[str]:
        self._rows += [message.data().decode() for message in remaining(self._reader)]
        return list(self._rows)

    def close(self) -> None:
        self._reader.close()


def assert_copied(rows: Sequence[str], wanted: Sequence[str]) -> None:
    """Fail unless each value is there as often as it was sent, and those of a partition are in their order."""
    missing, repeated = Counter(wanted) - Counter(rows), Counter(rows) - Counter(wanted)
    assert not missing, f"{missing.total()} of {len(wanted)} values are missing, the first is {next(iter(missing))}"
    assert not repeated, f"{repeated.total()} of {len(rows)} rows are too many, the first is {next(iter(repeated))}"
    for partition in range(PARTITIONS):
        pairs = zip(_of(rows, partition), _of(wanted, partition), strict=True)
        wrong = next((pair for pair in pairs if pair[0] != pair[1]), None)
        assert wrong is None, f"a row has the value {wrong[0]} where the topic has {wrong[1]}"


def _of(values: Sequence[str], partition: int) -> list[str]:
    return [value for value in values if value.startswith(f"{partition} ")]


def partitioned(admin: Admin, client: pulsar.Client, topic: str) -> tuple[Sender, str, Copy]:
    """Create a topic with partitions; returns who sends to it, and the topic of the copy with what arrives there."""
    admin.create_topic(topic, partitions=PARTITIONS)
    target = f"{topic}-copy"
    return Sender(client, topic), target, Copy(client, target)
