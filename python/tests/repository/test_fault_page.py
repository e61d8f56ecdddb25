"""The table of faults names tests that exist, and leaves no cell empty. `test_generated` checks its page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TABLE = json.loads((ROOT / "integration/faults/table.json").read_text(encoding="utf-8"))
TESTS = sorted({test for row in TABLE["faults"] for cell in row["cells"] if isinstance(cell, list) for test in cell})


@pytest.mark.parametrize("test", TESTS)
def test_a_named_test_exists(test: str) -> None:
    file, _, name = test.partition("::")
    source = (ROOT / "integration" / f"{file}.py").read_text(encoding="utf-8")
    assert re.search(rf"^def {name}\(", source, re.MULTILINE)


@pytest.mark.parametrize("row", TABLE["faults"], ids=lambda row: str(row["fault"]))
def test_each_cell_has_a_test_or_a_reason(row: dict[str, object]) -> None:
    cells = row["cells"]
    assert isinstance(cells, list)
    assert len(cells) == len(TABLE["columns"])
    assert all(cells)


def test_a_fault_is_there_once() -> None:
    names = [row["fault"] for row in TABLE["faults"]]
    assert len(set(names)) == len(names)
