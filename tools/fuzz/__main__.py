"""Run the fuzz targets, each for so many seconds: ``make fuzz FUZZ_SECONDS=60``.

The last run of each goes to ``target/fuzz/runs.json``, and with ``--page`` to the page of the repository. The exit code
is 1 when a rule was broken, or a target reached no decoder. An input that broke a rule is in ``target/fuzz/found``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from fuzz import jvm, python
from fuzz.page import PAGE, with_table
from fuzz.runs import Run

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLDER = Path("target/fuzz").absolute()
_LAST = _FOLDER / "runs.json"


def main() -> int:
    """Run it; see the text of the module."""
    parser = argparse.ArgumentParser(description="Run the fuzz targets, each for so many seconds.")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--only", default="", help="only targets with this text in their names")
    parser.add_argument("--page", action="store_true", help="write the table of the page")
    chosen = parser.parse_args()
    done: list[Run] = []
    for run in chain(_of_python(chosen.seconds, chosen.only), _of_jvm(chosen.seconds, chosen.only)):
        done.append(_told(run))
        last = _remembered(run)
        if chosen.page:
            PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), last, os.cpu_count() or 1), encoding="utf-8")
    return 0 if done and all(run.passed for run in done) else 1


def _remembered(run: Run) -> list[Run]:
    """The last run of each target, after this one: a run of some targets, or one that is cut off, keeps the others."""
    known = json.loads(_LAST.read_text(encoding="utf-8")) if _LAST.exists() else []
    last = {one["name"]: Run(**{**one, "findings": tuple(one["findings"])}) for one in known} | {run.name: run}
    runs = sorted(last.values(), key=lambda one: one.name)
    _LAST.write_text(json.dumps([asdict(one) for one in runs], indent=1), encoding="utf-8")
    return runs


def _of_jvm(seconds: int, only: str) -> Iterator[Run]:
    class_path = (_FOLDER / "class-path.txt").read_text(encoding="utf-8")
    names = [name for name in jvm.targets(class_path, _FOLDER / "seeds") if only in name]
    return (jvm.fuzz(class_path, name, _FOLDER, seconds) for name in names)


def _of_python(seconds: int, only: str) -> Iterator[Run]:
    names = [name for name in python.names() if only in f"python: {name}"]
    return (python.fuzz(_FOLDER / "atheris", name, _FOLDER, seconds) for name in names)


def _told(run: Run) -> Run:
    print(f"{run.name}: {run.executions:,} inputs in {run.seconds:.0f} s, {run.edges:,} edges", flush=True)
    for finding in run.findings:
        print(f"  {finding[:300]}", flush=True)
    return run


if __name__ == "__main__":
    sys.exit(main())
