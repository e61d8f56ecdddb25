"""Whether the model allows what a real run has recorded in the control topics of its sink."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.topics.sink_records import DROPPED, FINISHED, MARKER, OPEN, OWNER, PREPARED, ControlTopics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.topics.sink_records import Record, Transaction

    Id = tuple[int, int]


def problems(topics: ControlTopics) -> list[str]:
    """What the model does not allow; nothing for a run that kept to the protocol.

    The records must be all of the sink since its beginning, read after its last driver ended. A record that repeats the
    one before was sent again after a lost connection: it counts once. A marker may not, since its task fails then.
    """
    topics = ControlTopics(_once(topics.log), tuple(dict.fromkeys(topics.open)), topics.mark)
    records = (*topics.log, *topics.open, *topics.mark)
    found = [
        f"the records have {len(names)} sinks or nonces: {sorted(names)}"
        for names in [_names(records)]
        if len(names) > 1
    ]
    opened = _by_id(topics.open, OPEN)
    found += [f"transaction {one} is opened {len(all_)} times" for one, all_ in opened.items() if len(all_) > 1]
    owners = {one.owner for one in topics.log if one.kind == OWNER}
    found += [
        f"a task ran for {one.owner}, which never owned the log" for one in topics.open if one.owner not in owners
    ]
    reader = _Log({one: all_[0] for one, all_ in opened.items()})
    for number, record in enumerate(topics.log):
        found += [
            f"log record {number} ({record.kind} of epoch {record.epoch}): {text}" for text in reader.read(record)
        ]
    return found + list(_marks(topics, reader))


def _once(records: tuple[Record, ...]) -> tuple[Record, ...]:
    return tuple(one for one, before in zip(records, (None, *records), strict=False) if one != before)


def _names(records: tuple[Record, ...]) -> set[tuple[str, str]]:
    return {(one.sink, one.nonce) for one in records}


def _by_id(records: tuple[Record, ...], kind: str) -> dict[Id, list[Record]]:
    found: dict[Id, list[Record]] = {}
    for record in records:
        if record.kind == kind:
            for one in record.transactions:
                found.setdefault(one.id, []).append(record)
    return found


def _marks(topics: ControlTopics, log: _Log) -> Iterator[str]:
    marks = _by_id(topics.mark, MARKER)
    for one, all_ in marks.items():
        if len(all_) > 1:
            yield f"transaction {one} has {len(all_)} markers"
        if one not in log.decided:
            yield f"transaction {one} is committed, but no epoch decided that"
        elif log.decided[one] != all_[0].epoch:
            yield f"the marker of transaction {one} names epoch {all_[0].epoch}, not {log.decided[one]}"
    for one in sorted(log.committed - set(marks)):
        yield f"transaction {one} is of a finished epoch, but not committed"
    lost = sum(log.rows[one] for one in log.accepted - set(marks))
    if lost != log.lost:
        yield f"{log.lost} rows are accepted as lost, but {lost} are"
    for one in sorted(log.dropped & set(marks)):
        yield f"transaction {one} is of a dropped epoch, but committed"


class _Log:
    """The automaton of the log: the model's drivers, as far as they write."""

    def __init__(self, opened: dict[Id, Record]) -> None:
        self._opened = opened
        self._owners: set[str] = set()
        self._owner = ""
        self._done: dict[str, int] = {}
        self._prepared: Record | None = None
        self.decided: dict[Id, int] = {}
        self.rows: dict[Id, int] = {}
        self.committed: set[Id] = set()
        self.accepted: set[Id] = set()
        self.lost = 0
        self.dropped: set[Id] = set()

    def read(self, record: Record) -> Iterator[str]:
        """Take the next record; yields what is wrong with it."""
        if record.kind == OWNER:
            if record.owner in self._owners:
                yield f"{record.owner} takes over twice"
            self._owners.add(record.owner)
            self._owner = record.owner
            return
        if record.owner != self._owner:
            yield f"written by {record.owner} while {self._owner or 'nobody'} owns the log"
        if record.kind == PREPARED:
            yield from self._prepare(record)
        elif record.kind == FINISHED:
            yield from self._finish(record)
        elif record.kind == DROPPED:
            yield from self._drop(record)

    def _prepare(self, record: Record) -> Iterator[str]:
        if self._prepared is not None:
            yield f"epoch {self._prepared.epoch} is not finished"
        yield from self._follow(record)
        if not record.transactions:
            yield "it has no transactions"
        if len({one.partition for one in record.transactions}) < len(record.transactions):
            yield "it has two transactions of a task"
        for one in record.transactions:
            yield from self._decide(record, one)
        self._prepared = record

    def _decide(self, record: Record, one: Transaction) -> Iterator[str]:
        if one.id in self.decided:
            yield f"transaction {one.id} was decided before"
        self.decided[one.id] = record.epoch
        self.rows[one.id] = one.rows
        opened = self._opened.get(one.id)
        if opened is None:
            yield f"transaction {one.id} was never recorded as open"
        elif (opened.owner, opened.epoch) != (record.owner, record.epoch):
            yield f"transaction {one.id} was opened for epoch {opened.epoch} and {opened.owner}"
        elif (opened.transactions[0].partition, opened.transactions[0].attempt) != (one.partition, one.attempt):
            yield f"transaction {one.id} was opened by another attempt"

    def _finish(self, record: Record) -> Iterator[str]:
        prepared = self._prepared
        yield from self._follow(record)
        if prepared is None or prepared.epoch != record.epoch:
            if prepared is not None:
                yield f"epoch {prepared.epoch} is not finished"
            if record.count:
                yield "it was not prepared"
        else:
            rows = sum(one.rows for one in prepared.transactions)
            if (record.count, record.rows) != (len(prepared.transactions), rows):
                yield f"{len(prepared.transactions)} transactions with {rows} rows were prepared"
            (self.accepted if record.lost else self.committed).update({one.id for one in prepared.transactions})
            self.lost += record.lost
            self._prepared = None
        others = {target: epoch for target, epoch in self._done.items() if target != record.target}
        if dict(record.others) != others:
            yield f"it has {dict(record.others)} for other targets, not {others}"
        self._done[record.target] = record.epoch

    def _follow(self, record: Record) -> Iterator[str]:
        done = self._done.get(record.target, -1)
        if record.epoch <= done:
            yield f"epoch {done} is done"

    def _drop(self, record: Record) -> Iterator[str]:
        if self._prepared is None or self._prepared.epoch != record.epoch:
            yield "it was not prepared"
        else:
            self.dropped |= {one.id for one in self._prepared.transactions}
            self._prepared = None
