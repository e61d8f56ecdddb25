"""What the check of recorded control topics refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest
from model.recorded import problems

from support.topics.sink_records import ControlTopics, Record, Transaction


def _record(kind: str, *transactions: Transaction, owner: str = "a", epoch: int = -1) -> Record:
    rows = sum(one.rows for one in transactions)
    listed = () if kind == "done" else transactions
    return Record(kind, "s", "query:1", owner, 0, epoch, listed, len(transactions), rows)


_T = [Transaction(0, number, number % 2, number, 10) for number in range(6)]
_OWNER = _record("owner")
_PREPARED, _DONE = _record("prepared", *_T[:2], epoch=0), _record("done", *_T[:2], epoch=0)
_OPEN = tuple(_record("open", one, epoch=0) for one in _T[:2])
_MARKS = tuple(_record("marker", one, epoch=0) for one in _T[:2])
_GOOD = ControlTopics((_OWNER, _PREPARED, _DONE), _OPEN, _MARKS)
_EMPTY = _record("done", epoch=0)
_SECOND = _record("owner", owner="b")
_AGAIN = tuple(_record("open", one, owner="b", epoch=0) for one in _T[2:4])


@pytest.mark.parametrize(
    "topics",
    [
        pytest.param(ControlTopics((), (), ()), id="nothing"),
        pytest.param(_GOOD, id="an epoch"),
        pytest.param(
            replace(_GOOD, log=(_OWNER, _PREPARED, _SECOND, replace(_DONE, owner="b"))), id="finished by the next"
        ),
        pytest.param(
            replace(_GOOD, open=(*_OPEN, *_AGAIN), log=(*_GOOD.log, _SECOND)), id="a repetition that was aborted"
        ),
        pytest.param(replace(_GOOD, log=(*_GOOD.log, _record("done", epoch=1))), id="an epoch without rows"),
        pytest.param(
            replace(_GOOD, log=(*_GOOD.log, replace(_EMPTY, target="b", others=(("", 0),)))),
            id="the same number for another target",
        ),
        pytest.param(
            ControlTopics((_OWNER, _OWNER, _PREPARED, _PREPARED, _DONE, _DONE), (*_OPEN, *_OPEN), _MARKS),
            id="records that were sent again",
        ),
        pytest.param(replace(_GOOD, log=(*_GOOD.log, _record("of a later version"))), id="an unknown kind"),
        pytest.param(ControlTopics((_OWNER, _PREPARED), _OPEN, _MARKS[:1]), id="torn or not finished"),
        pytest.param(
            ControlTopics((_OWNER, _PREPARED, replace(_DONE, lost=10)), _OPEN, _MARKS[:1]), id="an accepted loss"
        ),
        pytest.param(
            ControlTopics((_OWNER, _PREPARED, _record("dropped", epoch=0), _SECOND), _OPEN, ()), id="a dropped epoch"
        ),
    ],
)
def test_what_is_allowed(topics: ControlTopics) -> None:
    assert problems(topics) == []


@pytest.mark.parametrize(
    ("topics", "wrong"),
    [
        (replace(_GOOD, log=(_OWNER, _SECOND, _PREPARED, _DONE)), "written by a while b owns the log"),
        (replace(_GOOD, log=(_PREPARED, _DONE)), "written by a while nobody owns the log"),
        (replace(_GOOD, log=(*_GOOD.log, _OWNER)), "a takes over twice"),
        (replace(_GOOD, log=(_OWNER, _PREPARED, replace(_PREPARED, time=1), _DONE)), "epoch 0 is not finished"),
        (replace(_GOOD, log=(*_GOOD.log, _PREPARED)), "epoch 0 is done"),
        (replace(_GOOD, log=(*_GOOD.log, _record("prepared", *_T[2:4], epoch=0))), "epoch 0 is done"),
        (replace(_GOOD, log=(*_GOOD.log, replace(_DONE, time=1))), "epoch 0 is done"),
        (replace(_GOOD, log=(*_GOOD.log, replace(_EMPTY, target="b"))), "it has {} for other targets"),
        (replace(_GOOD, log=(_OWNER, _DONE)), "it was not prepared"),
        (replace(_GOOD, log=(_OWNER, _PREPARED, replace(_DONE, rows=19))), "with 20 rows were prepared"),
        (replace(_GOOD, log=(_OWNER, _record("prepared", _T[0], _T[2], epoch=0))), "two transactions of a task"),
        (replace(_GOOD, log=(_OWNER, _record("prepared", epoch=0))), "it has no transactions"),
        (replace(_GOOD, log=(_OWNER, _record("dropped", epoch=0))), "it was not prepared"),
        (replace(_GOOD, log=(_OWNER, _PREPARED, _record("dropped", epoch=0))), "of a dropped epoch, but committed"),
        (replace(_GOOD, open=_OPEN[:1]), "was never recorded as open"),
        (replace(_GOOD, open=(*_OPEN, replace(_OPEN[0], time=1))), "is opened 2 times"),
        (replace(_GOOD, open=(*_OPEN, *_AGAIN)), "a task ran for b, which never owned the log"),
        (replace(_GOOD, open=(_OPEN[0], replace(_OPEN[1], epoch=1))), "was opened for epoch 1"),
        (
            replace(_GOOD, open=(_OPEN[0], replace(_OPEN[1], transactions=(replace(_T[1], attempt=9),)))),
            "was opened by another attempt",
        ),
        (replace(_GOOD, mark=_MARKS[:1]), "is of a finished epoch, but not committed"),
        (replace(_GOOD, log=(_OWNER, _PREPARED, replace(_DONE, lost=10))), "10 rows are accepted as lost, but 0 are"),
        (replace(_GOOD, mark=(*_MARKS, _MARKS[0])), "has 2 markers"),
        (replace(_GOOD, mark=(*_MARKS, _record("marker", _T[3], epoch=0))), "no epoch decided that"),
        (replace(_GOOD, mark=(_MARKS[0], replace(_MARKS[1], epoch=3))), "names epoch 3, not 0"),
        (replace(_GOOD, mark=(_MARKS[0], replace(_MARKS[1], nonce="query:2"))), "2 sinks or nonces"),
    ],
)
def test_what_is_refused(topics: ControlTopics, wrong: str) -> None:
    assert any(wrong in text for text in problems(topics)), problems(topics)
