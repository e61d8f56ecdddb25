"""TLS to brokers and the admin service: certificates that are trusted work, all others are refused and why is said."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from support.servers.auth_server import PLUGIN
from support.servers.certificates import Authority
from support.servers.serving import JsonHandler, serving
from support.servers.tls_server import NAMESPACE, TOPIC, TlsServer, running_tls_server
from support.spark.errors import failing, no_job
from support.spark.waiting import IN_TIME, within
from support.topics.reading import entries_by_level, read_available

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import TypeAlias

    from pyspark.sql import DataFrame, SparkSession

    Use: TypeAlias = Callable[[SparkSession, dict[str, str]], object]

WRITTEN = list(range(30))
SKIP = "tls.insecureSkipHostnameVerification"


@pytest.fixture(scope="module")
def encrypted(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TlsServer]:
    """A server whose messages were written over TLS."""
    with running_tls_server(tmp_path_factory.mktemp("encrypted"), "localhost") as encrypted:
        write(spark, encrypted.options())
        yield encrypted


@pytest.fixture(scope="module")
def impostor(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TlsServer]:
    """A server whose certificate is for another host; its messages were written without looking at that."""
    with running_tls_server(tmp_path_factory.mktemp("impostor"), "elsewhere.example") as impostor:
        write(spark, impostor.options(**{SKIP: "true"}))
        yield impostor


def write(spark: SparkSession, options: dict[str, str]) -> None:
    rows = spark.range(0, len(WRITTEN), 1, 2).selectExpr("string(id) as value")
    rows.write.format("pulsar").mode("append").options(**options).save()


def values(frame: DataFrame) -> list[int]:
    return sorted(int(row[0]) for row in frame.select("value").collect())


def read(spark: SparkSession, options: dict[str, str]) -> list[int]:
    return values(spark.read.format("pulsar").options(**options).load())


@pytest.mark.parametrize(("level", "deliverer"), [("broker", "broker"), ("segment", "bookies")])
def test_messages_are_written_and_read_over_tls(
    spark: SparkSession, encrypted: TlsServer, tmp_path: Path, level: str, deliverer: str
) -> None:
    options = encrypted.options(readLevel=level, startingOffsets="earliest", **{"admin.url": encrypted.admin_url})
    frame = spark.read.format("pulsar").options(**options).load()
    assert values(frame) == WRITTEN
    assert {name for name, entries in entries_by_level(frame).items() if entries} == {deliverer}
    found: list[int] = []
    rows = spark.readStream.format("pulsar").options(**options).load()
    read_available(rows, tmp_path, lambda part, _: found.extend(values(part)))
    assert sorted(found) == WRITTEN


def test_the_names_of_streamnative_pulsar_spark(spark: SparkSession, encrypted: TlsServer, tmp_path: Path) -> None:
    """The example of its README, where the admin service has the same login."""
    login = {
        "authPluginClassName": f"{PLUGIN}AuthenticationToken",
        "authParams": f"token:{encrypted.auth_server.admin_token}",
    }
    options = {
        "service.url": f"pulsar+ssl://localhost:{encrypted.broker_port}",
        **{f"pulsar.{side}.{name}": value for side in ("admin", "client") for name, value in login.items()},
        "pulsar.client.tlsTrustCertsFilePath": str(encrypted.authority.file),
        "pulsar.client.tlsAllowInsecureConnection": "false",
        "pulsar.client.tlsHostnameVerificationenable": "true",
        "topicsPattern": f"{NAMESPACE}/events",
    }
    found: list[int] = []
    rows = spark.readStream.format("pulsar").options(**options, startingOffsets="earliest").load()
    read_available(rows, tmp_path, lambda part, _: found.extend(values(part)))
    assert sorted(found) == WRITTEN


def test_lookups_over_https(spark: SparkSession, encrypted: TlsServer) -> None:
    assert read(spark, encrypted.options(**{"service.url": encrypted.admin_url})) == WRITTEN


@pytest.mark.parametrize("level", ["broker", "segment"])
def test_a_client_is_known_by_its_certificate(spark: SparkSession, encrypted: TlsServer, level: str) -> None:
    reader = encrypted.authority.certificate("reader")
    options = encrypted.options(**{"auth.tls.certFile": str(reader.file), "auth.tls.keyFile": str(reader.key_file)})
    del options["auth.token"]
    assert read(spark, {**options, "readLevel": level, "admin.url": encrypted.admin_url}) == WRITTEN
    with no_job(spark), failing("PULSAR_ACCESS_DENIED", TOPIC, "`produce`"):
        write(spark, options)


@contextmanager
def untrusted(spark: SparkSession, server: TlsServer, reason: str, *words: str) -> Iterator[None]:
    """What is done inside is refused in time, before anything runs, and without a word of the token."""
    with no_job(spark), within(IN_TIME), failing(f"PULSAR_TLS_FAILED.{reason}", *words) as failure:
        yield
    assert server.auth_server.admin_token not in str(failure.value)


@pytest.mark.parametrize("use", [read, write])
def test_the_certificate_of_another_host_is_rejected(spark: SparkSession, impostor: TlsServer, use: Use) -> None:
    with untrusted(
        spark, impostor, "HOST_NAME", "matching localhost found", f"pulsar+ssl://localhost:{impostor.broker_port}"
    ):
        use(spark, impostor.options())


def test_host_names_are_not_verified_on_request(spark: SparkSession, impostor: TlsServer) -> None:
    unsafe = impostor.options(readLevel="segment", **{SKIP: "true", "admin.url": impostor.admin_url})
    assert read(spark, unsafe) == WRITTEN


@pytest.mark.parametrize("use", [read, write])
def test_an_untrusted_certificate_is_rejected(spark: SparkSession, encrypted: TlsServer, use: Use) -> None:
    options = encrypted.options()
    del options["tls.trustCertsFile"]
    with untrusted(spark, encrypted, "AUTHORITY", "tls.trustCertsFile", "unable to find valid certification path"):
        use(spark, options)


def test_a_certificate_of_another_authority_is_rejected(
    spark: SparkSession, encrypted: TlsServer, tmp_path: Path
) -> None:
    with untrusted(spark, encrypted, "AUTHORITY", "certificate", "was not accepted"):
        read(spark, encrypted.options(**{"tls.trustCertsFile": str(Authority(tmp_path).file)}))


def test_an_admin_service_that_is_another_host(spark: SparkSession, encrypted: TlsServer, impostor: TlsServer) -> None:
    """Segment reads fail, others go to the broker, which is the right one."""
    options = encrypted.options(**{"admin.url": impostor.admin_url})
    with untrusted(spark, encrypted, "AUTHORITY", "certificate", impostor.admin_url):
        read(spark, {**options, "readLevel": "segment"})
    frame = spark.read.format("pulsar").options(**options).load()
    assert values(frame) == WRITTEN
    assert entries_by_level(frame)["bookies"] == 0


def test_credentials_do_not_go_on_to_an_admin_service_without_tls(spark: SparkSession, encrypted: TlsServer) -> None:
    asked: list[str] = []

    class Plain(JsonHandler):
        def do_GET(self) -> None:  # noqa: N802 - so http.server calls it
            asked.append(self.path)
            self.answer(200, {})

    with serving(Plain) as plain:

        class SendingOn(JsonHandler):
            def do_GET(self) -> None:  # noqa: N802 - so http.server calls it
                self.send_response(307)
                self.send_header("Location", plain + self.path)
                self.end_headers()

        certificate = encrypted.authority.certificate("front", host="localhost")
        with (
            serving(SendingOn, certificate) as url,
            within(IN_TIME),
            failing("PULSAR_REQUEST_FAILED", "not https", url),
        ):
            read(spark, encrypted.options(readLevel="segment", **{"admin.url": url}))
    assert asked == []


@pytest.mark.parametrize("option", ["tls.trustCertsFile", "auth.tls.keyFile"])
def test_a_file_that_is_missing_is_named(
    spark: SparkSession, encrypted: TlsServer, tmp_path: Path, option: str
) -> None:
    mine = encrypted.authority.certificate("reader")
    options = encrypted.options(**{"auth.tls.certFile": str(mine.file), "auth.tls.keyFile": str(mine.key_file)})
    del options["auth.token"]
    missing = str(tmp_path / "missing.pem")
    with no_job(spark), within(IN_TIME), failing("PULSAR_FILE_UNREADABLE", f"`{option}`", missing):
        read(spark, {**options, option: missing})
