"""Run the fuzz targets, each for so many seconds: ``make fuzz FUZZ_SECONDS=60``.

What they did goes to ``target/fuzz/runs.json``, and with ``--page`` to the page of the repository. The exit code is 1
when a rule was broken, or a target reached no decoder. An input that broke a rule is in ``target/fuzz/found``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from fuzz import jvm, python
from fuzz.page import PAGE, with_table

if TYPE_CHECKING:
    from fuzz.runs import Run

_FOLDER = Path("target/fuzz").absolute()


def main() -> int:
    """Run it; see the text of the module."""
    parser = argparse.ArgumentParser(description="Run the fuzz targets, each for so many seconds.")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--only", default="", help="only targets with this text in their names")
    parser.add_argument("--page", action="store_true", help="write the table of the page")
    chosen = parser.parse_args()
    runs = [*_of_jvm(chosen.seconds, chosen.only), *_of_python(chosen.seconds, chosen.only)]
    (_FOLDER / "runs.json").write_text(json.dumps([asdict(run) for run in runs], indent=1), encoding="utf-8")
    if chosen.page:
        PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), runs, os.cpu_count() or 1), encoding="utf-8")
    return 0 if runs and all(run.passed for run in runs) else 1


def _of_jvm(seconds: int, only: str) -> list[Run]:
    class_path = (_FOLDER / "class-path.txt").read_text(encoding="utf-8")
    names = [name for name in jvm.targets(class_path, _FOLDER / "seeds") if only in name]
    return [_told(jvm.fuzz(class_path, name, _FOLDER, seconds)) for name in names]


def _of_python(seconds: int, only: str) -> list[Run]:
    names = [name for name in python.names() if only in f"python: {name}"]
    return [_told(python.fuzz(_FOLDER / "atheris", name, _FOLDER, seconds)) for name in names]


def _told(run: Run) -> Run:
    print(f"{run.name}: {run.executions:,} inputs in {run.seconds:.0f} s, {run.edges:,} edges", flush=True)
    for finding in run.findings:
        print(f"  {finding[:300]}", flush=True)
    return run


if __name__ == "__main__":
    sys.exit(main())
