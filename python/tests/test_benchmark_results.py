"""What a benchmark keeps of earlier runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.results import OtherPlaceError, Results
from benchmarks.workloads import CASES

if TYPE_CHECKING:
    from pathlib import Path

PLACE = {"machine": {"cores": 2}}
FIRST, SECOND = (case.name for case in CASES[:2])


def run(folder: Path, version: str, *cases: str) -> dict[str, Any]:
    """Two rounds of each case; what is in the file then."""
    results = Results(folder, PLACE, {"version": version})
    for name in cases:
        for number in (1, 2):
            results.add("measured", {"name": name}, {"case": name, "round": number, "version": version})
    content: dict[str, Any] = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert content == results.content
    return content


def test_a_run_replaces_the_cases_it_measures_and_no_others(tmp_path: Path) -> None:
    run(tmp_path, "old", SECOND, FIRST)
    content = run(tmp_path, "new", SECOND)
    assert [case["name"] for case in content["cases"]] == [FIRST, SECOND]
    measured = {(one["case"], one["round"], one["version"]) for one in content["measured"]}
    assert measured == {(FIRST, 1, "old"), (FIRST, 2, "old"), (SECOND, 1, "new"), (SECOND, 2, "new")}
    assert len(content["measured"]) == len(measured)
    assert [(one["version"], one["cases"]) for one in content["runs"]] == [("old", [FIRST]), ("new", [SECOND])]


def test_a_run_without_cases_is_removed(tmp_path: Path) -> None:
    run(tmp_path, "old", FIRST)
    assert [one["version"] for one in run(tmp_path, "new", FIRST)["runs"]] == ["new"]


def test_results_of_another_machine_are_not_mixed(tmp_path: Path) -> None:
    run(tmp_path, "old", FIRST)
    with pytest.raises(OtherPlaceError, match="machine"):
        Results(tmp_path, {"machine": {"cores": 4}}, {"version": "new"})
