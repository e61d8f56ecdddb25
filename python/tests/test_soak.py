"""The verdicts of `make soak`: what passes, what does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.soak.page import page
from benchmarks.soak.verdicts import MEMORY, Outcome, Sample, judge

GOOD = Outcome(1000, 0, 0, 0, 0, 1.5)


def samples(*, growing: str = "", by: float = 0.0) -> list[Sample]:
    """Thirty looks; subscriptions follow the partitions, one size or the subscriptions may grow."""
    found = []
    for number in range(30):
        partitions = 2 if number < 5 else 4
        sizes = dict.fromkeys(MEMORY, 100.0)
        subscriptions = 3 * partitions
        if growing == "subscriptions":
            subscriptions += round(by * number)
        elif growing:
            sizes[growing] += by * number
        found.append(Sample(number * 15.0, partitions, number * 100, number * 100, subscriptions, sizes))
    return found


def failed(looks: list[Sample], outcome: Outcome) -> list[str]:
    return [verdict.title for verdict in judge(looks, outcome) if not verdict.passed]


def test_a_good_run_passes() -> None:
    assert failed(samples(), GOOD) == []


@pytest.mark.parametrize("name", MEMORY)
def test_memory_that_grows_fails(name: str) -> None:
    assert failed(samples(growing=name, by=20.0), GOOD) == [f"{name} is flat"]


def test_subscriptions_that_grow_fail_and_unanswered_looks_do_not_count() -> None:
    looks = samples(growing="subscriptions", by=2)
    looks[20] = replace(looks[20], subscriptions=None)
    assert failed(looks, GOOD) == ["subscriptions per partition are constant"]


@pytest.mark.parametrize(
    ("outcome", "titles"),
    [
        (replace(GOOD, missing=1), ["every message exactly once", "backlog at the end"]),
        (replace(GOOD, repeated=1), ["every message exactly once"]),
        (replace(GOOD, foreign=1), ["every message exactly once"]),
        (replace(GOOD, messages=0), ["every message exactly once"]),
        (replace(GOOD, subscriptions_left=1), ["subscriptions after the stop"]),
        (replace(GOOD, failures=("lost",)), ["the query did not fail"]),
    ],
)
def test_an_outcome_that_is_wrong_fails(outcome: Outcome, titles: list[str]) -> None:
    assert failed(samples(), outcome) == titles


def test_a_short_run_shows_nothing_of_memory() -> None:
    assert set(failed(samples()[:5], GOOD)) == {
        *(f"{name} is flat" for name in MEMORY),
        "subscriptions per partition are constant",
    }


def test_the_page_has_all_verdicts_and_some_samples() -> None:
    verdicts = judge(samples(), replace(GOOD, missing=1))
    text = page(30, 200, "auto", {"unload": 3}, samples(), verdicts)
    assert all(verdict.title in text for verdict in verdicts)
    assert "3 of unload" in text
    assert text.count("**no**") == 2
    assert "| 435 |" not in text
