"""The status of a sink, as ``pulsar-spark sink status`` shows it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pulsar_spark.sinks.admin import OpenTransaction
    from pulsar_spark.sinks.records import Record, Transaction
    from pulsar_spark.sinks.state import SinkState

_MILLIS = 1000


@dataclass(frozen=True)
class SinkStatus:
    """The state of a sink, with what the cluster reports of it.

    Attributes:
        sink: Its id.
        namespace: ``tenant/namespace`` of its topics.
        state: The state that its records describe.
        drivers: Names and addresses of the producers that are connected to its log.
        open_: All open transactions of the cluster; None if they could not be listed.
        now: Time of the request, in milliseconds since 1970.
    """

    sink: str
    namespace: str
    state: SinkState
    drivers: tuple[str, ...]
    open_: dict[tuple[int, int], OpenTransaction] | None
    now: int

    @property
    def left_open(self) -> list[Record]:
        """Records of transactions that no epoch has decided, and that are open.

        If open transactions could not be listed: those of epochs after the last finished one, which may be open.
        """
        if self.open_ is not None:
            return [one for one in self.state.others if one.transactions[0].id in self.open_]
        last = -1 if self.state.done is None else self.state.done.epoch
        return [one for one in self.state.others if one.epoch > last]

    def facts(self) -> dict[str, Any]:
        """The status as a JSON object; times are milliseconds."""
        state = self.state
        return {
            "sinkId": self.sink,
            "namespace": self.namespace,
            "nonce": state.nonce,
            "owner": None if state.owner is None else {"owner": state.owner.owner, "time": state.owner.time},
            "drivers": list(self.drivers),
            "done": None if state.done is None else _done(state.done),
            "prepared": None if state.prepared is None else self._prepared(state.prepared),
            "open": [{**self._transaction(one.transactions[0]), "epoch": one.epoch} for one in self.left_open],
        }

    def text(self) -> str:
        """The status as text."""
        state, done, owner = self.state, self.state.done, self.state.owner
        since = "nobody" if owner is None else f"{owner.owner}, since {_moment(owner.time)}"
        finished = "none" if done is None else f"{done.epoch}, with {done.count} transactions and {done.rows} rows"
        if done is not None and done.lost:
            finished += f", {done.lost} of which are lost"
        lines = [
            f"Sink {self.sink} in {self.namespace}",
            f"  state of        {state.nonce or 'nothing: the log is empty'}",
            f"  owner           {since}",
            f"  driver          {', '.join(self.drivers) or 'none is connected'}",
            f"  last epoch      {finished}",
        ]
        if state.prepared is not None:
            total, ready = len(state.prepared.transactions), len(state.committed)
            lines.append(f"  prepared epoch  {state.prepared.epoch}, {ready} of {total} transactions are committed")
            lines += [f"    {self._line(one)}" for one in state.prepared.transactions]
        lines.append(f"  not decided     {len(self.left_open)} transactions")
        lines += [f"    epoch {one.epoch}, {self._line(one.transactions[0])}" for one in self.left_open]
        return "\n".join(lines)

    def _prepared(self, prepared: Record) -> dict[str, Any]:
        listed = [self._transaction(one) for one in prepared.transactions]
        return {"epoch": prepared.epoch, "owner": prepared.owner, "time": prepared.time, "transactions": listed}

    def _transaction(self, one: Transaction) -> dict[str, Any]:
        known = (self.open_ or {}).get(one.id)
        named = {"most": one.most, "least": one.least, "partition": one.partition, "attempt": one.attempt}
        age = None if known is None else self.now - known.began
        return {**named, "rows": one.rows, "state": self.state_of(one), "age": age}

    def state_of(self, one: Transaction) -> str:
        """``committed``, ``open``, ``ended`` or ``unknown``; an ended one without a marker was probably aborted."""
        if one in self.state.committed:
            return "committed"
        if self.open_ is None:
            return "unknown"
        return "open" if one.id in self.open_ else "ended"

    def _line(self, one: Transaction) -> str:
        known, state = (self.open_ or {}).get(one.id), self.state_of(one)
        if known is not None:
            left = (known.began + known.timeout - self.now) / _MILLIS
            state += f" for {(self.now - known.began) / _MILLIS:.0f} s, times out in {max(left, 0):.0f} s"
        return f"transaction ({one.most},{one.least}), partition {one.partition}, attempt {one.attempt}: {state}"


def _done(done: Record) -> dict[str, Any]:
    counted = {"epoch": done.epoch, "transactions": done.count, "rows": done.rows, "time": done.time}
    return {**counted, "lost": done.lost} if done.lost else counted


def _moment(millis: int) -> str:
    return datetime.fromtimestamp(millis / _MILLIS, tz=timezone.utc).isoformat(timespec="seconds")
