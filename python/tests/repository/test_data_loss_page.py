"""The page about data loss has a row for each condition of that family, and the page of errors leads there."""

from __future__ import annotations

import re
from pathlib import Path

from pulsar_spark import _tables

USE = Path(__file__).resolve().parents[3] / "docs/use"
LOSSES = sorted(name for name, entry in _tables.error_conditions().items() if entry.family == "dataLoss")
COLUMNS = ["condition", "how to verify", "what skipping skips", "how to prevent"]


def tables() -> list[list[str]]:
    """The rows of all tables of the page, with their headings."""
    lines = (USE / "data-loss.md").read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| ")]
    assert cells
    return cells


def test_each_condition_has_one_row_with_what_to_do() -> None:
    rows = [row for row in tables() if row != COLUMNS]
    assert sorted(row[0].strip("`") for row in rows) == LOSSES
    for row in rows:
        assert len(row) == len(COLUMNS), row[0]
        assert all(row), row[0]


def test_each_condition_leads_from_the_page_of_errors_to_its_row() -> None:
    parts = re.split(r"^##+ ", (USE / "errors.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    leading = sorted(part.split()[0] for part in parts if "[What now?](data-loss.md)" in part)
    assert leading == LOSSES
