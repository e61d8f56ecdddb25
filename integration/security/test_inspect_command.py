"""The verbs that look into a cluster, on a server with authentication: what they find, what they lack, how fast."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from pulsar_spark import cli
from pulsar_spark.cli import jar

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.servers.auth_server import AuthServer

_MOST_SECONDS = 60


@pytest.fixture
def verb(
    auth_server: AuthServer,
    connector_jar: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Callable[..., Any]:
    """Runs a verb as a role, twice: as text and as JSON; returns both."""
    monkeypatch.setattr(jar, "jar_path", lambda: connector_jar)
    monkeypatch.setenv("PULSAR_SERVICE_URL", auth_server.server.service_url)
    monkeypatch.setenv("PULSAR_ADMIN_URL", auth_server.server.admin_url)

    def run(role: str | None, *arguments: str, code: int = 0) -> tuple[str, Any]:
        file = tmp_path / "token"
        file.write_text(role or "")
        monkeypatch.setenv("PULSAR_TOKEN_FILE", str(file) if role else "")
        printed = []
        for form in ([], ["--json"]):
            begin = time.monotonic()
            assert cli.main([*arguments, *form]) == code
            assert time.monotonic() - begin < _MOST_SECONDS
            out, err = capsys.readouterr()
            assert "Traceback" not in out + err
            assert (role or "no role") not in out + err
            printed.append(out + err)
        return printed[0], json.loads(printed[1])

    return run


def test_partitions(verb: Callable[..., Any], auth_server: AuthServer, protected_topic: str) -> None:
    text, found = verb(auth_server.reader_token, "partitions", protected_topic)
    (row,) = found["partitions"]
    assert (row["topic"], row["partition"]) == (protected_topic, None)
    assert protected_topic.removeprefix("persistent://") in text


def test_what_a_role_lacks_has_a_condition(
    verb: Callable[..., Any], auth_server: AuthServer, protected_topic: str
) -> None:
    for role, topic, condition in (
        (auth_server.nobody_token, protected_topic, "PULSAR_ACCESS_DENIED"),
        (auth_server.wrong_token(), protected_topic, "PULSAR_ACCESS_DENIED"),
        (None, protected_topic, "PULSAR_ACCESS_DENIED"),
        (auth_server.admin_token, f"{protected_topic}-missing", "PULSAR_TOPIC_NOT_FOUND"),
    ):
        text, found = verb(role, "partitions", topic, code=1)
        assert found["error"]["condition"] == condition
        assert text.startswith(f"error: [{condition}]")
