from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pulsar_spark.testing import eventually

if TYPE_CHECKING:
    import pytest


def test_a_long_wait_looks_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    looks = iter([*["not yet"] * 40, "there"])
    monkeypatch.setattr(time, "sleep", pauses.append)
    assert eventually(lambda: next(looks) == "there", seconds=180)
    assert len(pauses) == 40
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (0.05, 0.2)
    assert pauses.index(0.2) < 10, "soon"
