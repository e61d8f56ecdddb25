"""The ``pulsar-spark local`` commands as far as they need no server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pulsar_spark import cli
from pulsar_spark.cli.local import _described
from pulsar_spark.cli.output import FAILED, NOT_RUNNING
from pulsar_spark.cli.running import RunningServer, state_file
from pulsar_spark.local import maven
from pulsar_spark.local.locks import FileLock
from pulsar_spark.local.process import ServerProcess
from pulsar_spark.local.pulsar import LOCK_NAME

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(maven.CACHE_VARIABLE, str(tmp_path / "cache"))
    (tmp_path / "cache" / "local").mkdir(parents=True)
    return tmp_path / "cache"


def described(folder: Path, pid: int, *, keeps_data: bool = False) -> RunningServer:
    folder.mkdir(exist_ok=True)
    urls = "pulsar://127.0.0.1:6650", "http://127.0.0.1:8080"
    return RunningServer("default", pid, *urls, str(folder), str(folder / "pulsar.log"), keeps_data)


def running(folder: Path) -> ServerProcess:
    """A process that looks like a server from outside."""
    folder.mkdir()
    with FileLock(folder / LOCK_NAME) as lock:
        return ServerProcess.detached(["sleep", "600"], folder=folder, log=folder / "pulsar.log", lock=lock)


def test_status_without_a_server_exits_with_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["local", "status"]) == NOT_RUNNING == 3
    assert "pulsar-spark local start" in capsys.readouterr().out
    assert cli.main(["local", "status", "--json"]) == 3
    assert json.loads(capsys.readouterr().out) == {"running": False}


def test_stop_without_a_server_succeeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["local", "stop"]) == 0
    assert capsys.readouterr().out == "No local Pulsar was running.\n"
    assert cli.main(["local", "stop", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"stopped": False}


def test_a_running_server_is_shown_and_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "data"
    process = running(folder)
    server = described(folder, process.pid)
    server.save()
    assert RunningServer.find("default") == server
    assert cli.main(["local", "status", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["running"] is True
    assert answer["service_url"] == "pulsar://127.0.0.1:6650"
    assert answer["pid"] == process.pid
    assert cli.main(["local", "start", "--detach"]) == 0
    assert "already running" in capsys.readouterr().out
    assert cli.main(["local", "start"]) == 1
    assert cli.main(["local", "status", "--name", "another"]) == 3
    assert process.exit_code is None
    assert cli.main(["local", "stop"]) == 0
    assert not process.running
    assert not folder.exists()
    assert not state_file("default").exists()


@pytest.mark.parametrize("keeps_data", [True, False])
def test_files_of_a_server_that_has_ended_are_removed(tmp_path: Path, *, keeps_data: bool) -> None:
    folder = tmp_path / "data"
    # The process id is one that lives: only the lock may decide.
    described(folder, 1, keeps_data=keeps_data).save()
    assert RunningServer.find("default") is None
    assert not state_file("default").exists()
    assert folder.exists() is keeps_data


def test_an_unreadable_state_file_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    for content in ("{", '{"pid": 1}', "[1]"):
        state_file("default").write_text(content)
        assert cli.main(["local", "status"]) == 1
        error = capsys.readouterr().err
        assert str(state_file("default")) in error
        assert "Delete it." in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["local", "start", "--config", "novalue"], "'novalue' is not of the form KEY=VALUE"),
        (["local", "stop", "--name", "../x"], "'../x' is not a name"),
        (["local", "begin"], "invalid choice"),
        (["local"], "required"),
        ([], "required"),
    ],
)
def test_wrong_usage_ends_with_2(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_the_version_of_the_server_is_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = cli.parser().parse_args(["local", "start", "--server-version", "3.0.16"])
    assert _described(chosen).server_version == "3.0.16"
    assert cli.main(["local", "start", "--server-version", "1.0"]) == FAILED
    assert "A local Pulsar 1.0 is not supported. Use one of these versions: 3.0.16," in capsys.readouterr().err


def test_every_command_has_a_help(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--help"], ["local", "--help"], ["local", "start", "--help"], ["local", "status", "--help"]):
        with pytest.raises(SystemExit) as ended:
            cli.main(arguments)
        assert ended.value.code == 0
    assert "--detach" in capsys.readouterr().out
