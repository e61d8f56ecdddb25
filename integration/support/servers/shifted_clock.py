"""A real-time clock that tests set, for processes that they start. It needs no rights, and a C compiler.

A library that is loaded before the C library answers requests for the time. What measures durations, as Java's
``nanoTime``, is not changed, as when an administrator or a time server sets the clock of a machine.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SOURCE = Path(__file__).with_suffix(".c")
_SECONDS = struct.Struct("q")


class ShiftedClock:
    """The clock of all processes with `environment`."""

    def __init__(self, folder: Path) -> None:
        """Build the library in this folder."""
        compiler = shutil.which("cc")
        assert compiler is not None, "a clock that tests set needs a C compiler (package gcc)"
        folder.mkdir()
        self._library, self._offset = folder / "clock.so", folder / "seconds"
        command = [compiler, "-O1", "-shared", "-fPIC", "-o", str(self._library), str(_SOURCE), "-ldl"]
        subprocess.run(command, check=True)
        self._offset.write_bytes(_SECONDS.pack(0))

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables of the processes."""
        return {"LD_PRELOAD": str(self._library), "SHIFTED_CLOCK": str(self._offset)}

    @contextmanager
    def ahead(self, seconds: int) -> Iterator[None]:
        """Inside, the clock is that much ahead."""
        self._set(seconds)
        try:
            yield
        finally:
            self._set(0)

    def _set(self, seconds: int) -> None:
        with self._offset.open("r+b") as file:  # processes have it mapped
            file.write(_SECONDS.pack(seconds))
