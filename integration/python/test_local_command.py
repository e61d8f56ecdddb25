"""``pulsar-spark local`` with real servers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.servers.admin import Admin
from support.servers.local_servers import STOP_SECONDS, alive, environment


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pulsar_spark.cli", "local", *arguments]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), capture_output=True, text=True, env=environment(), check=False)


def test_the_command_starts_a_server_that_goes_on(tmp_path: Path) -> None:
    name = f"test-{os.getpid()}"
    data = tmp_path / "data"
    try:
        started = run("start", "--detach", "--json", "--name", name, "--data-dir", str(data), "--transactions")
        assert started.returncode == 0, started.stderr
        server = json.loads(started.stdout)
        assert alive(server["pid"])
        assert Admin(server["admin_url"]).ready_within(0, transactions=True)
        assert "transactionCoordinatorEnabled=true" in (data / "server.conf").read_text()
        shown = run("status", "--name", name)
        assert shown.returncode == 0
        assert server["service_url"] in shown.stdout
        assert str(server["pid"]) in shown.stdout
        again = run("start", "--detach", "--name", name)
        assert (again.returncode, "already running" in again.stdout) == (0, True)
    finally:
        stopped = run("stop", "--name", name)
    assert (stopped.returncode, stopped.stdout) == (0, "The local Pulsar is stopped.\n")
    assert not alive(server["pid"])
    assert (data / "pulsar.log").exists()
    assert run("status", "--name", name).returncode == 3


# The demo is ended by Ctrl-C, and the server above by stop.
_OTHERS = [pytest.param(end, marks=pytest.mark.exhaustive) for end in ("Ctrl-C", "stop", "crash")]


@pytest.mark.parametrize("end", ["SIGTERM", *_OTHERS])
def test_the_command_in_the_foreground_ends_in_order(end: str) -> None:
    name = f"test-{os.getpid()}-{end}"
    with subprocess.Popen(
        command("start", "--json", "--name", name),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        server = json.loads(process.stdout.readline())
        if end == "stop":
            assert run("stop", "--name", name).returncode == 0
        elif end == "crash":
            os.kill(server["pid"], signal.SIGKILL)
        else:
            os.killpg(process.pid, signal.SIGINT if end == "Ctrl-C" else signal.SIGTERM)
        _, errors = process.communicate(timeout=STOP_SECONDS)
    assert process.returncode == (1 if end == "crash" else 0), errors
    assert ("ended unexpectedly" in errors) == (end == "crash")
    assert not alive(server["pid"])
    assert not Path(server["data_dir"]).exists()
    assert run("status", "--name", name).returncode == 3


def test_the_command_reports_a_failed_start(tmp_path: Path) -> None:
    wrong = ("--config", "managedLedgerDefaultEnsembleSize=many")
    failed = run("start", "--name", f"test-{os.getpid()}", "--data-dir", str(tmp_path), *wrong)
    assert failed.returncode == 1
    assert failed.stdout == ""
    assert "error: The local Pulsar ended while starting" in failed.stderr
    assert str(tmp_path / "pulsar.log") in failed.stderr
    assert "Traceback" not in failed.stderr
