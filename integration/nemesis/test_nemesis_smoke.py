"""A run of some seconds: the parts fit together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from nemesis.page import draw, page
from nemesis.run import run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.exhaustive


def test_a_short_run(tmp_path: Path) -> None:
    result = run(seed=1, minutes=0.2, rate=50, folder=tmp_path, say=print)
    assert list(result.problems) == []
    assert [one.name for one in result.events if one.bit]
    assert "**Nothing is wrong**" in page(result)
    draw(result, tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").stat().st_size > 0
