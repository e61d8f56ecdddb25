"""``pulsar-spark sink`` without a cluster: what it asks the jar for, and what it prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pulsar_spark import cli

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Java

URL = ["--url", "pulsar://b:6650"]
SINKS = {"sink": "STRING", "nonce": "STRING", "target": "STRING", "done": "BIGINT", "prepared": "BIGINT"}
REPAIRED = {"sink": "trips", "nonce": "job", "aborted": 2, "removed": True}


def test_sinks_are_listed(java: Java, shown: Callable[..., Any]) -> None:
    java.rows(SINKS, ["a", "job", "*", None, 0], ["b", None, "", None, None])
    assert shown("sink", "list", *URL, "--namespace", "p/d").splitlines() == [
        "a: of job, last epoch None, epoch 0 is not finished",
        "b: of nobody, last epoch None",
    ]
    assert java.question["options"] == {"service.url": "pulsar://b:6650", "metadata": "sinks", "sinkNamespace": "p/d"}
    assert shown("sink", "list", *URL, "--json")["sinks"][1] == {
        "sink": "b",
        "nonce": None,
        "target": "",
        "done": None,
        "prepared": None,
    }
    java.rows(SINKS)
    assert shown("sink", "list", *URL) == "There are no sinks in public/default.\n"


def test_the_state_of_a_sink_is_shown(java: Java, shown: Callable[..., Any]) -> None:
    columns = ("record", "namespace", "owner", "time", "state", "detail")
    java.rows(
        {**dict.fromkeys(columns, "STRING"), "time": "TIMESTAMP"},
        ["sink", "p/d", "a", "2026-09-21T14:13:20.001Z", None, "query:6f1c"],
        ["driver", None, None, None, "connected", "one at /10.0.0.1:4"],
    )
    told = shown("sink", "status", "trips", *URL, "--admin-url", "http://b:8080")
    assert told.splitlines() == [
        "Sink trips in p/d",
        "  state of        query:6f1c",
        "  owner           a, since 2026-09-21T14:13:20+00:00",
        "  driver          one at /10.0.0.1:4",
        "  last epoch      none",
        "  not decided     0 transactions",
    ]
    options = java.question["options"]
    assert (options["metadata"], options["sinkId"], options["admin.url"]) == ("sink", "trips", "http://b:8080")
    assert shown("sink", "status", "trips", *URL, "--json") == {
        "sinkId": "trips",
        "namespace": "p/d",
        "nonce": "query:6f1c",
        "owner": {"owner": "a", "time": 1_790_000_000_001},
        "drivers": ["one at /10.0.0.1:4"],
        "done": None,
        "prepared": None,
        "open": [],
    }


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        (["repair"], {"torn": "", "epoch": 0, "last": False}),
        (["repair", "--accept-lost", "7"], {"torn": "lost", "epoch": 7, "last": False}),
        (["repair", "--accept-repeated", "0"], {"torn": "repeated", "epoch": 0, "last": False}),
        (["finish"], {"torn": "", "epoch": 0, "last": True}),
    ],
)
def test_a_sink_is_repaired(java: Java, shown: Callable[..., Any], arguments: list[str], asked: dict[str, Any]) -> None:
    java.answers(REPAIRED)
    told = shown("sink", *arguments, "trips", *URL, "--option", "txnTimeout=60000")
    assert told.splitlines() == [
        "2 transactions that no epoch had decided are aborted.",
        "The state of the sink is needed no more: its topics are removed.",
    ]
    assert java.question["repair"] == asked
    assert java.question["options"] == {
        "service.url": "pulsar://b:6650",
        "sinkId": "trips",
        "sinkNamespace": "public/default",
        "txnTimeout": "60000",
    }
    assert shown("sink", "repair", "trips", *URL, "--json")["outcome"] is None


def test_credentials_are_in_files(java: Java, shown: Callable[..., Any], tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("canary-4711\n")
    java.answers(REPAIRED)
    shown("sink", "repair", "trips", *URL, "--token-file", str(token), "--trust-certs", "/etc/pulsar/ca.pem")
    options = java.question["options"]
    assert (options["auth.token"], options["tls.trustCertsFile"]) == ("canary-4711", "/etc/pulsar/ca.pem")
    assert "canary-4711" not in java.arguments


@pytest.mark.usefixtures("java")
def test_a_cluster_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sink", "status", "trips"]) == 2
    assert "PULSAR_OPTION_MISSING" in capsys.readouterr().err


def test_an_error_of_the_jar_is_that_of_the_command(java: Java, capsys: pytest.CaptureFixture[str]) -> None:
    java.answers(
        {
            "error": {
                "condition": "PULSAR_SINK_STATE",
                "message": "x",
                "parameters": {"sink": "trips", "problem": "a driver of it is connected", "action": "Stop it"},
            }
        }
    )
    for verb in ("status", "repair", "finish"):
        assert cli.main(["sink", verb, "trips", *URL]) == 1
        assert "a driver of it is connected" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", "a/b", "x" * 101])
def test_names_that_no_sink_has_are_wrong_usage(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["sink", "status", name])
    assert ended.value.code == 2
    assert "is not the id of a sink" in capsys.readouterr().err
