"""The clock that tests set is that of processes with its environment, while they run."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from support.servers.shifted_clock import ShiftedClock

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.exhaustive  # the gate needs no C compiler

_ASKED = "import sys, time\nfor _ in sys.stdin: print(time.time(), time.monotonic(), flush=True)"


def test_the_time_jumps_and_durations_do_not(tmp_path: Path) -> None:
    clock = ShiftedClock(tmp_path / "clock")
    with subprocess.Popen(
        [sys.executable, "-c", _ASKED],
        env={**os.environ, **clock.environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def ahead() -> tuple[int, int]:
            """The hours by which the clocks of the process are ahead of ours."""
            print(file=process.stdin, flush=True)
            told, measured = map(float, process.stdout.readline().split())  # type: ignore[union-attr]
            return round((told - time.time()) / 3600), round((measured - time.monotonic()) / 3600)

        assert ahead() == (0, 0)
        with clock.ahead(2 * 3600):
            assert ahead() == (2, 0)
        assert ahead() == (0, 0)
        process.stdin.close()
