"""The protocol of the exactly-once sink, explored: no rule of it can be left out, and with all of them it holds."""

from __future__ import annotations

import pytest
from model.protocol import check
from model.recorded import problems
from model.records_of import records_of
from model.state import Bounds, Rules, State


def _small(*kinds: str, attempts: int = 1, lives: int = 2, faults: int = 1) -> Bounds:
    return Bounds(epochs=1, tasks=1, attempts=attempts, lives=lives, faults=faults, kinds=frozenset(kinds))


_CONTROLS = [
    pytest.param("fence", _small("second driver"), "dropped although", id="no fence"),
    pytest.param("barrier", _small("reply"), "dropped although", id="no barrier"),
    pytest.param("nonce", _small("checkpoint"), "lost", id="no nonce"),
    pytest.param("disconnect_check", _small("cut"), "visible 2 times", id="no disconnect check"),
    pytest.param("flush_first", _small(), "lost", id="commit before flush"),
    pytest.param("claim_last", _small("second driver"), "dropped although", id="ownership not proved after the list"),
    pytest.param(
        "aborts_again", _small("lost task", attempts=2), "waits for ever", id="late attempts hide the barrier"
    ),
    pytest.param("keeps_prepared", _small("reply"), "dropped although", id="abort after an unknown append"),
    pytest.param(
        "own_aborts",
        _small("second driver", "time-out", lives=3, faults=2),
        "dropped although",
        id="aborts of a later owner's transactions",
        marks=pytest.mark.exhaustive,
    ),
]


@pytest.mark.parametrize(("rule", "bounds", "wrong"), _CONTROLS)
def test_the_model_fails_without_a_rule(rule: str, bounds: Bounds, wrong: str) -> None:
    result = check(bounds, Rules(**{rule: False}))
    print(result)
    assert wrong in str(result.violation)
    assert result.trace
    assert check(bounds).violation is None


_HOLDS = [
    pytest.param(Bounds(tasks=1, faults=1), id="2 epochs, 2 attempts, 2 lives, any fault"),
    pytest.param(Bounds(epochs=1, lives=1, faults=1), id="2 tasks, 2 attempts, any fault"),
    pytest.param(
        Bounds(epochs=1, attempts=1, faults=1), id="2 tasks, 2 lives, any fault", marks=pytest.mark.exhaustive
    ),
    pytest.param(Bounds(epochs=1, tasks=1, faults=2), id="1 task, any two faults", marks=pytest.mark.exhaustive),
    pytest.param(Bounds(tasks=1, faults=2), id="2 epochs, 1 task, any two faults", marks=pytest.mark.exhaustive),
]


@pytest.mark.parametrize("bounds", _HOLDS)
def test_the_protocol_holds(bounds: Bounds) -> None:
    result = check(bounds)
    print(result)
    assert result.violation is None, result
    assert result.states > 1000


def test_every_record_of_the_model_is_allowed() -> None:
    refused: list[tuple[State, list[str]]] = []
    seen: set[object] = set()

    def look(state: State) -> None:
        topics = records_of(state)
        if topics not in seen:
            seen.add(topics)
            wrong = problems(topics)
            if wrong:
                refused.append((state, wrong))

    check(Bounds(tasks=1, faults=1), visit=look)
    assert len(seen) > 100
    assert not refused, refused[0]
