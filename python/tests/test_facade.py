"""The methods of a cluster in a session: the functions of this package, with the options of the cluster."""

from __future__ import annotations

import inspect
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from pulsar_spark import (
    Basic,
    OAuth2,
    Plugin,
    Pulsar,
    PulsarCluster,
    PulsarOptionError,
    PulsarReadOptions,
    PulsarWriteOptions,
    Store,
    Tls,
    Token,
    TokenFile,
    read_pulsar,
    write_pulsar_stream,
)

if TYPE_CHECKING:
    from pathlib import Path

CLUSTER = PulsarCluster("pulsar://b:6650", admin_url="http://a", auth=TokenFile("/t"), client={"numIoThreads": 2})
OPTIONS = {
    "service.url": "pulsar://b:6650",
    "admin.url": "http://a",
    "auth.tokenFile": "/t",
    "pulsar.client.numIoThreads": "2",
}


class Noted:
    """Stands for a session, its readers and a DataFrame: notes the options and answers everything with itself."""

    def __init__(self) -> None:
        self.getAll = {"spark.datasource.pulsar.service.url": "pulsar://of-the-session:6650"}
        self.given: dict[str, str] = {}

    def __getattr__(self, _: str) -> Any:  # noqa: ANN401
        return self

    def __call__(self, *_: object, **__: object) -> Noted:
        return self

    def options(self, **options: str) -> Noted:
        self.given = options
        return self


def pulsar(cluster: PulsarCluster = CLUSTER) -> tuple[Pulsar, Any]:
    noted: Any = Noted()
    return cluster.on(noted), noted


def test_reads_have_the_options_of_the_cluster() -> None:
    session, noted = pulsar()
    session.read("rides", start="earliest", end="1:2")
    assert noted.given == {
        **OPTIONS,
        "topic": "rides",
        "startingOffsets": "earliest",
        "endingOffsets": '{"rides": "1:2"}',
    }
    session.read_stream(topics_pattern="r.*", max_messages_per_trigger=5)
    assert noted.given == {**OPTIONS, "topicsPattern": "r.*", "maxMessagesPerTrigger": "5"}


def test_the_newest_messages_are_at_least_one() -> None:
    session, noted = pulsar()
    session.peek("rides", 3)
    assert noted.given == {**OPTIONS, "topic": "rides", "startingOffsets": "last 3"}
    with pytest.raises(PulsarOptionError, match=r"PULSAR_OPTION_INVALID.*`n` is `0`"):
        session.peek("rides", 0)


def test_the_lag_of_a_query_is_that_of_its_newest_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    def source(metrics: dict[str, str], end: object) -> dict[str, object]:
        return {"description": "Pulsar[a]", "numInputRows": 1, "metrics": metrics, "endOffset": end}

    def query(*sources: object) -> Any:  # noqa: ANN401
        report = {"id": "6f0f", "runId": "r", "name": None, "timestamp": "2026-01-31T12:00:00Z", "batchId": 1}
        return SimpleNamespace(
            name="trips",
            id="6f0f",
            awaitTermination=None,
            lastProgress={**report, "sources": sources} if sources else None,
        )

    ours = {"pulsarDataLoss": "0"}
    first = {"version": 2, "positions": {"persistent://a/b/": {"t": {"0": "3:9", "1": "3:9"}}}}
    second = {"version": 1, "positions": {"persistent://a/b/t-partition-0": "3:4:5", "persistent://a/b/u": "1:2"}}
    session, noted = pulsar()
    monkeypatch.setattr("pulsar_spark.facade.tables.Listing", lambda *_: ())
    session.lag(query(source(ours, first), source(ours, json.dumps(second)), source({}, {"t": {"0": 5}})))
    assert json.loads(noted.given.pop("startingOffsets"))["positions"] == {
        "persistent://a/b/t-partition-0": "3:4:5",
        "persistent://a/b/t-partition-1": "3:9",
        "persistent://a/b/u": "1:2",
    }
    assert noted.given == {**OPTIONS, "metadata": "lag"}
    with pytest.raises(PulsarOptionError, match=r"PULSAR_QUERY_WITHOUT_POSITION.*trips.*not reported progress"):
        session.lag(query())
    with pytest.raises(PulsarOptionError, match=r"PULSAR_QUERY_WITHOUT_POSITION.*none of its sources reads Pulsar"):
        session.lag(query(source({}, "41")))


class Settings:
    """Stands for a session: its settings, and catalogs that queries have used."""

    def __init__(self) -> None:
        self.conf = self
        self.getAll: dict[str, str] = {}
        self.used: set[str] = set()
        self.set = self.getAll.__setitem__
        self.unset = self.getAll.__delitem__

    def sql(self, text: str) -> Settings:
        self.asked = text.rpartition(" ")[2].strip("'")
        return self

    def collect(self) -> list[str]:
        return [name for name in self.used if name == self.asked]


def test_a_catalog_has_the_options_of_the_cluster() -> None:
    noted: Any = Settings()
    settings = noted.getAll
    session = CLUSTER.on(noted)
    session.register_catalog("lake")
    assert settings == {
        "spark.sql.catalog.lake": "io.github.pulsarspark.catalog.PulsarCatalog",
        **{f"spark.sql.catalog.lake.{key}": value for key, value in OPTIONS.items()},
    }
    for name in ("a.b", "spark_catalog", "", "a b"):
        with pytest.raises(PulsarOptionError, match=r"PULSAR_OPTION_INVALID.*`name`"):
            session.register_catalog(name)


def test_a_catalog_that_queries_use_is_not_registered_with_other_settings() -> None:
    noted: Any = Settings()
    CLUSTER.on(noted).register_catalog("lake")
    other = PulsarCluster("pulsar://other:6650").on(noted)
    other.register_catalog("lake")
    assert noted.getAll == {
        "spark.sql.catalog.lake": "io.github.pulsarspark.catalog.PulsarCatalog",
        "spark.sql.catalog.lake.service.url": "pulsar://other:6650",
    }
    noted.used.add("lake")
    other.register_catalog("lake")
    with pytest.raises(PulsarOptionError, match=r"PULSAR_CATALOG_REGISTERED.*`lake`"):
        CLUSTER.on(noted).register_catalog("lake")
    assert noted.getAll["spark.sql.catalog.lake.service.url"] == "pulsar://other:6650"
    CLUSTER.on(noted).register_catalog("sea")


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"auth": Plugin("x.Y", "canary")}, True),
        ({"auth": Plugin("x.Y", "file:///t")}, False),
        ({"auth": Plugin("x.Y", "https://me:canary@issuer")}, True),
        ({"admin_auth": Plugin("x.Y", "canary")}, True),
        ({"auth": OAuth2("https://i", "data:,canary")}, True),
        ({"auth": OAuth2("https://i", "file:///k")}, False),
        ({"auth": OAuth2("https://i", "https://keys/k")}, False),
        ({"auth": Token("canary")}, True),
        ({"auth": Token("file:canary")}, True),
        ({"auth": Basic("me", "canary")}, True),
        ({"tls": Tls(trust_store=Store("/s", "canary"))}, True),
        ({"tls": Tls("/ca.pem")}, False),
    ],
)
def test_a_secret_is_no_setting_of_a_catalog(given: dict[str, Any], refused: bool) -> None:
    session: Any = Settings()
    settings = session.getAll
    cluster = PulsarCluster("pulsar://b:6650", **given)
    if refused:
        with pytest.raises(PulsarOptionError, match="PULSAR_SETTING_SECRET"):
            cluster.on(session).register_catalog()
        assert settings == {}
    else:
        cluster.on(session).register_catalog()
        assert "spark.sql.catalog.pulsar" in settings


def test_writes_have_the_options_of_the_cluster(tmp_path: Path) -> None:
    session, noted = pulsar()
    session.write(noted, "rides", send_timeout_ms=5)
    assert noted.given == {**OPTIONS, "topic": "rides", "sendTimeoutMs": "5"}
    session.write_stream(noted, "rides", checkpoint=tmp_path)
    assert noted.given == {**OPTIONS, "topic": "rides"}


def test_arguments_and_option_objects_override_the_cluster() -> None:
    session, noted = pulsar()
    session.read(options=PulsarReadOptions(topic="a", admin_url="http://x", poll_timeout_ms=1), poll_timeout_ms=2)
    assert noted.given == {**OPTIONS, "topic": "a", "admin.url": "http://x", "pollTimeoutMs": "2"}
    session.write(noted, options=PulsarWriteOptions(topic="a", client={"useTcpNoDelay": True}))
    assert noted.given == {**OPTIONS, "topic": "a", "pulsar.client.useTcpNoDelay": "true"}


@pytest.mark.parametrize("name", ["read", "read_stream", "write", "write_stream"])
def test_settings_of_the_client_are_combined(name: str, tmp_path: Path) -> None:
    session, noted = pulsar(PulsarCluster("pulsar://b:6650", auth=Plugin("x.Y", "p")))
    first = [noted, "rides"] if name.startswith("write") else ["rides"]
    more = {"checkpoint": tmp_path} if name == "write_stream" else {}
    getattr(session, name)(*first, client={"numIoThreads": 3}, **more)
    assert noted.given == {
        "service.url": "pulsar://b:6650",
        "topic": "rides",
        "pulsar.client.authPluginClassName": "x.Y",
        "pulsar.client.authParams": "p",
        "pulsar.client.numIoThreads": "3",
    }


def test_the_signatures_are_those_of_the_functions_without_a_session() -> None:
    read = inspect.signature(Pulsar.read)
    assert list(read.parameters)[1:] == list(inspect.signature(read_pulsar).parameters)[1:]
    write = inspect.signature(Pulsar.write_stream)
    assert list(write.parameters)[1:] == list(inspect.signature(write_pulsar_stream).parameters)
    assert "spark: The session" not in (Pulsar.read.__doc__ or "")
    assert (Pulsar.read.__name__, Pulsar.read.__qualname__) == ("read", "Pulsar.read")
    assert read_pulsar.__name__ == "read_pulsar"
    assert "spark" in cast("Any", read_pulsar).__annotations__


def test_a_repr_has_no_secret() -> None:
    session, _ = pulsar(PulsarCluster("pulsar://b:6650", auth=Plugin("x.Y", "canary")))
    assert (
        repr(session)
        == "Pulsar(PulsarCluster(service_url='pulsar://b:6650', auth=Plugin(class_name='x.Y', params='***')))"
    )
