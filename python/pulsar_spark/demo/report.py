"""The report of the demo: one line for each step, then the checks and the time of each step."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TITLE, _RATE = 62, 18
_BAR = 30
_INDENT = "    "


@dataclass
class Step:
    """One timed part of the demo."""

    title: str
    rows: int | None = None
    seconds: float = 0.0

    @property
    def rows_per_second(self) -> int | None:
        """The rate, for steps that handle rows."""
        return round(self.rows / self.seconds) if self.rows is not None and self.seconds > 0 else None


@dataclass(frozen=True)
class Check:
    """A count with its expected value."""

    title: str
    expected: object
    found: object

    @property
    def ok(self) -> bool:
        """True if the count is right."""
        return self.expected == self.found


@dataclass
class Report:
    """Collects steps and checks and shows them on ``out``; a terminal also shows the current step."""

    out: IO[str]
    steps: list[Step] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)

    @contextmanager
    def step(self, title: str) -> Iterator[Step]:
        """Time the block and show it as one line; the block may set ``title`` and ``rows`` of the step."""
        step = Step(title)
        self.passing(f"{title} ...")
        begin = time.monotonic()
        yield step
        step.seconds = time.monotonic() - begin
        self.steps.append(step)
        rate = f"{step.rows_per_second:,} rows/s" if step.rows_per_second is not None else ""
        self.line(f"{step.title:{_TITLE}}{rate:>{_RATE}}{step.seconds:8.1f} s")

    def line(self, text: str = "") -> None:
        """Show a line."""
        self._erase()
        print(text, file=self.out, flush=True)

    def passing(self, text: str) -> None:
        """Show a line that the next one replaces, on terminals only."""
        if self.out.isatty():
            self._erase()
            print(text[: _TITLE + _RATE], end="", file=self.out, flush=True)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Show a table, with the first column aligned left and numbers aligned right."""
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        self.line()
        for row in (head, ["-" * width for width in widths], *rows):
            first, *rest = (
                f"{cell:{'<' if place == 0 else '>'}{width}}"
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            self.line(_INDENT + "  ".join((first, *rest)))
        self.line()

    def check(self, title: str, *, expected: object, found: object) -> None:
        """Add a check of a count."""
        self.checks.append(Check(title, expected, found))

    @property
    def ok(self) -> bool:
        """True if every count was right."""
        return all(check.ok for check in self.checks)

    def show_checks(self) -> None:
        """Show every count, with the expected value of wrong ones."""
        self.line()
        self.line("Checked against what the official client sent and received")
        for check in self.checks:
            verdict = "ok" if check.ok else f"WRONG, expected {_number(check.expected)}"
            self.line(f"{_INDENT}{check.title:{_TITLE - len(_INDENT)}}{_number(check.found):>{_RATE}}  {verdict}")

    def show_times(self) -> None:
        """Show the time of each step."""
        total = sum(step.seconds for step in self.steps)
        self.line()
        self.line(f"Where {total:.0f} s went")
        for step in self.steps:
            share = step.seconds / total if total else 0.0
            bar = "#" * round(share * _BAR)
            self.line(f"{_INDENT}{step.title:{_TITLE - len(_INDENT)}}{step.seconds:6.1f} s {share:4.0%} {bar}".rstrip())

    def facts(self) -> dict[str, Any]:
        """Steps and checks for JSON."""
        steps = [{**asdict(step), "rows_per_second": step.rows_per_second} for step in self.steps]
        checks = [{**asdict(check), "ok": check.ok} for check in self.checks]
        return {"ok": self.ok, "steps": steps, "checks": checks}

    def _erase(self) -> None:
        if self.out.isatty():
            print("\r\033[K", end="", file=self.out)


def _number(value: object) -> str:
    if isinstance(value, dict):
        return f"{sum(value.values()):,}"
    return f"{value:,}" if isinstance(value, int) else str(value)
