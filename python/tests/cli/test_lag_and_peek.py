"""The verbs ``lag`` and ``peek``: what they ask the jar for, and what they print."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest

from pulsar_spark import cli

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.conftest import Java

URL = ["--service-url", "pulsar://b:6650"]
LAG = {"topic": "STRING", "partition": "INT", "entries": "BIGINT"}


def test_lag_of_a_checkpoint_shows_who_is_behind(java: Java, shown: Callable[..., Any]) -> None:
    java.rows(LAG, ["a-partition-0", 0, 1204], ["a-partition-1", 1, 0], ["a-partition-2", 2, None])
    assert shown("lag", "s3a://jobs/trips", *URL).splitlines() == [
        "topic          partition  entries",
        "-------------  ---------  -------",
        "a-partition-0          0    1,204",
        "a-partition-2          2",
        "1 other partition at the end.",
    ]
    options = {"service.url": "pulsar://b:6650", "metadata": "lag", "checkpoint": "s3a://jobs/trips"}
    assert java.question["options"] == options
    assert len(shown("lag", "s3a://jobs/trips", *URL, "--json")["partitions"]) == 3
    java.rows(LAG, ["a", None, 0], ["b", None, 0])
    assert shown("lag", "/c", *URL) == "2 partitions at the end.\n"


def test_lag_of_a_subscription(java: Java, shown: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> None:
    java.rows(LAG, ["a", None, 1204])
    row = {"topic": "a", "partition": None, "entries": 1204}
    assert shown("lag", "a", "b", "--subscription", "s", *URL, "--json") == {"partitions": [row]}
    assert java.question["options"]["topics"] == "a,b"
    assert java.question["options"]["progressSubscription"] == "s"
    assert cli.main(["lag", "a", "b", *URL]) == 2
    assert "`CHECKPOINT` is `a b`, but must be one folder" in capsys.readouterr().err


def test_lag_is_shown_until_ctrl_c(
    java: Java, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    java.rows(LAG, ["a", None, 1204])
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) >= 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("pulsar_spark.cli.lag.sleep", wait)
    assert cli.main(["lag", "/c", *URL, "--watch"]) == 130
    out, err = capsys.readouterr()
    assert (out.count("1,204"), err, waits) == (2, "Interrupted.\n", [5.0, 5.0])
    assert "\x1b" not in out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert cli.main(["lag", "/c", *URL, "--watch", "0.5"]) == 130
    assert capsys.readouterr().out.startswith("\x1b[H\x1b[J")
    assert waits[2:] == [0.5]


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "often"])
def test_a_time_to_wait_is_a_number(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["lag", "/c", *URL, f"--watch={seconds}"])
    assert ended.value.code == 2
    assert "is not a number of seconds" in capsys.readouterr().err


@pytest.mark.usefixtures("java")
def test_a_watch_is_no_single_object(shown: Callable[..., Any]) -> None:
    error = shown("lag", "/c", *URL, "--watch", "--json", code=2)["error"]
    assert error["condition"] == "PULSAR_OPTION_CONFLICT"


def test_peek_shows_the_newest_messages(java: Java, shown: Callable[..., Any]) -> None:
    def encoded(value: bytes) -> str:
        return base64.b64encode(value).decode()

    columns = {
        "city": "STRING",
        "km": "DOUBLE",
        "photo": "BINARY",
        "stops": "ARRAY<STRING>",
        "__key": "BINARY",
        "__topic": "STRING",
        "__publishTime": "TIMESTAMP",
        "__messageProperties": "MAP<STRING, STRING>",
        "__position": "STRING",
    }
    at = "2026-11-26T20:21:07.125Z"
    first = ["Berl\x1b[31m\nin", 12.5, encoded(b"\xff\xd8"), ["a", "b"], encoded(b"anna"), "t", at, {}, "871:14:1"]
    java.rows(columns, first, ["x" * 100, None, None, None, None, "t", at, {}, "871:14:0"])
    escaped = r"Berl\x1b[31m\nin"
    assert shown("peek", "orders", *URL).splitlines() == [
        f"position  publish time         key   {'city':80}    km  photo   stops",
        "--------  -------------------  ----  " + "-" * 80 + "  ----  ------  ----------",
        f'871:14:1  2026-11-26 20:21:07  anna  {escaped:80}  12.5  0xffd8  ["a", "b"]',
        "871:14:0  2026-11-26 20:21:07        " + "x" * 77 + "...",
    ]
    asked = {"service.url": "pulsar://b:6650", "topic": "orders", "startingOffsets": "last 10"}
    assert java.question == {"view": "messages", "options": asked, "columns": [], "limit": 10}
    found = shown("peek", "orders", "-n", "2", *URL, "--json")["messages"]
    assert [one["__position"] for one in found] == ["871:14:1", "871:14:0"]
    assert found[0]["photo"] == encoded(b"\xff\xd8")
    assert (java.question["limit"], java.question["options"]["startingOffsets"]) == (2, "last 2")
    java.rows(columns)
    assert shown("peek", "orders", *URL) == "There are no messages.\n"


@pytest.mark.parametrize("number", ["0", "-1", "x", "10001", "1.5"])
def test_a_number_of_messages_is_limited(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["peek", "orders", f"-n={number}", *URL])
    assert ended.value.code == 2
    assert "is not a number from 1 to 10,000" in capsys.readouterr().err
