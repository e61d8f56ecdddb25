"""The metadata table ``doctor``: each fault of a secured server is found at its step and named, in time, by one action.

One fixture looks for all faults at the same time, because most of them are waits.
"""

from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulsar as pulsar_client
import pytest
from security.doctor_faults import DEADLINE_MS, FAULTS, FORGOTTEN, GATE, NOT_KEPT, OFFLOADED, Surroundings

from pulsar_spark.local import FileSystemOffload
from support.servers.certificates import Authority
from support.servers.serving import JsonHandler, serving
from support.servers.tls_server import NAMESPACE, TOPIC, TlsServer, running_tls_server
from support.spark.waiting import eventually
from support.topics.messages import produce

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pyspark.sql import Row, SparkSession

    from support.servers.servers import Addresses

# The limit of all steps: six times that of one, which is that of a request and 8 s more.
SECONDS = 6 * (DEADLINE_MS / 1000 + 8) + 10
AT_ONCE = 8
MESSAGES = 12

_exhaustive = pytest.mark.exhaustive
_CASES = [pytest.param(name, marks=() if name in GATE else _exhaustive) for name in FAULTS]


@dataclass(frozen=True)
class Diagnosis:
    rows: list[Row]
    seconds: float

    def step(self, name: str) -> Row:
        (row,) = [row for row in self.rows if row.step == name]
        return row


@pytest.fixture(scope="module")
def surroundings(pulsar: Addresses, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Surroundings]:
    """A server with TLS, authentication and authorization, with messages, some of which are offloaded."""
    folder = tmp_path_factory.mktemp("doctor")
    (folder / "other").mkdir()
    Authority(folder / "other", "other authority")
    settings = {"managedLedgerMaxEntriesPerLedger": "5"}
    with ExitStack() as stack:
        offload = FileSystemOffload(folder / "offloaded")
        server = stack.enter_context(running_tls_server(folder, "localhost", settings=settings, offload=offload))
        bookie = _filled(server, folder)
        closed = stack.enter_context(socket.socket())
        closed.bind(("127.0.0.1", 0))
        silent = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        wrong = server.authority.certificate("wrong", host="elsewhere.example")
        ended = server.authority.certificate("ended", host="localhost", ended=True)
        impostor, past = (
            stack.enter_context(serving(JsonHandler, one)).replace("https:", "pulsar+ssl:") for one in (wrong, ended)
        )
        ports = closed.getsockname()[1], silent.getsockname()[1]
        yield Surroundings(server, folder, bookie, *ports, impostor, past, pulsar)


def _filled(server: TlsServer, folder: Path) -> str:
    """Write messages and offload some; the id of the bookie."""
    auth = server.auth_server
    admin = auth.admin
    admin.set_policy(NAMESPACE, "permissions/writer", ["produce"])
    admin.create_namespace(NOT_KEPT)
    admin.set_retention(NOT_KEPT, minutes=0, megabytes=0)
    admin.set_policy(NOT_KEPT, "messageTTL", 600)
    logger = pulsar_client.FileLogger(pulsar_client.LoggerLevel.Warn, str(folder / "client.log"))
    login = pulsar_client.AuthenticationToken(auth.admin_token)
    with closing(pulsar_client.Client(auth.server.service_url, authentication=login, logger=logger)) as client:
        for topic in (TOPIC, FORGOTTEN, OFFLOADED):
            produce(client, topic, [b"%d" % number for number in range(MESSAGES)])
    admin.offload(OFFLOADED)
    eventually(lambda: any(one["offloaded"] for one in admin.internal_stats(OFFLOADED)["ledgers"]))
    (one,) = admin.call("GET", "bookies/all")["bookies"]
    return str(one["bookieId"])


def diagnose(spark: SparkSession, options: Mapping[str, str]) -> Diagnosis:
    began = time.monotonic()
    rows = spark.read.format("pulsar").options(metadata="doctor", **options).load().collect()
    return Diagnosis(rows, time.monotonic() - began)


@pytest.fixture(scope="module")
def diagnoses(spark: SparkSession, surroundings: Surroundings, request: pytest.FixtureRequest) -> dict[str, Diagnosis]:
    """What is said of each fault that the run tests."""
    cases = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    wanted = {case["name"] for case in cases if "name" in case} & FAULTS.keys()
    with ThreadPoolExecutor(AT_ONCE) as threads:
        runs = {
            name: threads.submit(diagnose, spark, surroundings.options(**FAULTS[name].options(surroundings)))
            for name in wanted
        }
        return {name: run.result() for name, run in runs.items()}


def test_nothing_is_wrong(spark: SparkSession, surroundings: Surroundings) -> None:
    found = diagnose(spark, surroundings.options(**surroundings.with_admin()))
    states = {row.step: row.state for row in found.rows}
    assert states == {
        "name resolves": "ok",
        "port": "ok",
        "TLS": "warn",  # a certificate of tests ends tomorrow
        "login": "ok",
        "topic": "ok",
        "broker of the topic": "ok",
        "schema": "ok",
        "consume": "ok",
        "produce": "skipped",
        "transactions": "skipped",
        "admin service": "ok",
        "retention": "skipped",  # only administrators see policies
        "message TTL": "skipped",
        "backlog quota": "skipped",
        "bookies": "ok",
        "direct read": "ok",
        "offloaded ledgers": "skipped",
        "versions": "ok",
    }
    assert found.step("TLS").condition == "PULSAR_CERTIFICATE_ENDS"
    assert found.step("login").detail == "token of reader, which does not expire"
    assert found.step("bookies").detail == surroundings.bookie
    assert found.step("topic").detail == f"{TOPIC}, not partitioned"


def test_an_administrator_who_writes_sees_everything(spark: SparkSession, surroundings: Surroundings) -> None:
    options = surroundings.with_admin("admin", topic=OFFLOADED, write="true")
    found = diagnose(spark, surroundings.options(**options))
    assert [row.step for row in found.rows if row.state == "skipped"] == ["transactions"]
    assert [row.step for row in found.rows if row.state == "fail"] == []


def test_a_cluster_without_a_topic(spark: SparkSession, surroundings: Surroundings) -> None:
    found = diagnose(spark, surroundings.options(**surroundings.with_admin(topic="")))
    done = [row.step for row in found.rows if row.state == "ok"]
    assert done == ["name resolves", "port", "login", "admin service", "versions"]


@pytest.mark.parametrize("name", _CASES)
def test_a_fault_is_found_and_named(diagnoses: dict[str, Diagnosis], name: str) -> None:
    fault = FAULTS[name]
    found = diagnoses[name]
    problems = [row for row in found.rows if row.condition and row.condition != "PULSAR_CERTIFICATE_ENDS"]
    assert [(row.step, row.state, row.condition) for row in problems] == [(fault.step, fault.state, fault.condition)], (
        found
    )
    (row,) = problems
    assert [word for word in fault.words if word not in row.detail] == [], row
    assert row.action
    assert found.seconds < SECONDS


def test_no_secret_is_shown(diagnoses: dict[str, Diagnosis], surroundings: Surroundings) -> None:
    shown = str([found.rows for found in diagnoses.values()])
    tokens = [*surroundings.auth.values(), surroundings.server.auth_server.admin_token]
    assert [token for token in tokens if token in shown or token.rpartition(".")[2] in shown] == []
