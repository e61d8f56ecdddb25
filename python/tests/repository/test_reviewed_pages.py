"""Pages that say what other products do name the day on which that was looked up."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

USE = Path(__file__).resolve().parents[3] / "docs/use"


@pytest.mark.parametrize("page", ["platforms", "from-databricks", "from-pulsar-sql"])
def test_a_page_has_the_day_of_its_review(page: str) -> None:
    days = re.findall(r"[Rr]eviewed on (\d{4}-\d{2}-\d{2})", (USE / f"{page}.md").read_text(encoding="utf-8"))
    assert len(days) == 1
    assert date(2026, 1, 1) < date.fromisoformat(days[0])
