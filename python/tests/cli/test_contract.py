"""The contract of every verb: one JSON object, an exit code of the list, and no traceback, whatever the input is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from pulsar_spark import cli


def _cases(folder: Path) -> list[tuple[list[str], int]]:
    binary = folder / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    missing = str(folder / "missing")
    large = folder / "large"
    with large.open("wb") as content:
        content.truncate((16 << 20) + 1)
    files = [missing, str(folder), str(binary), str(large), "/dev/zero"]
    nobody = ["--url", "pulsar://127.0.0.1:1"]
    sinks = [
        (["sink", *verb, *nobody, "--token-file", file], 2)
        for verb in (["list"], ["status", "trips"], ["repair", "trips"], ["finish", "trips"])
        for file in files
    ]
    return [
        (["options"], 0),
        (["options", "topic"], 0),
        (["options", "predefinedSubscription"], 0),
        (["options", "no such option"], 2),
        (["explain", "PULSAR_TLS_FAILED"], 0),
        (["explain", "[pulsar_data_loss]"], 0),
        (["explain", "start"], 0),
        (["explain", "poll_timeout_ms"], 0),
        (["explain", "predefinedSubscription"], 0),
        (["explain", "PULSAR_TLS_FAILD"], 2),
        (["explain", "no such thing"], 2),
        (["options", "pulsar.client.nosuch"], 2),
        (["local", "status", "--name", "nobody-has-this"], 3),
        *sinks,
    ]


def test_every_verb_prints_one_object_and_has_an_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, code in _cases(tmp_path):
        assert cli.main([*arguments, "--json"]) == code, arguments
        found = json.loads(capsys.readouterr().out)
        assert isinstance(found, dict), arguments
        assert ("error" in found) == (code in (1, 2)), arguments
        assert cli.main(arguments) == code, arguments
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        assert bool(err) == (code in (1, 2)), arguments


@pytest.mark.parametrize(
    "arguments",
    [
        ["nosuch"],
        ["sink", "status"],
        ["sink", "status", "a/b"],
        ["sink", "repair", "t", "--accept-lost", "x"],
        ["options", "a", "b"],
    ],
)
def test_wrong_usage_ends_with_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2


_VERBS = [["options"], ["options", "topic", "--json"], ["explain", "start"], ["options", "no such option", "--json"]]


@pytest.mark.parametrize("arguments", [*_VERBS, ["--help"], ["nosuch", "--json"], ["completion", "bash"]], ids=str)
def test_a_reader_that_leaves_ends_the_command_without_a_traceback(arguments: list[str]) -> None:
    command = _started(*arguments)
    assert command.stdout is not None
    command.stdout.close()  # before it prints
    errors = command.communicate()[1]
    assert command.returncode in (0, 1), errors  # argparse itself passes over it
    assert errors == b""


@pytest.mark.parametrize("arguments", _VERBS, ids=str)
def test_a_full_disk_is_an_error_without_a_traceback(arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        command = _started(*arguments, stdout=full)
        errors = command.communicate()[1].decode()
    assert (command.returncode, errors.count("\n")) == (1, 1), errors
    assert errors.startswith("error: ")
    assert "No space left" in errors


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_letters_that_the_terminal_does_not_have_are_escaped(encoding: str) -> None:
    program = "from pulsar_spark import cli; cli.main(['options', 'topic']); print('ä€')"
    shown, errors = _python("-c", program, PYTHONIOENCODING=encoding).communicate()
    assert (shown.splitlines()[-1], errors) == ("ä€".encode(encoding, "backslashreplace"), b"")


def _started(*arguments: str, stdout: IO[bytes] | int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    return _python("-m", "pulsar_spark.cli", *arguments, stdout=stdout)


def _python(*arguments: str, stdout: IO[bytes] | int = subprocess.PIPE, **settings: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, **settings}
    return subprocess.Popen([sys.executable, *arguments], stdout=stdout, stderr=subprocess.PIPE, env=environment)


def test_wrong_usage_is_one_object_too(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["nosuch"], ["peek"], ["lag", "/c", "--watch=never"], ["options", "a", "b"]):
        with pytest.raises(SystemExit) as ended:
            cli.main([*arguments, "--json"])
        out, err = capsys.readouterr()
        assert (ended.value.code, err) == (2, ""), arguments
        assert json.loads(out)["error"]["message"].startswith("pulsar-spark"), arguments
        with pytest.raises(SystemExit):
            cli.main(arguments)
        out, err = capsys.readouterr()
        assert (out, err.count("usage: "), err.count("error: ")) == ("", 1, 1), arguments
