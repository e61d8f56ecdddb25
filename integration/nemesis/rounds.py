"""One fault after the other, each after the streams got over the one before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nemesis.faults.table import FAULTS, order

if TYPE_CHECKING:
    from collections.abc import Callable

    from nemesis.arena import Arena

_RECOVERY_SECONDS = 300.0


@dataclass(frozen=True)
class Event:
    """One fault.

    Attributes:
        name: What happened.
        second: When it began, since the driver was started first.
        seconds: How long it lasted.
        bit: Whether it had anything to bite.
        recovered: Seconds after its end until each stream had copied a batch; None if that took too long.
    """

    name: str
    second: float
    seconds: float
    bit: bool
    recovered: float | None


def have_faults(arena: Arena, seconds: float, say: Callable[[str], None]) -> list[Event]:
    """Have faults for so long; each round has all of them."""
    events: list[Event] = []
    names: list[str] = []
    end = arena.lives.seconds + seconds
    while arena.lives.seconds < end:
        names = names or order(arena.chance)
        name = names.pop()
        began = arena.lives.seconds
        bit = FAULTS[name](arena)
        ended = arena.lives.seconds
        recovered = arena.lives.await_copies(ended, _RECOVERY_SECONDS)
        events.append(Event(name, began, ended - began, bit, recovered))
        told = "no batch" if recovered is None else f"{recovered:.1f} s"
        say(f"{began:5.0f} s: {name}{'' if bit else ' (had nothing to bite)'}, over after {told}")
    return events


def late(events: list[Event]) -> list[str]:
    """The faults that the streams did not get over."""
    return [f"after {one.name} at {one.second:.0f} s no batch was copied" for one in events if one.recovered is None]
