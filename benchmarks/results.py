"""The file of results: what the newest run of each case measured, and which runs these were."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from benchmarks.workloads import CASES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_PARTS = ("measured", "input", "memory")
_ORDER = {case.name: place for place, case in enumerate(CASES)}


class OtherPlaceError(Exception):
    """The results that are there come from another machine or from other versions, and do not go with new ones."""


class Results:
    """Results in a folder, to which a run adds; a case that is measured again is replaced.

    All rounds of a case are of one run, so its contenders can be compared; two cases may be of two runs.

    Args:
        folder: Where ``results.json`` is, or will be.
        place: What all runs have in common: the machine, versions, settings.
        run: What is said of this run beside its cases.

    Raises:
        OtherPlaceError: If those that are there have another ``place``.
    """

    def __init__(self, folder: Path, place: Mapping[str, Any], run: Mapping[str, Any]) -> None:
        self._file = folder / "results.json"
        self.content: dict[str, Any] = {**place, "runs": [], "cases": [], **{part: [] for part in _PARTS}}
        if self._file.exists():
            there = json.loads(self._file.read_text(encoding="utf-8"))
            different = [name for name, value in place.items() if there.get(name) != value]
            if different:
                raise OtherPlaceError(f"{self._file} has other {' and '.join(different)}")
            self.content = there
        self._run: dict[str, Any] = {**run, "cases": []}

    def add(self, part: str, case: Mapping[str, Any], found: Mapping[str, Any]) -> None:
        """Add a measurement, which names its case, and write everything, so that a run that stops keeps it."""
        if case["name"] not in self._run["cases"]:
            self._replace(case)
        self.content[part].append(found)
        self._write()

    def _replace(self, case: Mapping[str, Any]) -> None:
        content, name = self.content, case["name"]
        for part in _PARTS:
            content[part] = [one for one in content[part] if one["case"] != name]
        cases = [one for one in content["cases"] if one["name"] != name]
        content["cases"] = sorted([*cases, case], key=lambda one: _ORDER.get(one["name"], len(_ORDER)))
        for run in content["runs"]:
            run["cases"] = [one for one in run["cases"] if one != name]
        self._run["cases"].append(name)
        content["runs"] = [run for run in content["runs"] if run["cases"] and run is not self._run] + [self._run]

    def _write(self) -> None:
        # One line for each measurement, so that two versions can be compared by their differences.
        lists = {name: value for name, value in self.content.items() if isinstance(value, list)}
        head = json.dumps({name: value for name, value in self.content.items() if name not in lists}, indent=1)[:-2]
        rows = (f' "{name}": [\n  ' + ",\n  ".join(map(json.dumps, value)) + "\n ]" for name, value in lists.items())
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(head + ",\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
