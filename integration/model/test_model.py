"""The protocol of the exactly-once sink, explored: no rule of it can be left out, and with all of them it holds."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import pytest
from model.protocol import check
from model.recorded import problems
from model.records_of import records_of
from model.rules import Bounds, Rules
from model.state import Attempt, Expiry, Kind, Record, Status, Step, Task, initial

if TYPE_CHECKING:
    from model.state import State


def _small(
    *kinds: str,
    epochs: int = 1,
    tasks: int = 1,
    attempts: int = 1,
    lives: int = 2,
    faults: int = 1,
    targets: int = 0,
) -> Bounds:
    return Bounds(epochs, tasks, attempts, lives, faults, targets, frozenset(kinds))


_AND_BACK = ("driver", "checkpoint back")
_CONTROLS = {
    "fence": (_small("second driver"), "dropped although"),
    "reads_first": (_small("other query"), "fenced another one"),
    "barrier": (_small("reply"), "dropped although"),
    "nonce": (_small("checkpoint deleted"), "lost"),
    "disconnect_check": (_small("cut"), "visible 2 times"),
    "flush_first": (_small(), "lost"),
    "claim_last": (_small("second driver"), "dropped although"),
    "own_aborts": (_small("second driver", "time-out", lives=3, faults=2), "dropped although"),
    "of_any_epoch": (_small(*_AND_BACK, epochs=2, faults=2), "waits for ever"),
    "aborts_again": (_small("lost task", attempts=2), "waits for ever"),
    "keeps_prepared": (_small("reply"), "dropped although"),
    "proof": (_small("time-out", tasks=2, lives=1), "torn epoch although"),
    "margin": (_small("little time", "time-out", lives=1, faults=2), "dropped although"),
    "no_return": (_small("checkpoint back", epochs=2), "lost"),
    "no_gap": (_small("driver", "other guarantee", epochs=2, faults=2), "visible 2 times"),
    "same_rows": (_small("checkpoint back", epochs=2), "lost"),
    "anew_until_own": (_small(*_AND_BACK, epochs=2, faults=2), "lost"),
    "per_target": (_small(targets=2), "lost"),
    "whole_state": (_small("driver", targets=2, lives=4), "prepared twice"),
    "keeps_done": (_small("driver"), "prepared twice"),
    "refused_stops": (_small("driver", "other role", faults=2), "counts it as ended"),
    "closes": (_small("lost task", attempts=2, lives=1), "left T1 open"),
    "tidies": (_small("lost task", "no more rows", attempts=2, lives=1, faults=2), "waits for new rows"),
    "alone": (_small("repair"), "fenced a driver that lives"),
    "by_number": (_small(tasks=2), "lost"),
    "counts_lost": (_small(tasks=2, lives=3), "although no checkpoint went back"),
}
_LONG = {"own_aborts", "of_any_epoch", "anew_until_own"}
_OF_TORN_EPOCHS = {"by_number", "counts_lost"}


def _torn(bounds: Bounds) -> State:
    """A state where one of two tasks is committed, the transaction of the other timed out, and the driver said so."""
    committed = Attempt(0, 0, 0, 0, stage=Task.HANDED, status=Status.COMMITTED, rows=1, marked=True)
    lost = committed._replace(task=1, status=Status.ABORTED, expiry=Expiry.LATE)
    state = initial(bounds)
    driver = state.drivers[0]._replace(chosen=(0, 1)).ended(Step.FAILED, "torn")
    log = (Record(Kind.OWNER, 0, 0), Record(Kind.PREPARED, 0, 0, 0, chosen=(0, 1)))
    return state._replace(attempts=(committed, lost), drivers=(driver,), log=log, owner=0)


def test_each_rule_has_a_control() -> None:
    assert list(_CONTROLS) == [rule.name for rule in fields(Rules)]


@pytest.mark.parametrize(
    "rule", [pytest.param(rule, marks=pytest.mark.exhaustive if rule in _LONG else ()) for rule in _CONTROLS]
)
def test_the_model_fails_without_a_rule(rule: str) -> None:
    bounds, wrong = _CONTROLS[rule]
    first = _torn(bounds) if rule in _OF_TORN_EPOCHS else None
    result = check(bounds, Rules(**{rule: False}), first=first)
    print(result)
    assert wrong in str(result.violation)
    assert result.trace
    assert check(bounds, first=first).violation is None


def test_a_torn_epoch_has_a_way_out() -> None:
    bounds = Bounds(epochs=1, attempts=1, lives=3)
    result = check(bounds, first=_torn(bounds))
    print(result)
    assert result.violation is None, result
    assert result.states > 5_000


@pytest.mark.exhaustive
def test_the_protocol_reaches_the_torn_epoch() -> None:
    bounds = _small("time-out", tasks=2, lives=1)
    torn = _torn(bounds)._replace(faults=0)
    seen: list[State] = []
    assert check(bounds, visit=lambda state: seen.append(state) if state == torn else None).violation is None
    assert seen


_HOLDS = [
    pytest.param(Bounds(epochs=1, lives=1), id="2 tasks, 2 attempts, any fault"),
    pytest.param(
        Bounds(attempts=1, tasks=1, lives=4, targets=2),
        id="2 batches, 2 targets, any fault",
        marks=pytest.mark.exhaustive,
    ),
    pytest.param(Bounds(tasks=1, attempts=1, lives=3), id="2 epochs, 3 lives, any fault", marks=pytest.mark.exhaustive),
    pytest.param(
        _small(*_AND_BACK, "other guarantee", "reply", epochs=2, lives=3, faults=2),
        id="2 epochs, 3 lives, two faults of drivers and checkpoints",
        marks=pytest.mark.exhaustive,
    ),
    pytest.param(
        _small("lost task", "no more rows", "repair", "driver", attempts=2, faults=3),
        id="late attempts, idle streams and repairs",
        marks=pytest.mark.exhaustive,
    ),
    pytest.param(
        _small("little time", "time-out", tasks=2, faults=2),
        id="2 tasks, transactions of little time",
        marks=pytest.mark.exhaustive,
    ),
    pytest.param(Bounds(epochs=1, attempts=1), id="2 tasks, 2 lives, any fault", marks=pytest.mark.exhaustive),
    pytest.param(Bounds(epochs=1, tasks=1, faults=2), id="1 task, any two faults", marks=pytest.mark.exhaustive),
    pytest.param(Bounds(tasks=1, faults=2), id="2 epochs, 1 task, any two faults", marks=pytest.mark.exhaustive),
]


@pytest.mark.parametrize("bounds", _HOLDS)
def test_the_protocol_holds(bounds: Bounds) -> None:
    result = check(bounds)
    print(result)
    assert result.violation is None, result
    assert result.states > 1000


@pytest.mark.parametrize(
    "bounds",
    [
        pytest.param(Bounds(tasks=1), id="2 epochs, 2 attempts, 2 lives, any fault"),
        pytest.param(
            _small("driver", "reply", "time-out", targets=2, lives=3),
            id="2 targets of a batch, a driver or a transaction ends",
        ),
    ],
)
def test_the_protocol_holds_and_every_record_of_it_is_allowed(bounds: Bounds) -> None:
    refused: list[tuple[State, list[str]]] = []
    seen: set[object] = set()

    def look(state: State) -> None:
        if state.generation == 0 and not any(state.plans):  # else they have two nonces, or go back knowingly
            topics = records_of(state)
            if topics not in seen:
                seen.add(topics)
                wrong = problems(topics)
                if wrong:
                    refused.append((state, wrong))

    result = check(bounds, visit=look)
    print(result)
    assert result.violation is None, result
    assert len(seen) > 100
    assert not refused, refused[0]
