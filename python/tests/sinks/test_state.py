"""The state of an exactly-once sink, from the records in its control topics."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from pulsar_spark.sinks.admin import OpenTransaction
from pulsar_spark.sinks.records import Record, SinkError, Transaction, done_record, owner_record, parse
from pulsar_spark.sinks.repair import Repair, repair
from pulsar_spark.sinks.state import ControlTopics, fold
from pulsar_spark.sinks.status import SinkStatus

_NOW = 1_790_000_000_000


def _payload(kind: str, **fields: object) -> bytes:
    common = {"version": 1, "kind": kind, "sinkId": "trips", "nonce": "query:6f1c", "owner": "a", "time": _NOW}
    return json.dumps({**common, **fields}).encode()


def _transaction(number: int, rows: int | None = 10) -> dict[str, Any]:
    fields: dict[str, Any] = {"most": 0, "least": number, "partition": number % 2, "attempt": number}
    return fields if rows is None else {**fields, "rows": rows, "bytes": 5 * rows, "marker": "3:4"}


_PREPARED = parse(_payload("prepared", epoch=7, transactions=[_transaction(0), _transaction(1)]))
_DONE = parse(_payload("done", epoch=7, transactions=2, rows=20, bytes=100))
_OPEN = tuple(parse(_payload("open", epoch=7, timeout=9, transactions=[_transaction(n, None)])) for n in range(3))
_MARKS = tuple(parse(_payload("marker", epoch=7, transactions=[_transaction(n)])) for n in range(2))
_OWNER = parse(_payload("owner"))


def test_records_are_read_as_the_connector_writes_them() -> None:
    assert (
        Record(
            "prepared",
            "trips",
            "query:6f1c",
            "a",
            _NOW,
            7,
            (Transaction(0, 0, 0, 0, 10, 50), Transaction(0, 1, 1, 1, 10, 50)),
            2,
        )
        == _PREPARED
    )
    assert (_DONE.epoch, _DONE.count, _DONE.rows, _DONE.transactions) == (7, 2, 20, ())
    assert _OPEN[2].transactions == (Transaction(0, 2, 0, 2),)
    assert parse(_payload("barrier", barrier="x", later=[1])).kind == "barrier"


def test_records_are_written_as_they_are_read() -> None:
    assert parse(owner_record(_PREPARED, "b", 5)) == Record("owner", "trips", "query:6f1c", "b", 5)
    assert parse(done_record(_PREPARED, None, "b", 5)) == replace(_DONE, owner="b", time=5)
    assert json.loads(done_record(_PREPARED, None, "b", 5))["bytes"] == 100


def test_a_finished_epoch_keeps_what_the_sink_has_of_each_target() -> None:
    """A `done` without its target would be of all: the next rows of the others would count as written."""
    before = parse(_payload("done", epoch=6, target="b", others={"a": 6, "": 3}, transactions=1, rows=1, bytes=1))
    prepared = replace(_PREPARED, target="a")
    written = json.loads(done_record(prepared, before, "o", 5))
    assert (written["target"], written["others"]) == ("a", {"": 3, "b": 6})
    cluster = _Cluster()
    _repaired(_status(ControlTopics((_OWNER, before, prepared), _OPEN, _MARKS)), cluster)
    assert (cluster.appended[-1].target, dict(cluster.appended[-1].others)) == ("a", {"": 3, "b": 6})


@pytest.mark.parametrize(
    ("payload", "wrong"),
    [
        (b"\xff", "is not a record"),
        (b"[]", "is not a record"),
        (b"{}", "is not a record"),
        (_payload("open", transactions=[{"most": 0}]), "is not a record"),
        (_payload("open", version=2), "version 2"),
    ],
)
def test_other_messages_are_refused(payload: bytes, wrong: str) -> None:
    with pytest.raises(SinkError, match=wrong):
        parse(payload)


def test_an_empty_log_has_no_state() -> None:
    state = fold(ControlTopics((), (), ()))
    assert (state.nonce, state.owner, state.done, state.prepared, state.others) == (None, None, None, None, ())


def test_a_prepared_epoch_stays_until_it_is_done_or_dropped() -> None:
    state = fold(ControlTopics((_OWNER, _PREPARED), _OPEN, _MARKS[:1]))
    assert state.prepared == _PREPARED
    assert [one.least for one in state.committed] == [0]
    assert [one.least for one in state.unknown] == [1]
    assert state.others == _OPEN[2:]
    done = fold(ControlTopics((_OWNER, _PREPARED, _DONE), _OPEN, _MARKS))
    assert (done.prepared, done.done, done.others) == (None, _DONE, _OPEN[2:])
    dropped = fold(ControlTopics((_OWNER, _PREPARED, replace(_DONE, kind="dropped")), _OPEN, ()))
    assert (dropped.prepared, dropped.done) == (None, None)


class _Cluster:
    """Counts what a repair does."""

    def __init__(self, *, refuses: bool = False) -> None:
        self.aborted: list[tuple[int, int]] = []
        self.appended: list[Record] = []
        self._refuses = refuses

    def abort(self, transaction: tuple[int, int]) -> None:
        if self._refuses:
            raise SinkError("401")
        self.aborted.append(transaction)

    def append(self, payload: bytes) -> None:
        self.appended.append(parse(payload))


def _status(topics: ControlTopics, *still: int, listed: bool = True) -> SinkStatus:
    opened = {(0, number): OpenTransaction(_NOW - 5000, 60_000) for number in still} if listed else None
    return SinkStatus("trips", "public/default", fold(topics), (), opened, _NOW)


def _repaired(status: SinkStatus, cluster: _Cluster) -> Repair:
    return repair(status, cluster, cluster.append)  # type: ignore[arg-type]


def test_an_epoch_whose_markers_are_all_readable_is_finished() -> None:
    cluster = _Cluster()
    result = _repaired(_status(ControlTopics((_OWNER, _PREPARED), _OPEN, _MARKS)), cluster)
    assert [(one.kind, one.epoch) for one in cluster.appended] == [("owner", -1), ("done", 7)]
    assert len({one.owner for one in cluster.appended}) == 1
    assert (result.finished, result.aborted, result.remaining) == (7, [], [])


def test_transactions_that_no_epoch_decided_are_aborted_after_taking_over() -> None:
    cluster = _Cluster()
    result = _repaired(_status(ControlTopics((_OWNER,), _OPEN, ()), 0, 2), cluster)
    assert [one.kind for one in cluster.appended] == ["owner"]
    assert cluster.aborted == result.aborted == [(0, 0), (0, 2)]
    assert result.remaining == []


def test_a_decided_epoch_is_left_to_a_driver() -> None:
    cluster = _Cluster()
    result = _repaired(_status(ControlTopics((_OWNER, _PREPARED), _OPEN, ()), 0, 2), cluster)
    assert [one.kind for one in cluster.appended] == ["owner"]
    assert cluster.aborted == [(0, 2)]  # none of the epoch's own
    assert len(result.remaining) == 2
    assert "1 of its transactions are to be committed" in result.remaining[0]
    assert "1 (10 rows)" in result.remaining[1]


def test_a_late_attempt_of_a_finished_epoch_is_shown_and_aborted() -> None:
    finished, cluster = ControlTopics((_OWNER, _PREPARED, _DONE), _OPEN, _MARKS), _Cluster()
    assert [one["least"] for one in _status(finished, 2).facts()["open"]] == [2]
    assert _status(finished, listed=False).facts()["open"] == []
    assert _repaired(_status(finished, 2), cluster).aborted == [(0, 2)]


def test_a_role_that_may_not_abort_is_reported() -> None:
    result = _repaired(_status(ControlTopics((_OWNER,), _OPEN, ()), 0), _Cluster(refuses=True))
    assert result.aborted == []
    assert "super-user" in result.remaining[0]


def test_nothing_is_written_when_nothing_is_left_over() -> None:
    cluster = _Cluster()
    assert _repaired(_status(ControlTopics((_OWNER, _PREPARED, _DONE), _OPEN, _MARKS)), cluster).text() == (
        "There was nothing to repair."
    )
    assert _repaired(_status(ControlTopics((), (), ())), cluster).remaining == []
    assert cluster.appended == []


def test_a_repair_needs_the_list_of_open_transactions() -> None:
    with pytest.raises(SinkError, match="pulsar/system"):
        _repaired(_status(ControlTopics((_OWNER,), _OPEN, ()), listed=False), _Cluster())


def test_the_status_as_text_and_as_json() -> None:
    status = _status(ControlTopics((_OWNER, _PREPARED), _OPEN, _MARKS[:1]), 1, 2)
    text = status.text()
    assert "Sink trips in public/default\n  state of        query:6f1c\n  owner           a, since 2026-" in text
    assert "prepared epoch  7, 1 of 2 transactions are committed" in text
    assert "(0,0), partition 0, attempt 0: committed\n" in text
    assert "(0,1), partition 1, attempt 1: open for 5 s, times out in 55 s\n" in text
    assert "not decided     1 transactions\n    epoch 7, transaction (0,2)" in text
    facts = json.loads(json.dumps(status.facts()))
    assert [one["state"] for one in facts["prepared"]["transactions"]] == ["committed", "open"]
    assert facts["open"] == [
        {"most": 0, "least": 2, "partition": 0, "attempt": 2, "rows": 0, "state": "open", "age": 5000, "epoch": 7}
    ]
    assert facts["done"] is None
    unlisted = _status(ControlTopics((_OWNER, _PREPARED), _OPEN, ()), listed=False)
    assert [unlisted.state_of(one) for one in unlisted.state.unknown] == ["unknown", "unknown"]
    assert "last epoch      none" in unlisted.text()
