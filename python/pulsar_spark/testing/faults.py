"""Faults that a job should survive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulsar_spark.testing.waiting import eventually

if TYPE_CHECKING:
    from pulsar_spark.testing.servers import PulsarServer
    from pulsar_spark.testing.topics import Topic

_LOSS_SECONDS = 60.0


class CannotRestartError(RuntimeError):
    """A server that the tests did not start themselves, so they cannot restart it."""

    def __init__(self, service_url: str) -> None:
        super().__init__(
            f"The tests did not start the Pulsar at {service_url} as a local process, so they cannot restart it. "
            "Leave this test out there, or run it without an address and without a container."
        )


def unload(topic: Topic) -> None:
    """Unload a topic: its broker closes all connections and ledgers of it, as when it moves to another broker.

    Args:
        topic: The topic, which must exist.
    """
    topic.server.admin.unload(topic.name)


def lose(topic: Topic) -> None:
    """Delete all messages of a topic, as retention does with messages that nobody has read in time.

    Args:
        topic: The topic, which must exist.
    """
    admin = topic.server.admin
    count = admin.partitions(topic.name)
    parts = [f"{topic}-partition-{number}" for number in range(count)] if count else [topic.name]
    stored = {part: _ledgers(topic, part) for part in parts}
    admin.unload(topic.name)  # the broker keeps the ledger that it writes

    def lost() -> bool:
        admin.truncate(topic.name)
        return all(not _ledgers(topic, part) & stored[part] for part in parts)

    eventually(lost, seconds=_LOSS_SECONDS)


def restart(server: PulsarServer, *, graceful: bool = True) -> None:
    """Restart the server, with all its messages, at the same addresses.

    Args:
        server: The server.
        graceful: If False, it is killed, as when its machine fails.

    Raises:
        CannotRestartError: The tests did not start it as a local process.
    """
    if server.process is None:
        raise CannotRestartError(server.service_url)
    server.process.restart(graceful=graceful)


def _ledgers(topic: Topic, part: str) -> set[int]:
    return {ledger["ledgerId"] for ledger in topic.server.admin.internal_stats(part)["ledgers"]}
