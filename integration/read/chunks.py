"""Messages that producers split into chunks, on a server that accepts small entries only."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pulsar as pulsar_client

from support.topics.messages import Message, Received, produce

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

LARGEST_ENTRY = 20_000


def _client(service_url: str) -> pulsar_client.Client:
    logger = pulsar_client.ConsoleLogger(pulsar_client.LoggerLevel.Error)
    return pulsar_client.Client(service_url, logger=logger, operation_timeout_seconds=180)


def random_payloads(random: random.Random, count: int, *, most_entries: int = 12) -> list[bytes]:
    """Half of them fit into one entry; half of each cannot be compressed."""
    large = [LARGEST_ENTRY * random.randint(2, 2 * most_entries) // 2 for _ in range((count + 1) // 2)]
    sizes = random.sample(large + [10] * (count - len(large)), count)
    return [b"%d " % number + random.randbytes(size // 2) + bytes(size // 2) for number, size in enumerate(sizes)]


def send_chunked(client: pulsar_client.Client, topic: str, payloads: list[bytes], compression: str = "NONE") -> None:
    produce(client, topic, _messages(payloads), compression=compression, chunking_enabled=True)


def _messages(payloads: list[bytes]) -> list[Message]:
    return [Message(payload, f"key {index}", 0, {"n": str(index)}) for index, payload in enumerate(payloads)]


def in_chunks(received: list[Received]) -> list[Received]:
    return [one for one in received if len(one.payload) > LARGEST_ENTRY]


def send_together(service_url: str, topic: str, payloads: list[list[bytes]]) -> None:
    """Send each list by a producer of its own; no producer begins before all of them are connected."""
    together = threading.Barrier(len(payloads), timeout=300)
    failures: list[BaseException] = []

    def when_all_are_connected(payloads: list[bytes]) -> Iterator[Message]:
        together.wait()
        yield from _messages(payloads)

    def send(payloads: list[bytes]) -> None:
        own = _client(service_url)
        try:
            produce(own, topic, when_all_are_connected(payloads), chunking_enabled=True)
        except BaseException as error:  # reported below, in the thread of the test
            failures.append(error)
        finally:
            own.close()

    threads = [threading.Thread(target=send, args=(part,)) for part in payloads]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert failures == []


def are_mixed(received: list[Received]) -> bool:
    """Whether a message begins between the first and the last chunk of another one."""
    first = [(first_chunk(one.id_bytes), (one.id.ledger, one.id.entry)) for one in received]
    spans = [(begin, end) for begin, end in first if begin]
    return any(a[0] < b[0] < a[1] for a in spans for b in spans)


def first_chunk(id_bytes: bytes) -> tuple[int, int] | None:
    """Ledger and entry of the first chunk, out of the id's text form ``first;last``."""
    text = str(pulsar_client.MessageId.deserialize(id_bytes))
    first, separator, _ = text.partition(";")
    if not separator:
        return None
    ledger, entry, *_ = first.strip("()").split(",")
    return int(ledger), int(entry)
