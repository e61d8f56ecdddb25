from __future__ import annotations

import random

import pytest
from fuzz.page import PAGE, with_table
from fuzz.python_targets import targets
from fuzz.rule import BrokenRuleError, Target, check, outcome
from fuzz.runs import Run

TARGETS = targets()
_CHANGES = 60


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_are_read_and_changed_ones_are_read_or_refused_by_name(name: str) -> None:
    target, chance = TARGETS[name], random.Random(name)
    for seed in target.seeds:
        assert outcome(target, seed)[0] == "done", outcome(target, seed)
    for _ in range(_CHANGES):
        check(target, _changed(chance.choice(target.seeds), chance))


def _changed(seed: str, chance: random.Random) -> str:
    at = chance.randrange(len(seed))
    return seed[:at] + chance.choice(["", "{", '"', "9" * 5000, "1e999", "\x00ä", seed[:at] * 3]) + seed[at + 1 :]


def test_the_rule_finds_an_error_without_a_name() -> None:
    with pytest.raises(ZeroDivisionError):
        check(Target(lambda text: 1 // len(text), ()), "")


def test_the_rule_finds_a_second_result() -> None:
    results = iter([1, 2])
    with pytest.raises(BrokenRuleError, match="was first"):
        check(Target(lambda _: next(results), ()), "")


def test_the_page_has_the_runs_between_its_marks() -> None:
    page = PAGE.read_text(encoding="utf-8")
    run = Run("python: bounds", 1234567, 60.0, 89, ("an error",))
    written = with_table(with_table(page, [run], 2), [run], 2)
    assert "| `python: bounds` | 1,234,567 | 60 | 89 | 1 |" in written
    assert written.partition("<!-- runs: begin -->")[0] == page.partition("<!-- runs: begin -->")[0]
    assert not run.passed
