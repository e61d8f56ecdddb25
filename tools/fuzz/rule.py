"""What holds for every decoder of Python and all texts."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_SECONDS = 2.0
"""CPU time of one input, many times what any takes."""


class BrokenRuleError(Exception):
    """A decoder does not do what every decoder does."""


@dataclass(frozen=True)
class Target:
    """One decoder of texts from outside.

    Attributes:
        decode: What is tried; its result is the same each time.
        seeds: Texts that it accepts.
        refusals: The errors by which it refuses others.
    """

    decode: Callable[[str], object]
    seeds: tuple[str, ...]
    refusals: tuple[type[Exception], ...] = ()


def check(target: Target, text: str) -> None:
    """Fail unless the text is decoded, or refused by a named error: soon, and twice with the same result.

    Raises:
        BrokenRuleError: It is not so.
    """
    began = time.process_time()
    first = outcome(target, text)
    seconds = time.process_time() - began
    if seconds > MOST_SECONDS:
        raise BrokenRuleError(f"{len(text)} characters took {seconds:.1f} s of a processor")
    if (second := outcome(target, text)) != first:
        raise BrokenRuleError(f"the same text was first {first}, then {second}")


def outcome(target: Target, text: str) -> tuple[str, str]:
    """What the decoder made of the text, or by what it refused it; any other error passes through."""
    try:
        return "done", repr(target.decode(text))
    except target.refusals as error:
        return "refused", f"{type(error).__name__}: {error}"
