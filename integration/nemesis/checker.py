"""Whether a run kept what the connector promises. Pure: it sees the history alone."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nemesis.history import Ended, Guarantee, History, Read, Row

_SHOWN = 5


def problems(history: History) -> list[str]:
    """Everything that is wrong, in words; nothing of a good run."""
    return [
        *_of_source(history),
        *chain.from_iterable(_of_copy(kind, history.source, copy) for kind, copy in history.copies.items()),
        *chain.from_iterable(_of_read(number, read, history) for number, read in enumerate(history.reads, 1)),
        *chain.from_iterable(map(_of_end, history.ended)),
        *(f"left over: {one}" for one in history.left),
    ]


def _of_source(history: History) -> Iterable[str]:
    """The brokers have what they acknowledged; this says nothing of the connector, but all else is measured by it.

    The writer's client may have sent a message twice, when it lost the answer to the first: then there are two.
    """
    found = set(chain.from_iterable(history.source.values()))
    yield from _some("source: acknowledged and lost", [row for row in history.acknowledged if row not in found])


def _of_copy(kind: Guarantee, source: Mapping[str, Sequence[Row]], copy: Mapping[str, Sequence[Row]]) -> Iterable[str]:
    wanted = Counter(chain.from_iterable(source.values()))
    found = Counter(chain.from_iterable(copy.values()))
    yield from _some(f"{kind}: lost", sorted(row for row, count in wanted.items() if found[row] < count))
    yield from _some(f"{kind}: invented", sorted(found.keys() - wanted.keys()))
    if kind == "exactly-once":
        repeated = sorted(row for row, count in found.items() if count > wanted[row] > 0)
        yield from _some("exactly-once: repeated", repeated)
    yield from _some(f"{kind}: out of order within a key", _disordered(source, copy))


def _disordered(source: Mapping[str, Sequence[Row]], copy: Mapping[str, Sequence[Row]]) -> list[Row]:
    """Rows that are behind a later one of their key where they are first. Repeated ones are not looked at again."""
    places = {row: place for rows in source.values() for place, row in reversed(list(enumerate(rows)))}
    newest: dict[tuple[str, str], int] = {}
    partitions: dict[str, str] = {}
    wrong = []
    for partition, rows in copy.items():
        for row in dict.fromkeys(rows):
            place = places.get(row)
            if place is None:
                continue
            at = (partition, row.key)
            if place < newest.get(at, -1) or partitions.setdefault(row.key, partition) != partition:
                wrong.append(row)
            newest[at] = max(place, newest.get(at, -1))
    return wrong


def _of_read(number: int, read: Read, history: History) -> Iterable[str]:
    """A batch read has all that was acknowledged before it and not deleted, and of each partition no gap."""
    name = f"batch read {number}"
    gone: set[Row] = set()
    for partition, stored in history.source.items():
        rows = list(read.rows.get(partition, ()))
        start = _start(rows, stored, history.ledgers.get(partition, ()), read.noted.get(partition, 0))
        gone.update(stored[:start])
        expected = list(stored[start : start + len(rows)])
        if rows != expected:
            yield f"{name}: {partition} is not the beginning of what is stored, from row {_differ(rows, expected)} on"
    found = gone.union(chain.from_iterable(read.rows.values()))
    yield from _some(f"{name}: lost", [row for row in history.acknowledged[: read.least] if row not in found])


def _start(rows: Sequence[Row], stored: Sequence[Row], ledgers: Sequence[int], noted: int) -> int:
    """The place of the first row, where that may be the first: ledgers are deleted as a whole, and only noted ones."""
    starts = [0, *(place for place in ledgers if place <= noted)]
    fitting = [place for place in starts if list(stored[place : place + len(rows)]) == list(rows)]
    return max(fitting or [place for place in starts if list(stored[place : place + 1]) == list(rows[:1])], default=0)


def _differ(one: Sequence[Row], other: Sequence[Row]) -> int:
    same = [a == b for a, b in zip(one, other, strict=False)]
    return same.index(False) if False in same else len(same)


def _of_end(end: Ended) -> Iterable[str]:
    if end.condition is None:
        yield f"the query {end.query} ended without a named condition: {end.text[:300]}"


def _some(what: str, rows: Sequence[Row]) -> Iterable[str]:
    if rows:
        shown = ", ".join(f"{row.key}/{row.number}" for row in rows[:_SHOWN])
        yield f"{what}: {len(rows)}, such as {shown}"
