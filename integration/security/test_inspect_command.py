"""The verbs that look into a cluster, on a server with authentication: what they find, what they lack, how fast."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pulsar_spark import cli
from pulsar_spark.cli import jar

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.servers.auth_server import AuthServer


@pytest.fixture
def verb(
    auth_server: AuthServer,
    connector_jar: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Callable[..., Any]:
    """Runs a verb as a role; returns the JSON that it prints."""
    monkeypatch.setattr(jar, "jar_path", lambda: connector_jar)
    monkeypatch.setenv("PULSAR_SERVICE_URL", auth_server.server.service_url)
    monkeypatch.setenv("PULSAR_ADMIN_URL", auth_server.server.admin_url)

    def run(role: str | None, *arguments: str, code: int = 0) -> Any:  # noqa: ANN401 - JSON has no type
        file = tmp_path / "token"
        file.write_text(role or "")
        monkeypatch.setenv("PULSAR_TOKEN_FILE", str(file) if role else "")
        assert cli.main([*arguments, "--json"]) == code
        out, err = capsys.readouterr()
        assert err == ""
        assert (role or "no role") not in out
        return json.loads(out)

    return run


def test_what_a_role_that_may_consume_sees(
    verb: Callable[..., Any], auth_server: AuthServer, protected_topic: str
) -> None:
    reader, namespace = auth_server.reader_token, protected_topic.removeprefix("persistent://").rpartition("/")[0]
    (row,) = verb(reader, "partitions", protected_topic)["partitions"]
    assert (row["topic"], row["partition"]) == (protected_topic, None)
    assert protected_topic in {one["topic"] for one in verb(reader, "topics", namespace)["topics"]}
    assert verb(reader, "schema", protected_topic) == {"schema": None}
    found = verb(reader, "offsets", "at", "-1h", protected_topic)
    assert found["startingOffsets"].keys() == {protected_topic}


def test_what_is_missing_has_a_condition(
    verb: Callable[..., Any], auth_server: AuthServer, protected_topic: str
) -> None:
    admin, missing = auth_server.admin_token, f"{protected_topic}-missing"
    for role, arguments, condition in (
        (auth_server.nobody_token, ["partitions", protected_topic], "PULSAR_ACCESS_DENIED"),
        (auth_server.wrong_token(), ["partitions", protected_topic], "PULSAR_ACCESS_DENIED"),
        (None, ["schema", protected_topic], "PULSAR_ACCESS_DENIED"),
        (admin, ["partitions", missing], "PULSAR_TOPIC_NOT_FOUND"),
        (admin, ["offsets", "at", "-1h", missing], "PULSAR_TOPIC_NOT_FOUND"),
        (admin, ["lag", protected_topic, "--subscription", "none"], "PULSAR_SUBSCRIPTION_NOT_FOUND"),
    ):
        assert verb(role, *arguments, code=1)["error"]["condition"] == condition, arguments


def test_a_doctor_finds_what_a_role_lacks(
    verb: Callable[..., Any], auth_server: AuthServer, protected_topic: str
) -> None:
    steps = verb(auth_server.reader_token, "doctor", protected_topic)["steps"]
    assert {step["state"] for step in steps} <= {"ok", "warn", "skipped"}
    steps = verb(auth_server.nobody_token, "doctor", protected_topic, code=1)["steps"]
    assert "PULSAR_ACCESS_DENIED" in {step["condition"] for step in steps if step["state"] == "fail"}


def test_a_checkpoint_that_is_none(verb: Callable[..., Any], tmp_path: Path) -> None:
    error = verb(None, "checkpoint", "inspect", str(tmp_path / "none"), code=1)["error"]
    assert error["condition"].startswith("PULSAR_CHECKPOINT_")
