"""What runs of targets did."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Run:
    """What a target did.

    Attributes:
        name: Of the target.
        executions: Inputs that were tried.
        seconds: How long.
        edges: Branches of the code that inputs reached.
        findings: The first line of each error.
    """

    name: str
    executions: int
    seconds: float
    edges: int
    findings: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether it decoded anything, and broke no rule."""
        return self.executions > 0 and self.edges > 0 and not self.findings


def numbers(pattern: str, text: str) -> list[int]:
    """What an expression finds in a log."""
    return [int(number) for number in re.findall(pattern, text)]
