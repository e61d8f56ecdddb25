"""The page of faults, and the tests that show what each of them does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

TABLE = Path(__file__).resolve().parent.parent / "integration" / "faults" / "table.json"
Cell: TypeAlias = "str | Sequence[str]"

_HEAD = """# Faults

Each row is something that happens to a job, each column a kind of job. A cell names the integration tests that show how
the job ends: with nothing lost, or with a named error in time. Where there is none, the cell says why.
[Nemesis](nemesis.md) lets many of them happen in one run.

Made from [`table.json`](../../integration/faults/table.json) by `make docs`, not by hand. A cell names the file of a
test, without `test_`, and its number below the table.

"""


def cells_of(text: str) -> list[tuple[str, list[Cell]]]:
    """Each fault with its cells: the tests, ``folder/file::name``, or the reason why there is none."""
    return [(row["fault"], row["cells"]) for row in json.loads(text)["faults"]]


def fault_page(text: str) -> str:
    """The page.

    Args:
        text: The content of `TABLE`.
    """
    columns, rows = json.loads(text)["columns"], cells_of(text)
    numbers: dict[str, int] = {}
    for _, cells in rows:
        for cell in cells:
            for test in () if isinstance(cell, str) else cell:
                numbers.setdefault(test, len(numbers) + 1)
    lines = [f"| fault | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    lines += [f"| {fault} | {' | '.join(_shown(cell, numbers) for cell in cells)} |" for fault, cells in rows]
    tested = sum(not isinstance(cell, str) for _, cells in rows for cell in cells)
    untested = sum(isinstance(cell, str) and cell.startswith("not tested") for _, cells in rows for cell in cells)
    found = f"{tested} cells have a test, {untested} that could have one do not."
    lines += ["", found, "", "## Tests", ""]
    for test, number in numbers.items():
        file, _, name = test.partition("::")
        lines.append(
            f"{number}. [`{file}`](../../integration/{file}.py): {name.removeprefix('test_').replace('_', ' ')}"
        )
    return _HEAD + "\n".join(lines) + "\n"


def _shown(cell: Cell, numbers: dict[str, int]) -> str:
    if isinstance(cell, str):
        return cell
    return ", ".join(f"{test.partition('::')[0].rpartition('/test_')[2]} ({numbers[test]})" for test in cell)
