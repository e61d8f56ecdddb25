"""The steps of all drivers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model import cleaning, commits, epochs, starts
from model.state import Driver, State, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from model.rules import Bounds, Rules

    Steps = Iterator[tuple[str, State]]
    Act = Callable[[State, int, Driver, Rules, Bounds], Steps]


def driver_steps(state: State, rules: Rules, bounds: Bounds) -> Steps:
    """The steps of all drivers that live."""
    for life, driver in enumerate(state.drivers):
        if not bounds.targets:
            for name, following in cleaning.tidy(state, life, driver, rules):
                yield f"driver {life}: {name}", following
        act = _ACTS.get(driver.step)
        if act is not None:
            for name, following in act(state, life, driver, rules, bounds):
                yield f"driver {life}: {name}", following


_ACTS: dict[Step, Act] = {
    Step.ADMIT: starts.admit,
    Step.TAKE: starts.take,
    Step.READ: starts.read,
    Step.SCAN: starts.scan,
    Step.CLAIM: starts.claim,
    Step.CLEAN: cleaning.clean,
    Step.RUN: epochs.run,
    Step.DECIDE: epochs.decide,
    Step.PROVE: epochs.prove,
    Step.PREPARE: epochs.prepare,
    Step.COMMIT: commits.commit,
    Step.SWEEP: commits.sweep,
    Step.RESOLVE: commits.resolve,
    Step.DONE: commits.done,
    Step.DROP: commits.drop,
    Step.SPARK: epochs.spark,
    Step.WROTE: epochs.wrote,
}
