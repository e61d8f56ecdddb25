"""The verbs that look into a cluster: what they ask the jar for, and what they print."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from pulsar_spark import cli

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Java

URL = ["--service-url", "pulsar://b:6650"]
CANARY = "canary-4711"
STEPS: list[list[Any]] = [
    ["name resolves", "ok", 4, "10.0.3.7", None, None],
    ["bookies", "fail", 3000, "bookie-2:3181 does not respond", "PULSAR_SEGMENT_UNAVAILABLE", "Open the port."],
    ["retention", "warn", None, "none", None, None],
    ["produce", "skipped", None, "`write` is not true", None, None],
]
STEP = ("step", "state", "tookMs", "detail", "condition", "action")


def test_the_doctor_shows_each_step_and_what_to_do(java: Java, shown: Callable[..., Any]) -> None:
    java.rows(dict.fromkeys(STEP, "STRING"), *STEPS)
    assert shown("doctor", *URL, "orders", "clicks", "--write", code=1).splitlines() == [
        "  ok    name resolves  10.0.3.7  4 ms",
        "  FAIL  bookies        bookie-2:3181 does not respond  3000 ms",
        "        Open the port. (PULSAR_SEGMENT_UNAVAILABLE)",
        "  warn  retention      none",
        "  -     produce        `write` is not true",
        "1 failure, 1 warning.",
    ]
    options = {"service.url": "pulsar://b:6650", "metadata": "doctor", "topics": "orders,clicks", "write": "true"}
    assert java.question == {"view": "doctor", "options": options, "columns": []}


def test_a_doctor_that_finds_nothing(java: Java, shown: Callable[..., Any]) -> None:
    java.rows(dict.fromkeys(STEP, "STRING"), STEPS[0])
    assert shown("doctor", *URL).endswith("Nothing is wrong.\n")
    assert shown("doctor", *URL, "--json") == {"steps": [dict(zip(STEP, STEPS[0], strict=True))]}
    assert "topics" not in java.question["options"]


def test_a_checkpoint_needs_no_cluster(java: Java, shown: Callable[..., Any]) -> None:
    java.rows({"record": "STRING"}, ["query"])
    shown("checkpoint", "inspect", "s3a://jobs/trips")
    assert java.question["options"] == {"metadata": "checkpoint", "checkpoint": "s3a://jobs/trips"}


_FACTS = {"record": "STRING", "source": "STRING", "batch": "BIGINT", "detail": "STRING"}


def test_where_a_query_starts_with_another_cluster(java: Java, shown: Callable[..., Any]) -> None:
    java.rows(_FACTS, ["query", None, 3, "x"], ["time", "0", 3, "2026-01-31T12:00:00.5Z"])
    assert shown("checkpoint", "restart", "/trips", "--json") == {
        "starts": [
            {
                "source": "0",
                "batch": 3,
                "readUntil": "2026-01-31T12:00:00.500Z",
                "startingTime": "2026-01-31T11:50:00.500Z",
            }
        ]
    }
    assert java.question["options"] == {"metadata": "checkpoint", "checkpoint": "/trips"}
    first, *more = shown("checkpoint", "restart", "/trips", "--allowance", "1h").splitlines()
    assert first == "startingTime=2026-01-31T11:00:00.500Z  (read until 2026-01-31T12:00:00.500Z, less 1h)"
    assert "__producerName" in "\n".join(more)


def test_each_source_of_a_query_has_its_own_start(java: Java, shown: Callable[..., Any]) -> None:
    java.rows(_FACTS, ["time", "0", 3, "2026-01-31T12:00:00Z"], ["time", "trips", 3, "2026-01-31T13:00:00Z"])
    lines = shown("checkpoint", "restart", "/trips", "--allowance", "0s").splitlines()
    assert [line.split(" (")[1].split(",")[0] for line in lines[:2]] == ["source 0", "source trips"]


@pytest.mark.parametrize(
    ("words", "code", "condition"),
    [([], 1, "PULSAR_CHECKPOINT_WITHOUT_POSITION"), (["--allowance", "soon"], 2, "PULSAR_OPTION_INVALID")],
)
def test_a_checkpoint_that_says_no_time(
    java: Java, capsys: pytest.CaptureFixture[str], words: list[str], code: int, condition: str
) -> None:
    java.rows(_FACTS, ["query", None, None, "x"])
    assert cli.main(["checkpoint", "restart", "/trips", *words, "--json"]) == code
    assert json.loads(capsys.readouterr().out)["error"]["condition"] == condition


def test_rows_are_a_table_or_json(java: Java, shown: Callable[..., Any]) -> None:
    columns = {"topic": "STRING", "offloadedLedgers": "BIGINT", "closedAt": "TIMESTAMP"}
    java.rows(columns, ["persistent://a/b/c", 1234, "2026-01-31T12:00:00.5Z"], ["d", None, None])
    assert shown("partitions", *URL, "c").splitlines() == [
        "topic  offloaded ledgers  closed at",
        "-----  -----------------  -------------------",
        "a/b/c              1,234  2026-01-31 12:00:00",
        "d",
    ]
    assert shown("partitions", *URL, "c", "--json")["partitions"][1] == {
        "topic": "d",
        "offloadedLedgers": None,
        "closedAt": None,
    }
    java.rows(columns)
    assert shown("partitions", *URL, "c") == "There are no partitions.\n"


def test_topics_of_a_namespace(java: Java, shown: Callable[..., Any]) -> None:
    java.rows({"topic": "STRING", "partitions": "INT"}, ["persistent://a/b/c", 4])
    assert shown("topics", "a/b", "--pattern", "c.*", *URL).splitlines()[-1] == "a/b/c           4"
    assert java.question["options"]["topicsPattern"] == "a/b/c.*"
    shown("topics", *URL)
    assert java.question["options"]["topicsPattern"] == "public/default/.*"


def test_a_schema_by_its_version(java: Java, shown: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> None:
    columns = {"topic": "STRING", "version": "BIGINT", "type": "STRING", "columns": "STRING", "definition": "STRING"}
    java.rows(columns, ["a", 0, "AVRO", "id INT", '{"x": 0}'], ["a", 1, "AVRO", "id BIGINT", '{"x": 1}'])
    assert shown("schema", "a", *URL, "--json")["schema"]["version"] == 1
    assert 'a\n  {"x": 0}\n\n  type       AVRO' in shown("schema", "a", "--version", "0", *URL)
    assert cli.main(["schema", "a", "--version", "7", *URL]) == 2
    assert "`--version` is `7`, but must be one of 0, 1" in capsys.readouterr().err
    java.rows(columns)
    assert shown("schema", "a", *URL) == "The topic has no schema.\n"
    assert shown("schema", "a", *URL, "--json") == {"schema": None}


def test_offsets_at_a_time_are_json_for_a_read(
    java: Java, shown: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    java.rows({"topic": "STRING", "startingOffset": "STRING"}, ["a", "1:2"], ["b", "latest"])
    offsets = {"a": "1:2", "b": "latest"}
    assert json.loads(shown("offsets", "at", "2026-01-31T12:00:00Z", "a", "b", *URL)) == offsets
    assert java.question["options"]["startingTime"] == "2026-01-31T12:00:00.000Z"
    assert shown("offsets", "at", "2026-01-31T12:00:00Z", "a", "b", *URL, "--json") == {"startingOffsets": offsets}
    assert json.loads(shown("offsets", "at", "-2h", "a", "b", *URL)) == offsets
    assert cli.main(["offsets", "at", "noon", "a", *URL]) == 2
    assert "noon" in capsys.readouterr().err


def test_where_the_cluster_is_named(
    java: Java, shown: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def options(*arguments: str) -> dict[str, str]:
        shown("partitions", "t", *arguments)
        found: dict[str, str] = java.question["options"]
        del found["metadata"], found["topics"]
        return found

    file, secret = tmp_path / "client.conf", tmp_path / "secret"
    file.write_text("brokerServiceUrl=pulsar://file:6650\nwebServiceUrl=http://file:8080\n")
    secret.write_text(f"{CANARY}\n")
    monkeypatch.setenv("PULSAR_SERVICE_URL", "pulsar://environment:6650")
    monkeypatch.setenv("PULSAR_TOKEN", CANARY)
    assert options() == {"service.url": "pulsar://environment:6650", "auth.token": CANARY}
    assert CANARY not in java.arguments
    assert options("--cluster", "pulsar://b:1", "--admin-url", "http://a:2")["service.url"] == "pulsar://b:1"
    in_file = {"service.url": "pulsar://file:6650", "admin.url": "http://file:8080"}
    assert options("--client-conf", str(file)) == in_file
    more = [
        "--option",
        "pollTimeoutMs=5s",
        "--option",
        f"auth.basic.password=@{secret}",
        "--option",
        "auth.basic.userId=me",
    ]
    given = {"pollTimeoutMs": "5s", "auth.basic.password": CANARY, "auth.basic.userId": "me"}
    assert options("--client-conf", str(file), *more) == {**in_file, **given}
    assert CANARY not in java.arguments


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "PULSAR_OPTION_MISSING.*--service-url"),
        (["--service-url", "localhost:6650"], "PULSAR_OPTION_INVALID.*perhaps `pulsar://localhost:6650` is meant"),
        ([*URL, "--option", f"auth.token={CANARY}"], r"PULSAR_OPTION_INVALID.*`\*\*\*`.*@FILE"),
        ([*URL, "--option", f"pulsar.client.authParams={CANARY}"], r"PULSAR_OPTION_INVALID.*`\*\*\*`.*@FILE"),
        ([*URL, "--option", "auth.token=@/no/such/file"], "PULSAR_FILE_UNREADABLE.*/no/such/file"),
        ([*URL, "--option", "auth.token=@/dev/zero"], "PULSAR_FILE_UNREADABLE.*/dev/zero"),
        ([*URL, "--option", "pollTimeout=5"], "PULSAR_OPTION_UNKNOWN.*pollTimeoutMs"),
        ([*URL, "--option", "onSinkMismatch=skip"], "PULSAR_OPTION_WRONG_MODE"),
        (["--client-conf", "/no/such/file"], "PULSAR_CLIENT_CONF_UNUSABLE.*does not exist"),
    ],
)
@pytest.mark.usefixtures("java")
def test_a_mistake_ends_with_2_and_asks_nothing(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert cli.main(["partitions", "t", *arguments, "--json"]) == 2
    out, err = capsys.readouterr()
    assert err == ""
    assert re.search(text, json.loads(out)["error"]["message"])
    assert CANARY not in out
    assert not (tmp_path / "question").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["partitions", "topic://public/default/t"],
        ["subscriptions", "t", "segment://public/default/t/0-7"],
        ["schema", "topic://public/default/t"],
        ["peek", "topic://public/default/t"],
        ["doctor", "topic://public/default/t"],
        ["lag", "topic://public/default/t", "--subscription", "s"],
        ["offsets", "at", "-1h", "topic://public/default/t"],
        ["topics", "topic://public/default"],
    ],
    ids=" ".join,
)
@pytest.mark.usefixtures("java")
def test_scalable_topics_are_refused_as_such(
    words: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert cli.main([*words, *URL, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["condition"] == "PULSAR_TOPIC_SCALABLE"
    assert not (tmp_path / "question").exists()


def test_an_error_of_the_jar_is_that_of_the_command(java: Java, capsys: pytest.CaptureFixture[str]) -> None:
    parameters = {"topic": "orders", "url": "pulsar://b:6650"}
    java.answers({"error": {"condition": "PULSAR_TOPIC_NOT_FOUND", "message": "x", "parameters": parameters}})
    assert cli.main(["partitions", *URL, "orders", "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["condition"], error["parameters"]) == ("PULSAR_TOPIC_NOT_FOUND", parameters)
    assert error["message"].startswith("[PULSAR_TOPIC_NOT_FOUND] Topic orders does not exist at pulsar://b:6650.")


def test_an_end_without_an_answer_is_reported(java: Java, capsys: pytest.CaptureFixture[str]) -> None:
    java.answers("")
    assert cli.main(["partitions", *URL, "orders"]) == 1
    assert "[PULSAR_INTERNAL] Internal error: exit code 0" in capsys.readouterr().err


@pytest.mark.usefixtures("java")
def test_without_jars_of_spark_it_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.delenv("SPARK_HOME", raising=False)
    assert cli.main(["partitions", *URL, "orders"]) == 1
    assert "pip install 'pulsar-spark[spark]'" in capsys.readouterr().err
