"""Programs of tests, each in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


@contextmanager
def running_program(
    program: Path, task: Mapping[str, object], folder: Path, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """Run a Python program with what tests import, and kill it at the end, with its JVM.

    Args:
        program: Its file. Its one argument is the task as JSON.
        task: What it does.
        folder: Its working folder; its standard error is appended to `driver.log` there.
        environment: Environment variables in addition to those of this process.
    """
    with (folder / "driver.log").open("a") as log:
        process = subprocess.Popen(
            [sys.executable, str(program), json.dumps(task)],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **(environment or {})},
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):  # all of them ended
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
