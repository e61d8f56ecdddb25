"""What a soak run must show. Pure."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MEMORY = {
    "driver heap": (1.1, 8.0),
    "driver direct": (1.1, 8.0),
    "driver resident": (1.2, 64.0),
    "executor heap": (1.1, 8.0),
    "executor resident": (1.2, 64.0),
}
"""Sizes that stay flat, with the factor and the MB by which their second half may exceed their first."""

SUBSCRIPTIONS = (1.25, 1.0)
"""The same for subscriptions of each partition."""


@dataclass(frozen=True)
class Sample:
    """One look at a run.

    Attributes:
        second: Since its start.
        partitions: Of the topic.
        acknowledged: Messages that the broker has acknowledged so far.
        rows: What the sink of the stream has so far.
        subscriptions: On all partitions; None while the broker does not answer.
        sizes: Each of `MEMORY` in MB: heap after a collection, direct buffers, resident memory; the larger executor.
    """

    second: float
    partitions: int
    acknowledged: int
    rows: int
    subscriptions: int | None
    sizes: dict[str, float]


@dataclass(frozen=True)
class Outcome:
    """What is there after the stream has stopped.

    Attributes:
        messages: What the official client reads.
        missing: How many of them the sink lacks.
        repeated: Rows of the sink that it has before.
        foreign: Rows of the sink that are no message.
        subscriptions_left: On all partitions.
        drained_seconds: How long the stream took to read everything after the last message was sent.
        failures: Texts of the errors that ended the query.
    """

    messages: int
    missing: int
    repeated: int
    foreign: int
    subscriptions_left: int
    drained_seconds: float
    failures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """One line of the result."""

    title: str
    figure: str
    passed: bool


def halves(values: Sequence[float]) -> tuple[float, float]:
    """Medians of the second and of the last third of a run; topics grow in the first one."""
    third = len(values) // 3
    rest = values[third:]
    middle = len(rest) // 2
    return statistics.median(rest[:middle]), statistics.median(rest[middle:])


def flat(title: str, values: Sequence[float], bounds: tuple[float, float], unit: str) -> Verdict:
    """Whether values do not grow; too few of them show nothing."""
    if len(values) < 6:
        return Verdict(title, f"{len(values)} samples are too few", False)
    before, after = halves(values)
    factor, more = bounds
    return Verdict(title, f"{before:,.1f} {unit}, later {after:,.1f} {unit}", after <= before * factor + more)


def judge(samples: Sequence[Sample], outcome: Outcome) -> list[Verdict]:
    """All verdicts over a run."""
    wrong = outcome.missing + outcome.repeated + outcome.foreign
    counts = f"{outcome.missing} missing, {outcome.repeated} repeated, {outcome.foreign} foreign"
    return [
        Verdict(
            "every message exactly once",
            f"{outcome.messages:,} messages: {counts}",
            outcome.messages > 0 and wrong == 0,
        ),
        Verdict("backlog at the end", f"{outcome.missing} after {outcome.drained_seconds:.1f} s", outcome.missing == 0),
        *(flat(f"{name} is flat", _of(samples, name), bounds, "MB") for name, bounds in MEMORY.items()),
        flat("subscriptions per partition are constant", list(_subscriptions(samples)), SUBSCRIPTIONS, ""),
        Verdict("subscriptions after the stop", str(outcome.subscriptions_left), outcome.subscriptions_left == 0),
        Verdict("the query did not fail", f"{len(outcome.failures)} failures", not outcome.failures),
    ]


def _of(samples: Iterable[Sample], name: str) -> list[float]:
    return [sample.sizes[name] for sample in samples if name in sample.sizes]


def _subscriptions(samples: Iterable[Sample]) -> Iterable[float]:
    return (s.subscriptions / s.partitions for s in samples if s.subscriptions is not None)
