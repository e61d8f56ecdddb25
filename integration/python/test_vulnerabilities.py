"""The page of known vulnerabilities has a row for each library in the jar, and a reason for each that stays."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from release.libraries import bundled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "develop" / "vulnerabilities.md"


@dataclass(frozen=True)
class Row:
    """A row of the table; ``library`` is a group and a name, or ``*`` for all of the group."""

    library: str
    fixed_in: str
    ids: str
    reviewed_on: str
    reason: str

    def is_about(self, library: str) -> bool:
        return library == self.library or self.library == f"{library.split(':')[0]}:*"


def rows(text: str) -> Iterator[Row]:
    for line in text.splitlines():
        if line.startswith("| `"):
            library, *others = (cell.strip() for cell in line.strip("|").split("|"))
            yield Row(library.strip("`"), *others)


def order(version: str) -> tuple[int, ...]:
    """Numbers to compare versions by: those of the text up to the first word."""
    return tuple(int(number) for number in re.findall(r"\d+", re.split(r"[.-][a-z]", version.lower())[0]))


def problems(table: Iterable[Row], libraries: dict[str, str]) -> Iterator[str]:
    """What is wrong with the table, for versions by library."""
    table = list(table)
    for row in table:
        found = {version for library, version in libraries.items() if row.is_about(library)}
        if not found:
            yield f"{row.library}: no such library"
        if date.fromisoformat(row.reviewed_on) > date.today():
            yield f"{row.library}: reviewed in the future"
        if bool(row.fixed_in) != bool(row.ids):
            yield f"{row.library}: an id and its version belong together"
        if not row.fixed_in and row.reason:
            yield f"{row.library}: a reason for nothing"
        is_below = bool(row.fixed_in) and any(order(version) < order(row.fixed_in) for version in found)
        if found and is_below != bool(row.reason):
            what = "no reason why it stays" if is_below else "the reason is not needed"
            yield f"{row.library} {row.fixed_in}: {what}"
    for library in libraries:
        if not any(row.is_about(library) for row in table):
            yield f"{library}: no row"


def test_each_library_of_the_jar_is_fixed_or_has_a_reason(connector_jar: Path) -> None:
    libraries = {f"{one.group}:{one.name}": one.version for one in bundled(connector_jar)}
    assert len(libraries) > 60
    assert list(problems(rows(PAGE.read_text(encoding="utf-8")), libraries)) == []


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("| `g:a` | 1.2.10 | X-1 | 2026-11-28 | |", []),
        ("| `g:*` | 1.2.10.Final | X-1 | 2026-11-28 | |", []),
        ("| `g:a` | | | 2026-11-28 | |", []),
        ("| `g:a` | 1.2.11 | X-1 | 2026-11-28 | not used |", []),
        ("| `g:a` | 1.2.11 | X-1 | 2026-11-28 | |", ["g:a 1.2.11: no reason why it stays"]),
        ("| `g:a` | 1.2.9 | X-1 | 2026-11-28 | not used |", ["g:a 1.2.9: the reason is not needed"]),
        ("| `g:a` | 1.2.9 | | 2026-11-28 | |", ["g:a: an id and its version belong together"]),
        ("| `g:b` | | | 2026-11-28 | |", ["g:b: no such library", "g:a: no row"]),
        ("| `g:a` | | | 2999-01-01 | |", ["g:a: reviewed in the future"]),
    ],
)
def test_a_row_that_is_wrong(row: str, problem: list[str]) -> None:
    assert list(problems(rows(row), {"g:a": "1.2.10-jre"})) == problem
