"""The state of an exactly-once sink, from the rows of its table."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any

from pulsar_spark.sinks import SinkStatus

_TIME = datetime(2026, 9, 21, 14, 13, 20, 1000, tzinfo=timezone.utc)
_SINK = {"record": "sink", "namespace": "public/default", "owner": "a", "time": _TIME, "detail": "query:6f1c"}
_PREPARED = {"record": "prepared", "epoch": 7, "owner": "a", "time": _TIME, "transactions": 2, "rows": 20}


def _transaction(record: str, number: int, state: str, age: int | None = None, left: int | None = None) -> Any:  # noqa: ANN401
    named = {"most": 0, "least": number, "partition": number % 2, "attempt": number, "rows": 10}
    return {"record": record, "epoch": 7, **named, "state": state, "ageMs": age, "leftMs": left}


def test_the_status_as_text_and_as_json() -> None:
    rows = [
        _SINK,
        _PREPARED,
        _transaction("transaction", 0, "committed"),
        _transaction("transaction", 1, "open", 5000, 55_000),
        _transaction("open", 2, "open", 5000, 55_000),
    ]
    status = SinkStatus.of("trips", rows)
    text = status.text()
    assert "Sink trips in public/default\n  state of        query:6f1c\n  owner           a, since 2026-09-21" in text
    assert "driver          none is connected\n  last epoch      none\n" in text
    assert "prepared epoch  7, 1 of 2 transactions are committed" in text
    assert "(0,0), partition 0, attempt 0: committed\n" in text
    assert "(0,1), partition 1, attempt 1: open for 5 s, times out in 55 s\n" in text
    assert "not decided     1 transactions\n    epoch 7, transaction (0,2)" in text
    facts = json.loads(json.dumps(status.facts()))
    assert [one["state"] for one in facts["prepared"]["transactions"]] == ["committed", "open"]
    assert facts["prepared"]["time"] == facts["owner"]["time"] == 1_790_000_000_001
    assert facts["open"] == [
        {
            "most": 0,
            "least": 2,
            "partition": 0,
            "attempt": 2,
            "rows": 10,
            "state": "open",
            "age": 5000,
            "left": 55_000,
            "epoch": 7,
        }
    ]
    assert facts["done"] is None


def test_rows_that_somebody_gave_up_are_shown() -> None:
    done = {"record": "done", "epoch": 7, "time": _TIME, "transactions": 2, "rows": 20, "lost": 10}
    status = SinkStatus.of("trips", [_SINK, done])
    assert "last epoch      7, with 2 transactions and 20 rows, 10 of which are lost" in status.text()
    assert (status.facts()["done"]["rows"], status.facts()["done"]["lost"]) == (20, 10)


def test_what_is_not_known_is_not_denied() -> None:
    nobody = {"record": "sink", "namespace": "public/default", "owner": None, "time": None, "detail": None}
    status = SinkStatus.of("trips", [nobody, {"record": "driver", "state": "unknown", "detail": None}])
    assert (
        "state of        nothing: the log is empty\n  owner           nobody\n  driver          not known"
        in status.text()
    )
    assert (status.drivers, status.facts()["drivers"], status.facts()["owner"]) == (None, None, None)
