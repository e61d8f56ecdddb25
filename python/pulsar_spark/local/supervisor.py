"""A script that runs one command and ends it when the owning process has ended.

If the supervisor itself is killed, the Linux kernel ends the command. The owner cannot use that mechanism itself: the
kernel signals when the parent *thread* ends, so a server started by a helper thread would end with that thread. The
supervisor imports the standard library only.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

_OWNER_CHECK_SECONDS = 0.2
_ORPHAN_GRACE_SECONDS = 5.0
_PR_SET_PDEATHSIG = 1


def _supervise(arguments: list[str]) -> int:
    """Run the command until it ends or the owner does; returns the command's exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--owner", type=int, required=True, help="the process that owns the command")
    parser.add_argument("--log", type=Path, required=True, help="the file for the command's output")
    parser.add_argument("--lock", type=int, required=True, help="the descriptor of the lock, for the command only")
    parser.add_argument("--discard", type=Path, help="the folder to remove when the owner has ended")
    parser.add_argument("command", nargs="+")
    chosen = parser.parse_args(arguments)
    with chosen.log.open("ab") as output:
        server = subprocess.Popen(
            chosen.command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=[chosen.lock],
            # Safe here, not in the owner: this process has one thread, which lives as long as the process.
            preexec_fn=_die_with_parent,
        )
    os.close(chosen.lock)
    os.write(sys.stdout.fileno(), b"%d\n" % server.pid)
    while True:
        try:
            code = server.wait(timeout=_OWNER_CHECK_SECONDS)
            return code if code >= 0 else 128 - code
        except subprocess.TimeoutExpired:
            if os.getppid() != chosen.owner:
                break
    server.terminate()
    try:
        server.wait(timeout=_ORPHAN_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    if chosen.discard is not None:
        shutil.rmtree(chosen.discard, ignore_errors=True)
    return 1


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(_supervise(sys.argv[1:]))
