"""The SQL functions, as far as Python is concerned: what the JVM is asked for, with a JVM that only takes notes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from pulsar_spark import PulsarOptionError, PulsarReadOptions, PulsarSetupError, functions

URL = "pulsar://localhost:6650"


class FakeSession:
    """Stands for a session, its JVM and all that is found there."""

    def __init__(self) -> None:
        self.getAll: dict[str, str] = {}
        self.made: dict[str, dict[str, str]] = {}
        self.registered: dict[str, str] = {}
        self.register = self.registered.__setitem__

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        def make(_: object, options: dict[str, str]) -> str:
            self.made[name] = options
            return f"what {name} made"

        return make if name.endswith("Pulsar") else self

    def __call__(self) -> FakeSession:
        return self


def test_each_function_receives_its_own_options() -> None:
    session = FakeSession()
    options = PulsarReadOptions(auth_token="t", on_decode_error="null", client={"numIoThreads": 2})
    functions.register(cast("Any", session), topic="rides", to_name="to_rides", service_url=URL, options=options)
    assert session.registered == {"from_pulsar": "what fromPulsar made", "to_rides": "what toPulsar made"}
    shared = {"service.url": URL, "topic": "rides", "auth.token": "t", "pulsar.client.numIoThreads": "2"}
    assert session.made == {"fromPulsar": shared | {"onDecodeError": "null"}, "toPulsar": shared}


def test_errors_are_raised_in_python() -> None:
    session = cast("Any", FakeSession())
    with pytest.raises(PulsarOptionError, match=r"PULSAR_TOPIC_OPTION"):
        functions.from_pulsar(session, "value", "__schemaVersion", service_url=URL)
    with pytest.raises(PulsarOptionError, match=r"PULSAR_OPTION_UNKNOWN.*topik"):
        functions.register(session, topic="a", service_url=URL, **cast("Any", {"topik": "b"}))
    with pytest.raises(PulsarOptionError, match=r"PULSAR_OPTION_UNKNOWN.*schema_mode"):
        functions.to_pulsar(session, "value", topic="a", service_url=URL, **cast("Any", {"schema_mode": "raw"}))


class FailingSession(FakeSession):
    """Stands for a session whose JVM rejects every function."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        def fail(*_: object) -> None:
            raise RuntimeError(
                "o1.make: x.PulsarException: [PULSAR_OPTION_INVALID] Option `onDecodeError` is `drop`, but must be "
                "fail or null. What to do: Set a value of that form.\n\tat x.Y.z(Y.scala:1)"
            )

        return fail if name.endswith("Pulsar") else self


def test_errors_of_the_jvm_are_those_of_the_package() -> None:
    session = cast("Any", FailingSession())
    text = "^.PULSAR_OPTION_INVALID. Option `on_decode_error` is `drop`, but must be fail or null"
    with pytest.raises(PulsarOptionError, match=text):
        functions.from_pulsar(session, "a", "b", topic="a", service_url=URL, on_decode_error="drop")
    with pytest.raises(PulsarOptionError, match="Option `onDecodeError`"):
        functions.to_pulsar(session, "a", topic="a", service_url=URL)


def test_spark_connect_has_no_jvm() -> None:
    session = cast("Any", SimpleNamespace(conf=None))
    with pytest.raises(PulsarSetupError, match=r"PULSAR_NO_JVM.*from_pulsar\(\)"):
        functions.from_pulsar(session, "value", "__schemaVersion", topic="a", service_url=URL)
    with pytest.raises(PulsarSetupError, match=r"PULSAR_NO_JVM.*to_pulsar\(\)"):
        functions.to_pulsar(session, "value", topic="a", service_url=URL)
