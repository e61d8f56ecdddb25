"""A run of some seconds: the parts fit together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from nemesis.page import page
from nemesis.picture import draw
from nemesis.records import load, place, record, save
from nemesis.run import run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.exhaustive


def test_a_short_run(tmp_path: Path) -> None:
    result = run(seed=1, minutes=0.2, rate=50, folder=tmp_path, say=print)
    assert list(result.problems) == []
    assert [one.name for one in result.events if one.bit]
    file = tmp_path / "results.json"
    save(file, [record(result, place())])
    runs = load(file)
    assert "**Nothing is wrong**" in page(runs)
    draw(runs, file, tmp_path)
    assert (tmp_path / "results-light.svg").stat().st_size > 0
