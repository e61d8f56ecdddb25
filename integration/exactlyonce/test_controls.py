"""The controls fit the source: what each takes out is there once, and its test exists."""

from __future__ import annotations

from pathlib import Path

import pytest
from exactlyonce.controls import CONTROLS, Control, places

_ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.rule)
def test_a_control_fits_the_source(control: Control) -> None:
    assert places(control) == 1
    file, _, name = control.test.partition("::")
    if file.startswith("integration/"):
        assert not name or f"def {name.partition('[')[0]}(" in (_ROOT / file).read_text(encoding="utf-8")
    else:
        assert list(_ROOT.glob(f"connector/src/test/scala/**/{control.test}.scala"))
