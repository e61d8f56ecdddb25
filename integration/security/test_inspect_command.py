"""Every verb of the command line on a server with TLS and tokens: one JSON object or text for people, with its exit
code, and without a secret.

The main class that verbs start answers in the JVM of the session, which saves a start of Java for each; one test has
processes of their own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pulsar_spark import cli
from pulsar_spark.cli import jar
from support.servers.tls_server import NAMESPACE, TOPIC, running_tls_server
from support.spark.inspecting import main_class

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from support.servers.tls_server import TlsServer

MISSING, NO_SUCH = f"{TOPIC}-missing", "no-such-name"
NOT_FOUND, DENIED = "PULSAR_TOPIC_NOT_FOUND", "PULSAR_ACCESS_DENIED"


@dataclass(frozen=True, kw_only=True)
class Case:
    """Good input of a verb, and bad input with the condition of its error.

    Attributes:
        good: Arguments; None if another test has them, because they take long.
        key: A key of the JSON.
        code: The exit code for good input.
        bad: Arguments.
        condition: The condition; None for an error of the package alone.
        bad_code: The exit code for bad input.
        role: The role of the bad input.
    """

    good: str | None
    key: str = ""
    code: int = 0
    bad: str
    condition: str | None
    bad_code: int = 1
    role: str = "admin"


def of_topic(key: str, good: str = TOPIC, bad: str = MISSING) -> Case:
    return Case(good=good, key=key, bad=bad, condition=NOT_FOUND)


CASES = {
    "topics": Case(good=NAMESPACE, key="topics", bad=NAMESPACE, role="nobody", condition=DENIED),
    "schema": of_topic("schema"),
    "partitions": of_topic("partitions"),
    "subscriptions": of_topic("subscriptions"),
    "peek": of_topic("messages", f"{TOPIC} -n 3"),
    "offsets at": of_topic("startingOffsets", f"-1h {TOPIC}", f"-1h {MISSING}"),
    "lag": Case(good="{checkpoint}", key="partitions", bad="{none}", condition="PULSAR_CHECKPOINT_NOT_FOUND"),
    "checkpoint inspect": Case(
        good="{checkpoint}", key="records", bad="{none}", condition="PULSAR_CHECKPOINT_NOT_FOUND"
    ),
    "checkpoint restart": Case(
        good="{checkpoint}", key="starts", bad="{none}", condition="PULSAR_CHECKPOINT_NOT_FOUND"
    ),
    "doctor": Case(
        good=TOPIC,
        key="steps",
        bad=f"{TOPIC} --option auth.token=canary-4711",
        condition="PULSAR_OPTION_INVALID",
        bad_code=2,
    ),
    "sink list": Case(
        good=f"--namespace {NAMESPACE}",
        key="sinks",
        bad=f"--namespace {NAMESPACE}",
        role="nobody",
        condition=DENIED,
    ),
    "sink status": Case(good=None, bad=f"none --namespace {NAMESPACE}", condition="PULSAR_SINK_STATE"),
    "sink repair": Case(good=None, bad=f"none --namespace {NAMESPACE}", condition="PULSAR_SINK_STATE"),
    "sink finish": Case(good=None, bad=f"none --namespace {NAMESPACE}", condition="PULSAR_SINK_STATE"),
    "options": Case(good="topic", key="key", bad=NO_SUCH, condition="PULSAR_OPTION_UNKNOWN", bad_code=2),
    "explain": Case(
        good="PULSAR_TLS_FAILED", key="conditions", bad=NO_SUCH, condition="PULSAR_OPTION_UNKNOWN", bad_code=2
    ),
    "completion": Case(good="", key="script", bad="tcsh", condition=None, bad_code=2),
    "local start": Case(good=None, bad="--server-version 1.0", condition=None),
    "local stop": Case(good=f"--name {NO_SUCH}", key="stopped", bad="--name ../x", condition=None, bad_code=2),
    "local status": Case(
        good=f"--name {NO_SUCH}", key="running", code=3, bad="--name ../x", condition=None, bad_code=2
    ),
    "demo": Case(good=None, bad="--rides 0", condition=None, bad_code=2),
}


def verbs(parser: argparse.ArgumentParser, *path: str) -> Iterator[str]:
    """The verbs of the command line."""
    below = [action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not below:
        yield " ".join(path)
    for name, verb in ((name, verb) for choices in below for name, verb in choices.items()):
        yield from verbs(verb, *path, name)


@pytest.fixture(scope="module")
def server(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TlsServer]:
    """A server with ten messages in the topic."""
    with running_tls_server(tmp_path_factory.mktemp("secured"), "localhost") as server:
        rows = spark.range(0, 10, 1, 1).selectExpr("encode(string(id), 'utf-8') as value")
        rows.write.format("pulsar").mode("append").options(**server.options()).save()
        yield server


@dataclass(frozen=True)
class Ended:
    """What a verb printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one object; there is no other text."""
        assert self.err == ""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


class Verbs:
    """Runs verbs as a role."""

    def __init__(
        self, server: TlsServer, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self._tokens = {
            "admin": server.auth_server.admin_token,
            "reader": server.auth_server.reader_token,
            "nobody": server.auth_server.nobody_token,
            "wrong": server.auth_server.wrong_token(),
        }
        self._folder, self._monkeypatch, self._capsys = folder, monkeypatch, capsys
        offset = json.dumps({"version": 1, "positions": {TOPIC: "0:-1"}})
        self._write("checkpoint/metadata", '{"id":"6f0f"}')
        self._write("checkpoint/sources/0/initial-offset.json", offset)
        self._write("checkpoint/offsets/0", f'v1\n{{"batchTimestampMs":1700000000000}}\n{offset}')
        self._write("checkpoint/commits/0", "v1\n{}")
        monkeypatch.setenv("PULSAR_SERVICE_URL", server.options()["service.url"])
        monkeypatch.setenv("PULSAR_ADMIN_URL", server.admin_url)
        monkeypatch.setenv("PULSAR_TLS_TRUST_CERTS_FILE", str(server.authority.file))

    def _write(self, name: str, text: str) -> None:
        file = self._folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def __call__(self, *arguments: str, role: str | None = "admin") -> Ended:
        # connections are shared by all that name the same file
        self._write(f"token-{role}", self._tokens[role] if role else "")
        self._monkeypatch.setenv("PULSAR_TOKEN_FILE", str(self._folder / f"token-{role}") if role else "")
        places = {"checkpoint": str(self._folder / "checkpoint"), "none": str(self._folder / "none")}
        try:
            code: Any = cli.main([argument.format(**places) for argument in arguments])
        except SystemExit as ended:
            code = ended.code
        out, err = self._capsys.readouterr()
        assert "Traceback" not in out + err
        for secret in (*self._tokens.values(), "canary-4711"):
            assert secret.rsplit(".", 1)[-1] not in out + err
        return Ended(code, out, err)


@pytest.fixture
def run(
    server: TlsServer,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Verbs:
    def answered(question: str, _: float | None) -> subprocess.CompletedProcess[str]:
        text, code = main_class(spark, question)
        return subprocess.CompletedProcess([], code, text, "")

    monkeypatch.setattr(jar, "_run", answered)
    return Verbs(server, tmp_path, monkeypatch, capsys)


def test_every_verb_has_a_case() -> None:
    assert sorted(verbs(cli.parser())) == sorted(CASES)


@pytest.mark.parametrize("verb", CASES)
def test_a_verb_keeps_the_contract(verb: str, run: Verbs) -> None:
    case, words = CASES[verb], verb.split()
    if case.good is not None:
        found = run(*words, *case.good.split(), "--json")
        assert (found.code, case.key in found.json, "error" in found.json) == (case.code, True, False), found
        found = run(*words, *case.good.split())
        assert (found.code, bool(found.out), found.err) == (case.code, True, "")
    found = run(*words, *case.bad.split(), "--json", role=case.role)
    error = found.json["error"]
    assert (found.code, error.get("condition")) == (case.bad_code, case.condition), found
    assert found.json.keys() == {"error"}
    assert error["message"]
    found = run(*words, *case.bad.split(), role=case.role)
    assert (found.code, found.out) == (case.bad_code, "")
    assert "error: " in found.err
    found = run(*words, "--no-such-argument", "--json")
    assert (found.code, list(found.json)) == (2, ["error"])


def test_what_a_role_that_may_consume_sees(run: Verbs) -> None:
    (row,) = run("partitions", TOPIC, "--json", role="reader").json["partitions"]
    assert (row["topic"], row["partition"]) == (TOPIC, None)
    listed = run("topics", NAMESPACE, "--json", role="reader").json["topics"]
    assert TOPIC in {one["topic"] for one in listed}
    assert run("schema", TOPIC, "--json", role="reader").json == {"schema": None}
    newest = run("peek", TOPIC, "-n", "2", "--json", role="reader").json["messages"]
    assert [one["value"] for one in newest] == ["OQ==", "OA=="]
    assert run("peek", TOPIC, "-n", "2", role="reader").out.splitlines()[0].split()[-1] == "value"
    (behind,) = run("lag", "{checkpoint}", "--json", role="reader").json["partitions"]
    assert (behind["topic"], behind["last"]) == (TOPIC, row["last"])
    steps = run("doctor", TOPIC, "--json", role="reader").json["steps"]
    assert {step["state"] for step in steps} <= {"ok", "warn", "skipped"}


@pytest.mark.parametrize("role", ["nobody", "wrong", None])
def test_who_may_not_look(run: Verbs, role: str | None) -> None:
    for arguments in (["partitions", TOPIC], ["peek", TOPIC], ["lag", "{checkpoint}"]):
        # the client repeats a request that an unknown role sends until the timeout
        found = run(*arguments, "--option", "operationTimeoutMs=5000", "--json", role=role)
        assert (found.code, found.json["error"]["condition"]) == (1, DENIED), arguments


def test_who_may_see_the_state_of_a_sink(
    server: TlsServer, spark: SparkSession, run: Verbs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the brokers alone; this server has no transactions that the admin service could report."""
    monkeypatch.delenv("PULSAR_ADMIN_URL")
    topics = {which: f"persistent://{NAMESPACE}/pulsar-spark-sink-held-{which}" for which in ("log", "open", "mark")}
    for topic in topics.values():
        server.auth_server.admin.create_topic(topic)
    record = {"version": 1, "kind": "owner", "sinkId": "held", "nonce": "query:1", "owner": "a", "time": 1}
    rows = spark.range(1).selectExpr(f"encode('{json.dumps(record)}', 'utf-8') as value")
    rows.write.format("pulsar").mode("append").options(**server.options(topic=topics["log"])).save()
    words = ["sink", "status", "held", "--namespace", NAMESPACE, "--json"]
    for role in ("admin", "reader"):
        found = run(*words, role=role)
        assert found.json.get("owner") == {"owner": "a", "time": 1}, found
    for refused in ("nobody", "wrong", None):
        found = run(*words, role=refused)
        assert (found.code, found.json["error"]["condition"]) == (1, DENIED), refused


def test_a_doctor_finds_what_a_role_lacks(run: Verbs) -> None:
    found = run("doctor", TOPIC, "--json", role="nobody")
    assert found.code == 1
    assert DENIED in {step["condition"] for step in found.json["steps"] if step["state"] == "fail"}


def test_a_subscription_that_is_missing(run: Verbs) -> None:
    found = run("lag", TOPIC, "--subscription", "none", "--json")
    assert (found.code, found.json["error"]["condition"]) == (1, "PULSAR_SUBSCRIPTION_NOT_FOUND")


def test_no_secret_is_in_a_list_of_processes(server: TlsServer, tmp_path: Path) -> None:
    token, options = server.auth_server.admin_token, server.options()
    seen: set[str] = set()
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.02):
            for file in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    seen.add(file.read_text(errors="replace"))
                except OSError:  # it has ended
                    continue

    watching = threading.Thread(target=look)
    watching.start()
    (tmp_path / "token").write_text(token)
    environment = {
        **os.environ,
        "PULSAR_SERVICE_URL": options["service.url"],
        "PULSAR_ADMIN_URL": server.admin_url,
        "PULSAR_TLS_TRUST_CERTS_FILE": options["tls.trustCertsFile"],
    }
    try:
        for topic, code, more in (
            (TOPIC, 0, {"PULSAR_TOKEN": token}),
            (MISSING, 1, {}),
        ):
            by_file = [] if more else ["--option", f"auth.token=@{tmp_path / 'token'}"]
            command = [sys.executable, "-m", "pulsar_spark.cli", "peek", topic, *by_file, "--json"]
            done = subprocess.run(
                command, env={**environment, **more}, capture_output=True, text=True, timeout=300, check=False
            )
            assert (done.returncode, done.stderr) == (code, "")
            assert ("error" in json.loads(done.stdout)) == bool(code)
            assert token not in done.stdout
    finally:
        ended.set()
        watching.join()
    assert any(jar.MAIN in line for line in seen)
    assert not any(token.rsplit(".", 1)[-1] in line for line in seen)
