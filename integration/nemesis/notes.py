"""What the source had before brokers were allowed to delete it.

Brokers delete what all durable subscriptions have acknowledged. One of them follows these notes, so that nothing is
gone that is not noted down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nemesis.writer import row_of

from support.topics.messages import Id, read_all, read_growing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pulsar
    from nemesis.history import Row

    from support.servers.admin import Admin
    from support.topics.messages import Received

_SUBSCRIPTION = "notes"
KEPT = frozenset((_SUBSCRIPTION, "at-least-once", "exactly-once"))
"""The subscriptions that hold messages back: that of the notes, and those that follow the streams."""


class Notes:
    """The messages of all partitions of the source, in order, as the official client reads them.

    Attributes:
        partitions: Their names.
    """

    def __init__(self, client: pulsar.Client, partitions: Sequence[str]) -> None:
        self._client, self.partitions = client, partitions
        self._rows: dict[str, dict[Id, Row]] = {partition: {} for partition in partitions}

    def begin(self, admin_of: Callable[[str], Admin]) -> None:
        """Keep everything from now on."""
        for partition in self.partitions:
            admin_of(partition).create_subscription(partition, _SUBSCRIPTION)

    def release(self, admin: Admin, partition: str) -> None:
        """Note a partition down, and let brokers delete what is noted."""
        self.take(partition, _rows(read_growing(self._client, partition)))
        last = next(reversed(self._rows[partition]), None)
        if last is not None:
            admin.expire(partition, _SUBSCRIPTION, ledger=last.ledger, entry=last.entry)

    def finish(self) -> None:
        """Note the rest down, when nobody writes any more."""
        for partition in self.partitions:
            self.take(partition, _rows(read_all(self._client, partition)))

    def take(self, partition: str, found: Mapping[Id, Row]) -> None:
        """Note down what is stored of a partition.

        Raises:
            RuntimeError: Messages that were noted are gone, and some before them are not.
        """
        rows = self._rows[partition]
        before = list(rows)
        again = list(found)[: sum(one in rows for one in found)]
        if again != before[len(before) - len(again) :]:
            raise RuntimeError(f"{partition}: brokers lost messages that are noted, behind others that are there")
        rows.update(found)

    @property
    def counts(self) -> Mapping[str, int]:
        """How many messages of each partition are noted: so many may be gone."""
        return {partition: len(rows) for partition, rows in self._rows.items()}

    @property
    def different(self) -> int:
        """How many different messages are noted."""
        return sum(len(set(rows)) for rows in self.rows.values())

    @property
    def rows(self) -> Mapping[str, Sequence[Row]]:
        """All that was ever noted."""
        return {partition: list(rows.values()) for partition, rows in self._rows.items()}

    @property
    def ledgers(self) -> Mapping[str, Sequence[int]]:
        """The places in `rows` where a ledger begins, behind the first one."""
        return {partition: _begins([one.ledger for one in rows]) for partition, rows in self._rows.items()}


def _rows(stored: Iterable[Received]) -> dict[Id, Row]:
    return {one.id: row_of(one.payload) for one in stored}


def _begins(ledgers: Sequence[int]) -> list[int]:
    return [at for at in range(1, len(ledgers)) if ledgers[at] != ledgers[at - 1]]
