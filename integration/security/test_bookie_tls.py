"""TLS to bookies: segments come over it, and a bookie that is not the right one is not read, which is said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from pulsar_spark.local import LocalPulsar
from support.servers.admin import Admin
from support.servers.certificates import Authority
from support.spark.errors import failing, no_job
from support.spark.waiting import IN_TIME, within
from support.topics.messages import produce
from support.topics.reading import entries_by_level

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession

    from support.servers.servers import Addresses

TOPIC = "events"
WRITTEN = list(range(30))
TRUSTED = "bookie.tls.trustCertsFile"
SKIP = "bookie.tls.insecureSkipHostnameVerification"
HOST = "127.0.0.1"


@dataclass(frozen=True)
class Encrypted:
    """A server whose bookie has a certificate and wants one of its readers, and the authority that vouches for both."""

    server: LocalPulsar
    authority: Authority

    def read(self, spark: SparkSession, level: str, **more: str) -> DataFrame:
        reader = self.authority.certificate("reader")
        options = {
            "service.url": self.server.service_url,
            "admin.url": self.server.admin_url,
            "topic": TOPIC,
            "readLevel": level,
            TRUSTED: str(self.authority.file),
            "bookie.tls.certFile": str(reader.file),
            "bookie.tls.keyFile": str(reader.key_file),
            **more,
        }
        return spark.read.format("pulsar").options(**{key: value for key, value in options.items() if value}).load()


@pytest.fixture(scope="module")
def encrypted(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Encrypted]:
    """A server with some messages, whose bookie is what its certificate says."""
    folder = tmp_path_factory.mktemp("encrypted")
    authority = Authority(folder)
    bookie = authority.certificate("bookie", host=HOST)
    config = {
        "tlsProvider": "JDK",
        "tlsProviderFactoryClass": "org.apache.bookkeeper.tls.TLSContextFactory",
        "tlsCertificatePath": str(bookie.file),
        "tlsKeyStoreType": "PEM",
        "tlsKeyStore": str(bookie.key_file),
        "tlsClientAuthentication": "true",
        "tlsTrustStoreType": "PEM",
        "tlsTrustStore": str(authority.file),
    }
    with LocalPulsar(data_dir=folder / "pulsar", config=config) as server:
        rows = spark.range(0, len(WRITTEN), 1, 2).selectExpr("string(id) as value")
        options = {"service.url": server.service_url, "topic": TOPIC}
        rows.write.format("pulsar").mode("append").options(**options).save()
        yield Encrypted(server, authority)


def values(frame: DataFrame) -> list[int]:
    return sorted(int(row[0]) for row in frame.select("value").collect())


def assert_comes_from(frame: DataFrame, deliverer: str) -> None:
    assert {name for name, entries in entries_by_level(frame).items() if entries} == {deliverer}
    assert values(frame) == WRITTEN


@pytest.mark.parametrize("level", ["segment", "auto"])
def test_segments_over_tls(spark: SparkSession, encrypted: Encrypted, level: str) -> None:
    assert_comes_from(encrypted.read(spark, level), "bookies")


def assert_refused(spark: SparkSession, server: Encrypted, reason: str, **options: str) -> None:
    """Segment reads fail and say why, others go to the broker."""
    with within(IN_TIME), failing("PULSAR_SEGMENT_READ_FAILED", reason):
        values(server.read(spark, "segment", **options))
    with within(IN_TIME):
        assert_comes_from(server.read(spark, "auto", **options), "broker")


def test_a_bookie_of_another_authority(spark: SparkSession, encrypted: Encrypted, tmp_path: Path) -> None:
    assert_refused(spark, encrypted, f"bookie {HOST}:", **{TRUSTED: str(Authority(tmp_path).file)})


def test_a_bookie_that_wants_to_know_who_reads(spark: SparkSession, encrypted: Encrypted) -> None:
    nobody = {"bookie.tls.certFile": "", "bookie.tls.keyFile": ""}
    assert_refused(spark, encrypted, "no certificate of the client's own (bookie.tls.certFile)", **nobody)


def test_a_bookie_without_tls(
    spark: SparkSession, encrypted: Encrypted, client: pulsar_client.Client, topic: str, pulsar: Addresses
) -> None:
    produce(client, topic, [b"%d" % number for number in WRITTEN])
    plain = {"service.url": pulsar.service_url, "admin.url": pulsar.admin_url, "topic": topic}
    assert_refused(spark, encrypted, "connections use TLS", **plain)


def test_a_bookie_that_is_another_host_is_read_on_request_alone(spark: SparkSession, encrypted: Encrypted) -> None:
    (bookie,) = Admin(encrypted.server.admin_url).call("GET", "bookies/all")["bookies"]
    port = bookie["bookieId"].rpartition(":")[2]
    elsewhere = {"bookieAddresses": f"{HOST}:{port}=localhost:{port}"}
    assert_refused(spark, encrypted, "matching localhost found", **elsewhere)
    assert_comes_from(encrypted.read(spark, "segment", **elsewhere, **{SKIP: "true"}), "bookies")


@pytest.mark.parametrize("option", [TRUSTED, "bookie.tls.certFile", "bookie.tls.keyFile"])
@pytest.mark.parametrize(
    ("content", "condition"), [(None, "PULSAR_FILE_UNREADABLE"), ("not PEM", "PULSAR_FILE_NOT_PEM")]
)
def test_files_are_looked_at_before_any_task_runs(
    spark: SparkSession, encrypted: Encrypted, tmp_path: Path, option: str, content: str | None, condition: str
) -> None:
    file = tmp_path / "file.pem"
    if content:
        file.write_text(content)
    with no_job(spark), within(IN_TIME), failing(condition, f"`{option}`", str(file)):
        values(encrypted.read(spark, "auto", **{option: str(file)}))
