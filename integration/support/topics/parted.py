"""A topic with two partitions whose messages say where they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from support.topics.messages import Received, produce, read_all

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pulsar as pulsar_client

    from support.servers.admin import Admin


@dataclass(frozen=True)
class Parted:
    """A topic with two partitions, 100 messages in each, in batches of 7."""

    name: str
    received: list[Received]

    @classmethod
    def create(cls, admin: Admin, client: pulsar_client.Client, name: str) -> Parted:
        admin.create_topic(name, partitions=2)
        for partition in (0, 1):
            payloads = [f"{partition} {number}".encode() for number in range(100)]
            produce(client, f"{name}-partition-{partition}", payloads, batch_size=7)
        return cls(name, read_all(client, name))

    def partition(self, number: int) -> str:
        return f"{self.name}-partition-{number}"

    def of(self, number: int) -> list[Received]:
        return [one for one in self.received if one.id.partition == number]


def texts(payloads: Iterable[bytes | bytearray | None]) -> list[str]:
    """The payloads as sorted texts."""
    return sorted(bytes(payload or b"").decode() for payload in payloads)


def numbers(partition: int, *some: range) -> list[str]:
    """The texts of these messages of a partition."""
    return [f"{partition} {number}" for one in some for number in one]
