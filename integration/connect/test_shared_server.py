"""A shared Spark server with a policy: whatever it does not list is refused, and no byte goes out.

Users have a session of Spark Connect, and the server has executors of its own. It is not collected with the other
tests, and needs a process of its own: ``make connect-4.3`` runs it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from connect.shared_places import SECRET, TOKEN_CLASS, Places, running_places
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import pulsar_spark
from support.spark.errors import failing, refused
from support.spark.waiting import eventually
from support.topics.messages import produce

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pulsar as pulsar_client

    from support.servers.servers import Addresses

pytestmark = pytest.mark.filterwarnings("ignore:Failed to set spark:UserWarning")

_CLASS = "java.util.concurrent.CompletableFuture"
_DATA_URL = "data:application/json;base64,e30="
_OAUTH2 = "auth.oauth2."
# The client asks again until then where the policy refuses the address that a server names.
_ASKED_AGAIN = {"operationTimeoutMs": "10000"}


@pytest.fixture(scope="session")
def places(pulsar: Addresses, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    with running_places(pulsar, tmp_path_factory.mktemp("places")) as places:
        yield places


@pytest.fixture(scope="session")
def spark(connector_jar: Path, places: Places, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session of a server with one executor."""
    folder = tmp_path_factory.mktemp("spark")
    builder = SparkSession.builder.remote("local-cluster[1,1,1024]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "1g").config("spark.sql.shuffle.partitions", "2")
    builder = builder.config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    for key, value in places.settings().items():
        builder = builder.config(key, value)
    session = pulsar_spark.configure(builder, jar=connector_jar).getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def filled(client: pulsar_client.Client, namespace: str) -> str:
    """A topic with three messages."""
    topic = f"persistent://{namespace}/filled"
    produce(client, topic, [b"0", b"1", b"2"])
    return topic


@pytest.fixture(autouse=True)
def _nothing_goes_out(places: Places) -> Iterator[None]:
    yield
    assert [(canary.connections, canary.received) for canary in (places.silent, places.far)] == [(0, b"")] * 2


def _options(places: Places, topic: str, **more: str) -> dict[str, str]:
    return {"service.url": places.pulsar.service_url, "topic": topic, "operationTimeoutMs": "30000", **more}


def _values(spark: SparkSession, options: dict[str, str]) -> list[str]:
    rows = spark.read.format("pulsar").options(**options).load().selectExpr("string(value)").collect()
    return sorted(row[0] for row in rows)


def _segment(places: Places) -> dict[str, str]:
    return {"admin.url": places.pulsar.admin_url, "readLevel": "segment"}


def _plugin(name: str, parameters: str = "") -> dict[str, str]:
    return {"pulsar.client.authPluginClassName": name, "pulsar.client.authParams": parameters}


def _oauth2(issuer: str, credentials: str) -> dict[str, str]:
    return {f"{_OAUTH2}issuerUrl": issuer, f"{_OAUTH2}credentialsUrl": credentials, f"{_OAUTH2}audience": "x"}


def _listed_key(places: Places) -> str:
    file = places.keys / "key.json"
    file.write_text(json.dumps({"type": "client_credentials", "client_id": "i", "client_secret": "s"}))
    return file.as_uri()


# The setting that decides, the option that the error names, and the options of a read.
READS: list[tuple[str, str, Callable[[Places], dict[str, str]]]] = [
    ("files", "auth.tokenFile", lambda p: {"auth.tokenFile": str(p.secret)}),
    ("files", "auth.tokenFile", lambda p: {"auth.tokenFile": str(p.keys / "link")}),
    ("files", "auth.tokenFile", lambda p: {"auth.tokenFile": f"{p.keys}/../outside/token"}),
    ("files", "auth.tokenFile", lambda p: {"auth.tokenFile": str(p.outside / "none")}),
    ("files", "pulsar.client.authParams", lambda p: _plugin(TOKEN_CLASS, p.secret.as_uri())),
    ("files", "protobuf.descriptorFile", lambda _: {"protobuf.descriptorFile": "/dev/zero", "protobuf.message": "x"}),
    ("files", "auth.tls.certFile", lambda p: dict.fromkeys(("auth.tls.certFile", "auth.tls.keyFile"), str(p.secret))),
    ("files", "tls.trustCertsFile", lambda p: {"tls.trustCertsFile": str(p.secret)}),
    ("files", "bookie.tls.trustCertsFile", lambda p: _segment(p) | {"bookie.tls.trustCertsFile": str(p.secret)}),
    ("files", "encryption.privateKeyFile", lambda p: {"encryption.privateKeyFile": str(p.secret)}),
    ("files", "encryption.privateKeyFile", lambda p: {"encryption.privateKeyFile": f'{{"k": "{p.secret.as_uri()}"}}'}),
    (
        "files",
        "pulsar.client.tlsTrustStorePath",
        lambda p: {"pulsar.client.useKeyStoreTls": "true", "pulsar.client.tlsTrustStorePath": str(p.secret)},
    ),
    ("files", f"{_OAUTH2}credentialsUrl", lambda p: _oauth2(p.issuer, p.secret.as_uri())),
    ("files", f"{_OAUTH2}credentialsUrl", lambda p: _oauth2(p.issuer, f"http://{p.silent.address}/key")),
    ("files", f"{_OAUTH2}credentialsUrl", lambda p: _oauth2(p.issuer, f"jar:{p.secret.as_uri()}!/x")),
    ("inlineSecrets", f"{_OAUTH2}credentialsUrl", lambda p: _oauth2(p.issuer, _DATA_URL)),
    ("hosts", f"{_OAUTH2}issuerUrl", lambda p: _oauth2(f"http://{p.silent.address}", _listed_key(p))),
    ("hosts", f"{_OAUTH2}issuerUrl", lambda p: _oauth2(p.issuer, _listed_key(p))),
    ("hosts", "service.url", lambda p: {"service.url": f"pulsar://{p.silent.address}"}),
    ("hosts", "service.url", lambda p: {"service.url": f"{p.pulsar.service_url},{p.silent.address}"}),
    ("hosts", "service.url", lambda p: {"service.url": f"http://{p.silent.address}"}),
    ("hosts", "service.url", lambda p: {"service.url": p.moved}),  # look-ups over HTTP go on to any port
    ("hosts", "admin.url", lambda p: {"admin.url": f"http://{p.silent.address}"}),
    ("hosts", "bookieAddresses", lambda p: _segment(p) | {"bookieAddresses": f"b={p.silent.address}"}),
    ("hosts", "pulsar.client.socks5ProxyAddress", lambda p: {"pulsar.client.socks5ProxyAddress": p.silent.address}),
    (
        "hosts",
        "pulsar.client.dnsServerAddresses",
        lambda p: {"pulsar.client.dnsServerAddresses": f'["{p.silent.address}"]'},
    ),
    (
        "hosts",
        "pulsar.client.proxyServiceUrl",
        lambda p: {
            "service.url": p.pulsar.service_url.replace("pulsar:", "pulsar+ssl:"),
            "pulsar.client.proxyServiceUrl": f"pulsar+ssl://{p.silent.address}",
            "pulsar.client.proxyProtocol": "SNI",
        },
    ),
    ("classes", "pulsar.client.authPluginClassName", lambda _: _plugin(_CLASS, "x")),
    ("classes", "pulsar.reader.cryptoKeyReader", lambda _: {"pulsar.reader.cryptoKeyReader": _CLASS}),
    ("classes", "pulsar.client.sslFactoryPlugin", lambda _: {"pulsar.client.sslFactoryPlugin": _CLASS}),
    (
        "classes",
        "admin.auth.pluginClassName",
        lambda p: {"admin.url": p.pulsar.admin_url, "admin.auth.pluginClassName": _CLASS},
    ),
    (
        "classes",
        "bookkeeper.clientAuthProviderFactoryClass",
        lambda p: _segment(p) | {"bookkeeper.clientAuthProviderFactoryClass": _CLASS},
    ),
    ("storage", "offload.location", lambda p: _segment(p) | {"offload.location": p.outside.as_uri()}),
    ("storage", "checkpoint", lambda p: {"metadata": "checkpoint", "checkpoint": p.outside.as_uri()}),
    ("insecure", "tls.insecureTrustAnyCertificate", lambda _: {"tls.insecureTrustAnyCertificate": "true"}),
    ("insecure", "tls.insecureSkipHostnameVerification", lambda _: {"tls.insecureSkipHostnameVerification": "true"}),
    (
        "insecure",
        "bookie.tls.insecureSkipHostnameVerification",
        lambda p: (
            _segment(p)
            | {
                "bookie.tls.trustCertsFile": str(p.keys / "token"),
                "bookie.tls.insecureSkipHostnameVerification": "true",
            }
        ),
    ),
]


@pytest.fixture(params=["", "by the session"])
def _session(request: pytest.FixtureRequest, spark: SparkSession, places: Places) -> Iterator[None]:
    """With settings of the session that would list everything, and without."""
    everything = {"mode": "open", "files": "/", "inlineSecrets": "true", "hosts": "*:*", "classes": _CLASS}
    everything |= {"storage": places.outside.as_uri(), "insecure": "true"}
    for key, value in everything.items() if request.param else ():
        spark.conf.set(f"spark.pulsar.policy.{key}", value)
    yield
    for key in everything if request.param else ():
        spark.conf.unset(f"spark.pulsar.policy.{key}")


@pytest.mark.usefixtures("_session")
@pytest.mark.parametrize(("key", "option", "given"), READS, ids=[f"{key}-{option}" for key, option, _ in READS])
def test_a_read_that_asks_for_what_is_not_listed(
    spark: SparkSession,
    places: Places,
    filled: str,
    key: str,
    option: str,
    given: Callable[[Places], dict[str, str]],
) -> None:
    more = given(places)
    options = more if "metadata" in more else _options(places, filled) | more
    with refused("PULSAR_POLICY_REFUSED", f"`{option}`", f"`spark.pulsar.policy.{key}`") as failure:
        spark.read.format("pulsar").options(**options).load().collect()
    assert SECRET not in str(failure.value)


WRITES: list[tuple[str, str, Callable[[Places], dict[str, str]]]] = [
    ("files", "encryption.publicKeyFile", lambda p: {"encryption.publicKeyFile": f'{{"k": "{p.secret}"}}'}),
    ("classes", "encryption.keyReader", lambda _: {"encryption.keyReader": _CLASS, "encryption.keyNames": "k"}),
    ("hosts", "service.url", lambda p: {"service.url": f"pulsar://{p.silent.address}"}),
]


@pytest.mark.parametrize(("key", "option", "given"), WRITES, ids=[f"{key}-{option}" for key, option, _ in WRITES])
def test_a_write_that_asks_for_what_is_not_listed(
    spark: SparkSession, places: Places, topic: str, key: str, option: str, given: Callable[[Places], dict[str, str]]
) -> None:
    options = _options(places, topic) | given(places)
    with refused("PULSAR_POLICY_REFUSED", f"`{option}`", f"`spark.pulsar.policy.{key}`"):
        spark.range(1).write.format("pulsar").mode("append").options(**options).save()


def test_a_stream_makes_no_folder_that_is_not_listed(
    spark: SparkSession, places: Places, filled: str, tmp_path: Path
) -> None:
    schemas = places.outside / "schemas"
    options = _options(places, filled, startingOffsets="earliest", schemaTrackingLocation=schemas.as_uri())
    with failing("PULSAR_POLICY_REFUSED", "`schemaTrackingLocation`", "`spark.pulsar.policy.storage`"):
        rows = spark.readStream.format("pulsar").options(**options).load()
        writer = rows.writeStream.format("noop").option("checkpointLocation", str(tmp_path))
        writer.trigger(availableNow=True).start().awaitTermination(300)
    assert not schemas.exists()


def test_an_address_that_a_broker_names(spark: SparkSession, places: Places, filled: str) -> None:
    options = _options(places, filled, **{"service.url": places.proxy.service_url}) | _ASKED_AGAIN
    places.proxy.other_url = f"pulsar://{places.silent.address}"
    with refused("PULSAR_POLICY_REFUSED", places.silent.address, "`spark.pulsar.policy.hosts`"):
        spark.read.format("pulsar").options(**options).load().collect()


def test_a_redirect_and_an_issuer_that_moves_are_not_followed(spark: SparkSession, places: Places, filled: str) -> None:
    admin = _options(places, filled, metadata="ledgers", **{"admin.url": places.moved})
    with pytest.raises(PySparkException, match=r"spark\.pulsar\.policy\.hosts"):
        spark.read.format("pulsar").options(**admin).load().collect()
    lookups = _options(places, filled, **{"service.url": places.gone}) | _ASKED_AGAIN
    with pytest.raises(PySparkException, match=r"127\.0\.0\.2.*spark\.pulsar\.policy\.hosts"):
        spark.read.format("pulsar").options(**lookups).load().collect()
    moved = _options(places, filled, **_oauth2(places.moved, _listed_key(places)))
    with refused("PULSAR_CLIENT_FAILED"):
        spark.read.format("pulsar").options(**moved).load().collect()


def test_what_is_listed_works_and_a_canary_hears(spark: SparkSession, places: Places, filled: str, topic: str) -> None:
    token = {"auth.tokenFile": str(places.keys / "token")}
    assert _values(spark, _options(places, filled, **token)) == ["0", "1", "2"]
    assert _values(spark, _options(places, filled, **{"admin.url": places.pulsar.admin_url})) == ["0", "1", "2"]
    spark.range(2).selectExpr("binary(string(id)) as value").write.format("pulsar").mode("append").options(
        **_options(places, topic, schemaType="bytes")
    ).save()
    heard = _options(places, filled, **token, **{"service.url": f"pulsar://{places.listed.address}"})
    with pytest.raises(PySparkException):
        spark.read.format("pulsar").options(**heard | {"operationTimeoutMs": "8000"}).load().collect()
    eventually(lambda: b"a-listed-token" in places.listed.received)


def test_bookies_that_are_not_listed_are_not_called(spark: SparkSession, places: Places, filled: str) -> None:
    with refused("PULSAR_SEGMENT_UNAVAILABLE", "spark.pulsar.policy.hosts does not list"):
        _values(spark, _options(places, filled, **_segment(places)))


def test_the_doctor_asks_the_policy_too(spark: SparkSession, places: Places, filled: str) -> None:
    options = _options(places, filled, metadata="doctor", **{"service.url": f"pulsar://{places.silent.address}"})
    rows = spark.read.format("pulsar").options(**options).load().collect()
    assert {row["condition"] for row in rows if row["state"] == "fail"} == {"PULSAR_POLICY_REFUSED"}


def test_a_catalog_of_the_session_asks_the_policy_too(spark: SparkSession, places: Places) -> None:
    settings = {"": "io.github.pulsarspark.catalog.PulsarCatalog", ".service.url": f"pulsar://{places.silent.address}"}
    for key, value in settings.items():
        spark.conf.set(f"spark.sql.catalog.elsewhere{key}", value)
    with refused("PULSAR_POLICY_REFUSED", "`spark.pulsar.policy.hosts`"):
        spark.sql("show tables in elsewhere.`public/default`").collect()


def test_executors_ask_the_policy_themselves(spark: SparkSession, places: Places, filled: str) -> None:
    token = places.keys / "swapped"
    token.write_text("a-token", encoding="utf-8")
    rows = spark.read.format("pulsar").options(**_options(places, filled, **{"auth.tokenFile": str(token)})).load()
    assert len(rows.columns) > 0
    token.unlink()
    token.symlink_to(places.secret)
    rows.explain()  # the driver plans with the client that it has, and the executor has none
    with failing("PULSAR_POLICY_REFUSED", "`auth.tokenFile`") as failure:
        rows.collect()
    assert SECRET not in str(failure.value)
