"""What a benchmark keeps of earlier runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.earlier.before import rows, with_before
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


def test_an_earlier_version_is_beside_this_one_in_each_case() -> None:
    cases = [with_before(next(case for case in CASES if case.job == job)) for job in ("scan", "write")]
    assert [case.contenders for case in cases] == [
        ("before-segment", "segment", "before-connector", "connector"),
        ("before-connector", "connector"),
    ]
    cost = {"before-segment": 1.0, "segment": 2.0, "before-connector": 4.0, "connector": 3.0}
    measured = [
        {"case": case.name, "contender": one, "rows": 100, "seconds": cost[one] + late, "cpu": (cost[one] + late) / 1e4}
        | {"compiling": 0, "server_cpu": 0}
        for case in cases
        for one in case.contenders
        for late in (0.0, 0.0, 0.5)
    ]
    table = [line.strip("|\n ").split(" | ") for line in rows(measured, cases)]
    assert [line[1:] for line in table] == [
        ["segments", "100", "50", "0.50", "1.00 (1.00-1.50)", "2.00 (2.00-2.50)", "2.00"],
        ["brokers", "25", "33", "1.33", "4.00 (4.00-4.50)", "3.00 (3.00-3.50)", "0.75"],
        ["", "25", "33", "1.33", "4.00 (4.00-4.50)", "3.00 (3.00-3.50)", "0.75"],
    ]
