"""The calls that find and finish sinks, with a JVM that only takes notes."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.sql import Row

from pulsar_spark import PulsarOptionError, PulsarSetupError, PulsarWriteOptions, sinks

URL = "pulsar://localhost:6650"


class FakeSession:
    """Stands for a session, its JVM and all that is found there."""

    def __init__(self, answer: object) -> None:
        self.getAll: dict[str, str] = {}
        self.asked: tuple[Any, ...] = ()
        self._answer = json.dumps(answer)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        def call(_: object, *arguments: object) -> str:
            self.asked = arguments
            return self._answer

        return call if name in ("repair", "finish") else self


class FakeTable:
    """Stands for a session that reads one table."""

    def __init__(self, *rows: Row) -> None:
        self.getAll: dict[str, str] = {}
        self.asked: dict[str, str] = {}
        self.conf = self.read = self
        self._rows = rows

    def format(self, _: str) -> FakeTable:
        return self

    def options(self, **asked: str) -> FakeTable:
        self.asked = asked
        return self

    def load(self) -> FakeTable:
        return self

    def collect(self) -> list[Row]:
        return list(self._rows)


def test_sinks_are_listed() -> None:
    session = FakeTable(
        Row(sink="a", nonce="job", target="*", done=None, prepared=0),
        Row(sink="b", nonce=None, target="", done=None, prepared=None),
    )
    options = PulsarWriteOptions(
        auth_token="x",
        schema_type="string",
        txn_timeout="1h",
        sink_id="a",
        protobuf_descriptor_file="r.desc",
        protobuf_message="Ride",
    )
    found = sinks.find(cast("Any", session), topic="t", service_url=URL, options=options)
    assert found == [sinks.FoundSink("a", "job", "*", None, 0), sinks.FoundSink("b", None, "")]
    assert session.asked == {"service.url": URL, "topic": "t", "auth.token": "x", "metadata": "sinks"}


def test_the_state_of_a_sink_is_read() -> None:
    session = FakeTable(Row(record="sink", namespace="p/d", owner=None, time=None, detail=None))
    status = sinks.status(cast("Any", session), "a", namespace="p/d", service_url=URL)
    assert (status.sink, status.namespace, status.nonce, status.done) == ("a", "p/d", None, None)
    assert (session.asked["metadata"], session.asked["sinkId"]) == ("sink", "a")


@pytest.mark.parametrize(
    ("accepted", "passed"),
    [({}, ("", 0)), ({"accept_lost": 7}, ("lost", 7)), ({"accept_repeated": 0}, ("repeated", 0))],
)
def test_a_sink_is_repaired(accepted: dict[str, Any], passed: tuple[str, int]) -> None:
    lost = {"partition": 1, "attempt": 2, "rows": 3, "bytes": 4, "most": 0, "least": 5}
    session = FakeSession(
        {"sink": "a", "nonce": "job", "aborted": 2, "removed": True, "epoch": 7, "outcome": "torn", "lost": [lost]}
    )
    done = sinks.repair(cast("Any", session), "a", namespace="p/d", service_url=URL, **accepted)
    assert session.asked[1:] == passed
    assert session.asked[0]["sinkId"] == "a"
    assert session.asked[0]["sinkNamespace"] == "p/d"
    assert done.lost == (sinks.LostTask(**lost),)
    assert done.text().splitlines() == [
        "Epoch 7 is torn.",
        "  lost: 3 rows of partition 1",
        "2 transactions that no epoch had decided are aborted.",
        "The state of the sink is needed no more: its topics are removed.",
    ]


def test_a_sink_is_finished_for_ever() -> None:
    session = FakeSession({"sink": "a", "nonce": "query:1", "aborted": 0, "removed": True})
    assert sinks.finish(cast("Any", session), "a", topic="t", service_url=URL).removed
    assert [one["sinkId"] for one in session.asked] == ["a"]


def test_nothing_to_repair_says_so() -> None:
    session = FakeSession({"sink": "a", "nonce": "versions", "aborted": 0, "removed": False})
    assert sinks.repair(cast("Any", session), "a", topic="t", service_url=URL).text() == "There was nothing to repair."


def test_what_is_wrong_is_said_before_the_cluster_is_asked() -> None:
    session = cast("Any", FakeSession([]))
    with pytest.raises(PulsarOptionError, match=r"PULSAR_OPTION_CONFLICT.*accept_lost"):
        sinks.repair(session, "a", topic="t", service_url=URL, accept_lost=1, accept_repeated=1)
    with pytest.raises(PulsarSetupError, match=r"PULSAR_NO_JVM.*repair\(\)"):
        sinks.repair(cast("Any", SimpleNamespace(conf=None)), "a", topic="t", service_url=URL)
    assert session.asked == ()
