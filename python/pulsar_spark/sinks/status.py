"""The state of an exactly-once sink, made of the rows of the metadata table ``sink``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MILLIS = 1000


@dataclass(frozen=True)
class SinkTransaction:
    """The transaction of a task attempt.

    Attributes:
        most: The upper half of its id, a signed integer of 64 bits.
        least: The lower half.
        partition: Spark's number of the task.
        attempt: Spark's id of the task attempt.
        rows: Number of its rows; 0 as long as that is not known.
        state: ``committed``, ``open``, ``ended`` (without a marker: it was probably aborted), or ``unknown``.
        age: Milliseconds since it began; None unless it is open.
        left: Milliseconds until it times out; None unless it is open.
        epoch: The epoch that it was begun for.
    """

    most: int
    least: int
    partition: int
    attempt: int
    rows: int
    state: str
    age: int | None
    left: int | None
    epoch: int

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> SinkTransaction:
        """The transaction of a row."""
        same = {name: row[name] for name in ("most", "least", "partition", "attempt", "rows", "state", "epoch")}
        return cls(**same, age=row["ageMs"], left=row["leftMs"])

    def text(self) -> str:
        """The transaction as text."""
        state = self.state
        if self.age is not None and self.left is not None:
            state += f" for {self.age / _MILLIS:.0f} s, times out in {self.left / _MILLIS:.0f} s"
        named = f"transaction ({self.most},{self.least}), partition {self.partition}, attempt {self.attempt}"
        return f"{named}: {state}"


@dataclass(frozen=True)
class FinishedEpoch:
    """The last epoch that is written.

    Attributes:
        epoch: Its number.
        transactions: Number of its transactions.
        rows: Number of its rows.
        time: The time when it was finished, in milliseconds since 1970.
        lost: Number of the rows that are not in the topic, which somebody accepted.
    """

    epoch: int
    transactions: int
    rows: int
    time: int
    lost: int

    def text(self) -> str:
        """The epoch as text."""
        lost = f", {self.lost} of which are lost" if self.lost else ""
        return f"{self.epoch}, with {self.transactions} transactions and {self.rows} rows{lost}"


@dataclass(frozen=True)
class PreparedEpoch:
    """An epoch whose transactions are decided, but not known to be committed.

    Attributes:
        epoch: Its number.
        owner: The driver that decided it.
        time: The time when it did, in milliseconds since 1970.
        transactions: The transactions of the epoch.
    """

    epoch: int
    owner: str
    time: int
    transactions: tuple[SinkTransaction, ...]


@dataclass(frozen=True)
class SinkStatus:
    """The state of an exactly-once sink.

    Attributes:
        sink: Its id.
        namespace: ``tenant/namespace`` of its topics.
        nonce: The owner of the state, as in `FoundSink`; None while nobody has written.
        owner: The driver that took the sink over last; None if nobody did.
        since: The time when it did, in milliseconds since 1970.
        drivers: Names and addresses of the producers that are connected to the log; None if they are not known.
        done: The last epoch that is written.
        prepared: An epoch that is decided and not finished.
        open: Transactions that no epoch has decided, and that are open. If open transactions are not known: those of
            epochs after the last finished one.
    """

    sink: str
    namespace: str
    nonce: str | None
    owner: str | None
    since: int | None
    drivers: tuple[str, ...] | None
    done: FinishedEpoch | None
    prepared: PreparedEpoch | None
    open: tuple[SinkTransaction, ...]

    @classmethod
    def of(cls, sink: str, rows: Sequence[Mapping[str, Any]]) -> SinkStatus:
        """The status that these rows describe."""

        def found(record: str) -> list[Mapping[str, Any]]:
            return [row for row in rows if row["record"] == record]

        (own,) = found("sink")
        drivers = found("driver")
        chosen = tuple(map(SinkTransaction.of, found("transaction")))
        done = [
            FinishedEpoch(one["epoch"], one["transactions"], one["rows"], _millis(one["time"]), one["lost"])
            for one in found("done")
        ]
        prepared = [
            PreparedEpoch(one["epoch"], one["owner"], _millis(one["time"]), chosen) for one in found("prepared")
        ]
        return cls(
            sink,
            own["namespace"],
            own["detail"],
            own["owner"],
            None if own["time"] is None else _millis(own["time"]),
            None if any(one["state"] == "unknown" for one in drivers) else tuple(one["detail"] for one in drivers),
            done[0] if done else None,
            prepared[0] if prepared else None,
            tuple(map(SinkTransaction.of, found("open"))),
        )

    def facts(self) -> dict[str, Any]:
        """The status as a JSON object; times are milliseconds."""
        named = asdict(self)
        since = named.pop("since")
        named["owner"] = None if self.owner is None else {"owner": self.owner, "time": since}
        return {"sinkId": named.pop("sink"), **named}

    def text(self) -> str:
        """The status as text."""
        since = "nobody" if self.owner is None else f"{self.owner}, since {_moment(self.since or 0)}"
        connected = "not known" if self.drivers is None else ", ".join(self.drivers) or "none is connected"
        done, prepared = self.done, self.prepared
        finished = (
            "none" if done is None else f"{done.epoch}, with {done.transactions} transactions and {done.rows} rows"
        )
        if done is not None and done.lost:
            finished += f", {done.lost} of which are lost"
        lines = [
            f"Sink {self.sink} in {self.namespace}",
            f"  state of        {self.nonce or 'nothing: the log is empty'}",
            f"  owner           {since}",
            f"  driver          {connected}",
            f"  last epoch      {finished}",
        ]
        if prepared is not None:
            all_ = prepared.transactions
            ready = sum(one.state == "committed" for one in all_)
            lines.append(f"  prepared epoch  {prepared.epoch}, {ready} of {len(all_)} transactions are committed")
            lines += [f"    {one.text()}" for one in all_]
        lines.append(f"  not decided     {len(self.open)} transactions")
        lines += [f"    epoch {one.epoch}, {one.text()}" for one in self.open]
        return "\n".join(lines)


def _millis(time: datetime) -> int:
    return round(time.timestamp() * _MILLIS)


def _moment(millis: int) -> str:
    return datetime.fromtimestamp(millis / _MILLIS, tz=timezone.utc).isoformat(timespec="seconds")
