"""The state of an exactly-once sink, from the records in its control topics."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from pulsar_spark.sinks.admin import OpenTransaction
from pulsar_spark.sinks.records import Record, SinkError, Transaction, parse
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


def _status(topics: ControlTopics, *still: int, listed: bool = True) -> SinkStatus:
    opened = {(0, number): OpenTransaction(_NOW - 5000, 60_000) for number in still} if listed else None
    return SinkStatus("trips", "public/default", fold(topics), (), opened, _NOW)


def test_a_late_attempt_of_a_finished_epoch_is_shown() -> None:
    finished = ControlTopics((_OWNER, _PREPARED, _DONE), _OPEN, _MARKS)
    assert [one["least"] for one in _status(finished, 2).facts()["open"]] == [2]
    assert _status(finished, listed=False).facts()["open"] == []


def test_rows_that_somebody_gave_up_are_shown() -> None:
    given_up = parse(_payload("done", epoch=7, transactions=2, rows=20, bytes=100, lost=10))
    status = _status(ControlTopics((_OWNER, _PREPARED, given_up), (), _MARKS))
    assert "last epoch      7, with 2 transactions and 20 rows, 10 of which are lost" in status.text()
    assert (status.facts()["done"]["rows"], status.facts()["done"]["lost"]) == (20, 10)


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
