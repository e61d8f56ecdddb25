"""The command line with a script in place of Java."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pulsar_spark import cli
from pulsar_spark.cli import class_data, jar

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# Notes its arguments and the question, and prints the answer.
JAVA = """#!/bin/sh
printf '%s\\n' "$@" > {folder}/arguments
cat > {folder}/question
cat {folder}/answer
"""


class Java:
    """A script in place of Java, which notes what it is asked."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "bin").mkdir()
        script = folder / "bin" / "java"
        script.write_text(JAVA.format(folder=folder))
        script.chmod(0o755)
        self.answers({"columns": [], "rows": []})

    def answers(self, answer: object) -> None:
        (self._folder / "answer").write_text(answer if isinstance(answer, str) else json.dumps(answer))

    def rows(self, columns: dict[str, str], *rows: list[Any]) -> None:
        self.answers({"columns": [{"name": name, "type": kind} for name, kind in columns.items()], "rows": rows})

    @property
    def question(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self._folder / "question").read_text())
        return found

    @property
    def arguments(self) -> str:
        return (self._folder / "arguments").read_text()


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Java:
    for name in ("SERVICE_URL", "ADMIN_URL", "TOKEN", "TOKEN_FILE", "TLS_TRUST_CERTS_FILE", "CLIENT_CONF"):
        monkeypatch.delenv(f"PULSAR_{name}", raising=False)
    file = tmp_path / "connector.jar"
    file.touch()
    monkeypatch.setattr(jar, "jar_path", lambda: file)
    monkeypatch.setattr(class_data, "make_later", lambda *_: None)
    monkeypatch.setenv("PULSAR_SPARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    return Java(tmp_path)


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs a verb, and returns what it prints: parsed where it is JSON."""

    def run(*arguments: str, code: int = 0) -> Any:  # noqa: ANN401
        assert cli.main(arguments) == code
        out, err = capsys.readouterr()
        assert err == ""
        return json.loads(out) if "--json" in arguments else out

    return run
