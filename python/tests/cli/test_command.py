"""What all verbs of ``pulsar-spark`` share: the version, errors and exit codes."""

from __future__ import annotations

import argparse
import json

import pytest

import pulsar_spark
from pulsar_spark import cli
from pulsar_spark.demo import command
from pulsar_spark.local import LocalPulsarError


def running(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """The verb ``options`` raises this."""

    def find(_: str) -> None:
        raise error

    monkeypatch.setattr("pulsar_spark.cli.options._find", find)


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        cli.main(["--version"])
    assert done.value.code == 0
    assert capsys.readouterr().out == f"pulsar-spark {pulsar_spark.__version__}\n"


def test_an_error_is_json_if_the_result_would_be(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["options", "failOnDataLos", "--json"]) == 2
    out, err = capsys.readouterr()
    error = json.loads(out)["error"]
    assert (error["condition"], error["sql_state"]) == ("PULSAR_OPTION_UNKNOWN", "42616")
    assert error["parameters"]["option"] == "failOnDataLos"
    assert error["message"].startswith("[PULSAR_OPTION_UNKNOWN] There is no option `failOnDataLos`")
    assert err == ""


def test_an_error_without_a_condition_is_json_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    running(monkeypatch, LocalPulsarError("no disk"))
    assert cli.main(["options", "topic", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {"error": {"message": "no disk"}}
    assert cli.main(["options", "topic"]) == 1
    assert capsys.readouterr().err == "error: no disk\n"


def test_an_interrupt_has_the_exit_code_of_shells(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    running(monkeypatch, KeyboardInterrupt())
    assert cli.main(["options", "topic"]) == 130
    assert capsys.readouterr().err == "Interrupted.\n"
    assert cli.main(["options", "topic", "--json"]) == 130
    out, err = capsys.readouterr()
    assert (json.loads(out), err) == ({"error": {"message": "Interrupted."}}, "")


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (RuntimeError("x\n\tat java"), 1)])
def test_the_demo_ends_as_the_other_verbs(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def tour(*_: object) -> None:
        raise error

    monkeypatch.setattr(command, "_tour", tour)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    chosen = argparse.Namespace(json=True)
    assert command.run(chosen) == code
    message = "x" if code == 1 else "Interrupted."
    assert json.loads(capsys.readouterr().out) == {"error": {"message": message}}
