"""Logins of users with passwords, and TLS whose keys and authorities are in Java's stores, against servers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization import pkcs12

from support.servers.auth_server import PLUGIN, PROVIDER, AuthServer
from support.servers.tls_server import TlsServer, running_tls_server
from support.spark.errors import failing, no_job, refused
from support.topics.reading import entries_by_level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

_NAMESPACE = "public/passwords"
_PASSWORDS = {"admin": "of-the-admin", "reader": "of-the-reader"}
_STORES = "of-the-stores"
_LEVELS = [("broker", "broker"), ("segment", "bookies")]
_ROWS = list(range(10))


def _write(spark: SparkSession, options: dict[str, str]) -> None:
    rows = spark.range(len(_ROWS)).selectExpr("string(id) as value")
    rows.write.format("pulsar").mode("append").options(**options).save()


def _read(spark: SparkSession, options: dict[str, str], deliverer: str) -> list[int]:
    """The numbers of a topic, of which one tier delivers every entry."""
    frame = spark.read.format("pulsar").options(**options).load()
    assert {name for name, entries in entries_by_level(frame).items() if entries} == {deliverer}
    return sorted(int(row.value) for row in frame.select("value").collect())


@pytest.fixture(scope="module")
def users(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AuthServer]:
    """A server that knows users by their passwords; ``reader`` may consume."""
    folder = tmp_path_factory.mktemp("users")
    jvm: Any = spark.sparkContext._jvm
    md5 = jvm.org.apache.commons.codec.digest.Md5Crypt
    known = folder / "htpasswd"
    known.write_text("".join(f"{user}:{md5.apr1Crypt(password)}\n" for user, password in _PASSWORDS.items()))
    providers = ",".join(f"{PROVIDER}{kind}" for kind in ("Token", "Basic"))
    users = AuthServer(folder, {"authenticationProviders": providers, "basicAuthConf": known.as_uri()})
    with users.server:
        users.admin.create_namespace(_NAMESPACE)
        users.admin.set_policy(_NAMESPACE, "permissions/reader", ["consume"])
        yield users


def _login(users: AuthServer, topic: str, user: str, password: str, **more: str) -> dict[str, str]:
    basic = {"auth.basic.userId": user, "auth.basic.password": password}
    return users.options(topic, operationTimeoutMs="15000", **basic, **more)


def test_a_user_with_a_password_writes_and_reads(spark: SparkSession, users: AuthServer) -> None:
    topic = f"persistent://{_NAMESPACE}/events"
    _write(spark, _login(users, topic, "admin", _PASSWORDS["admin"]))
    for level, deliverer in _LEVELS:
        more = {"readLevel": level, "admin.url": users.server.admin_url}
        for user, password in _PASSWORDS.items():
            assert _read(spark, _login(users, topic, user, password, **more), deliverer) == _ROWS
    with no_job(spark), failing("PULSAR_ACCESS_DENIED", topic, "`produce`"):
        _write(spark, _login(users, topic, "reader", _PASSWORDS["reader"]))


@pytest.mark.parametrize("user", ["admin", "nobody"])
def test_a_wrong_password_is_refused(spark: SparkSession, users: AuthServer, user: str) -> None:
    topic = f"persistent://{_NAMESPACE}/others"
    wrong = _login(users, topic, user, "wrong-canary")
    with no_job(spark), refused("PULSAR_ACCESS_DENIED", topic) as failure:
        spark.read.format("pulsar").options(**wrong).load().count()
    assert "canary" not in str(failure.value)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TlsServer, dict[str, str]]]:
    """A server with TLS, and options of the stores with its authority and with the certificate of ``admin``."""
    folder = tmp_path_factory.mktemp("stores")
    with running_tls_server(folder, "localhost") as server:
        certificate = server.authority.certificate("admin")
        key = serialization.load_pem_private_key(certificate.key_file.read_bytes(), None)
        mine = x509.load_pem_x509_certificate(certificate.file.read_bytes())
        authority = x509.load_pem_x509_certificate(server.authority.file.read_bytes())
        locked = serialization.BestAvailableEncryption(_STORES.encode())
        (folder / "keys.p12").write_bytes(
            pkcs12.serialize_key_and_certificates(b"admin", key, mine, [authority], locked)  # type: ignore[arg-type]
        )
        trusted = [pkcs12.PKCS12Certificate(authority, b"authority")]
        (folder / "trust.p12").write_bytes(pkcs12.serialize_java_truststore(trusted, locked))
        names = {"tlsKeyStore": "keys.p12", "tlsTrustStore": "trust.p12"}
        settings = {"useKeyStoreTls": "true"}
        for name, file in names.items():
            settings |= {f"{name}Type": "PKCS12", f"{name}Path": str(folder / file), f"{name}Password": _STORES}
        yield server, {f"pulsar.client.{name}": value for name, value in settings.items()}


def _with_stores(server: TlsServer, topic: str, options: dict[str, str]) -> dict[str, str]:
    """Without files of certificates, and without a token unless the options have it."""
    other = {"topic": topic, "admin.url": server.admin_url, **options}
    left = {"auth.token", "tls.trustCertsFile"} - set(options)
    return {key: value for key, value in server.options(**other).items() if key not in left}


def _certificate(settings: dict[str, str]) -> dict[str, str]:
    """The login of whoever is known by the certificate of the store."""
    parts = {f"keyStore{part}": settings[f"pulsar.client.tlsKeyStore{part}"] for part in ("Type", "Path", "Password")}
    plugin = f"{PLUGIN}AuthenticationKeyStoreTls"
    return {"pulsar.client.authPluginClassName": plugin, "pulsar.client.authParams": json.dumps(parts)}


@pytest.mark.parametrize(("level", "deliverer"), _LEVELS)
@pytest.mark.parametrize("login", ["certificate", "token"])
def test_keys_and_authorities_in_stores(
    spark: SparkSession, stores: tuple[TlsServer, dict[str, str]], level: str, deliverer: str, login: str
) -> None:
    server, settings = stores
    topic = f"persistent://public/default/stores-{level}-{login}"
    token = {"auth.token": server.auth_server.admin_token}
    options = _with_stores(server, topic, {**settings, **(token if login == "token" else _certificate(settings))})
    _write(spark, options)
    assert _read(spark, {**options, "readLevel": level}, deliverer) == _ROWS


@pytest.mark.parametrize("store", ["tlsTrustStorePassword", "tlsKeyStorePassword"])
def test_a_store_with_another_password(
    spark: SparkSession, stores: tuple[TlsServer, dict[str, str]], store: str
) -> None:
    server, settings = stores
    wrong = {**settings, f"pulsar.client.{store}": "wrong-canary"}
    options = _with_stores(server, "persistent://public/default/stores", wrong)
    with no_job(spark), refused("PULSAR_CLIENT_FAILED") as failure:
        spark.read.format("pulsar").options(**options).load().count()
    assert "canary" not in str(failure.value)
