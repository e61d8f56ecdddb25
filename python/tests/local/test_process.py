"""Server processes end with their owner, and no earlier."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pulsar_spark
from pulsar_spark.local.locks import FileLock, is_locked
from pulsar_spark.local.process import ServerProcess

if TYPE_CHECKING:
    from collections.abc import Callable


def eventually(condition: Callable[[], bool], *, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "not within the deadline"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    # A zombie whose new parent does not collect it has ended all the same.
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


def supervised(folder: Path, command: list[str], *, discard: bool = False) -> ServerProcess:
    with FileLock(folder / "lock") as lock:
        return ServerProcess.supervised(command, folder=folder, log=folder / "log", lock=lock, discard=discard)


def test_a_process_holds_the_lock_until_it_is_stopped(tmp_path: Path) -> None:
    process = supervised(tmp_path, ["sleep", "600"])
    assert alive(process.pid)
    assert is_locked(tmp_path / "lock")
    process.stop(60)
    assert not process.running
    assert not is_locked(tmp_path / "lock")
    assert process.exit_code == 128 + signal.SIGTERM
    process.stop(60)


def test_a_process_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    process = supervised(tmp_path, ["sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 0.05; done"])
    eventually(lambda: "deaf" in (tmp_path / "log").read_text())
    process.stop(0.2)
    assert process.exit_code == 128 + signal.SIGKILL


def test_a_process_that_ends_reports_its_exit_code_and_logs_its_output(tmp_path: Path) -> None:
    process = supervised(tmp_path, ["sh", "-c", "echo hello; exit 7"])
    eventually(lambda: not process.running)
    assert process.exit_code == 7
    assert (tmp_path / "log").read_text() == "hello\n"


def test_a_command_that_cannot_start_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="the supervisor of /nowhere/java ended with code"):
        supervised(tmp_path, ["/nowhere/java"])
    assert "No such file" in (tmp_path / "log").read_text()


def test_a_process_started_by_a_thread_outlives_the_thread(tmp_path: Path) -> None:
    started: list[ServerProcess] = []
    thread = threading.Thread(target=lambda: started.append(supervised(tmp_path, ["sleep", "600"])))
    thread.start()
    thread.join()
    process = started[0]
    # Twice the time in which the supervisor looks after its owner.
    watch = threading.Event()
    assert not watch.wait(0.5)
    assert process.running
    process.kill()
    assert process.exit_code == 128 + signal.SIGKILL


def owner(folder: Path) -> subprocess.Popen[str]:
    """A Python process that owns a supervised ``sleep``, writes its two process ids and waits."""
    program = f"""
        import sys
        from pathlib import Path
        from pulsar_spark.local.locks import FileLock
        from pulsar_spark.local.process import ServerProcess
        folder = Path({str(folder)!r})
        with FileLock(folder / "lock") as lock:
            server = ServerProcess.supervised(
                ["sleep", "600"], folder=folder, log=folder / "log", lock=lock, discard=True
            )
        print(server.pid, server.child.pid, flush=True)
        sys.stdin.read()
    """
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(pulsar_spark.__file__).parents[1])},
    )


def test_server_and_folder_are_removed_when_the_owner_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "server"
    folder.mkdir()
    with owner(folder) as process:
        assert process.stdout is not None
        server, supervisor = map(int, process.stdout.readline().split())
        assert alive(server)
        process.kill()
    eventually(lambda: not alive(server) and not alive(supervisor))
    eventually(lambda: not folder.exists())


def test_the_server_ends_when_the_supervisor_is_killed(tmp_path: Path) -> None:
    with owner(tmp_path) as process:
        assert process.stdout is not None
        server, supervisor = map(int, process.stdout.readline().split())
        os.kill(supervisor, signal.SIGKILL)
        eventually(lambda: not alive(server))
        process.kill()


def test_a_detached_process_is_seen_and_stopped_by_others(tmp_path: Path) -> None:
    with FileLock(tmp_path / "lock") as lock:
        process = ServerProcess.detached(["sleep", "600"], folder=tmp_path, log=tmp_path / "log", lock=lock)
    seen = ServerProcess(process.pid, tmp_path / "lock")
    assert (seen.running, seen.exit_code) == (True, None)
    seen.stop(60)
    assert not seen.running
    assert process.exit_code == 128 + signal.SIGTERM
