"""A cluster as options of the connector, and what is shown of it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, cast

import pytest

from pulsar_spark import (
    Basic,
    Certificate,
    OAuth2,
    Plugin,
    PulsarCluster,
    PulsarOptionError,
    PulsarReadOptions,
    Store,
    Tls,
    Token,
    TokenFile,
)

URL = "pulsar://localhost:6650"
CANARY = "canary-4711"
VARIABLES = ("SERVICE_URL", "ADMIN_URL", "TOKEN", "TOKEN_FILE", "TLS_TRUST_CERTS_FILE", "CLIENT_CONF")


@pytest.fixture(autouse=True)
def nothing_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(f"PULSAR_{name}", raising=False)


@pytest.mark.parametrize(
    ("auth", "options"),
    [
        (Token("t"), {"auth.token": "t"}),
        (TokenFile(Path("/t")), {"auth.tokenFile": "/t"}),
        (Basic("me", "p"), {"auth.basic.userId": "me", "auth.basic.password": "p"}),
        (Certificate("/c", "/k"), {"auth.tls.certFile": "/c", "auth.tls.keyFile": "/k"}),
        (
            OAuth2("https://i", Path("/key.json"), audience="a"),
            {
                "auth.oauth2.issuerUrl": "https://i",
                "auth.oauth2.credentialsUrl": "file:///key.json",
                "auth.oauth2.audience": "a",
            },
        ),
        (
            Plugin("x.Y", {"a": 1}),
            {"pulsar.client.authPluginClassName": "x.Y", "pulsar.client.authParams": '{"a": 1}'},
        ),
        (Plugin("x.Y"), {"pulsar.client.authPluginClassName": "x.Y"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_login_is_options(auth: Any, options: dict[str, str]) -> None:  # noqa: ANN401
    assert PulsarCluster(URL, auth=auth).options() == {"service.url": URL, **options}


def test_the_whole_of_a_cluster() -> None:
    tls = Tls(Path("/ca"), key_store=Store("/ks", "p", "PKCS12"), insecure_skip_hostname_verification=True)
    admin = Plugin("x.Admin", "token:t")
    cluster = PulsarCluster(
        URL, admin_url="http://a", auth=Plugin("x.Y", "z"), admin_auth=admin, tls=tls, client={"numIoThreads": 2}
    )
    shared = {
        "service.url": URL,
        "admin.url": "http://a",
        "admin.auth.pluginClassName": "x.Admin",
        "admin.auth.params": "token:t",
        "tls.trustCertsFile": "/ca",
        "tls.insecureSkipHostnameVerification": "true",
        "pulsar.client.useKeyStoreTls": "true",
        "pulsar.client.tlsKeyStorePath": "/ks",
        "pulsar.client.tlsKeyStorePassword": "p",
        "pulsar.client.tlsKeyStoreType": "PKCS12",
        "pulsar.client.authPluginClassName": "x.Y",
        "pulsar.client.authParams": "z",
        "pulsar.client.numIoThreads": "2",
    }
    assert cluster.options() == shared
    assert cluster.write_options().to_options() == shared
    more = PulsarReadOptions(admin_url="http://b", client={"numIoThreads": 3}, start="earliest")
    assert cluster.read_options(more).to_options() == {
        **shared,
        "admin.url": "http://b",
        "pulsar.client.numIoThreads": "3",
        "startingOffsets": "earliest",
    }
    assert pickle.loads(pickle.dumps(cluster)) == cluster
    assert hash(cluster) == hash(PulsarCluster(**vars(cluster)))


@pytest.mark.parametrize(
    "given",
    [
        {"auth": Token(CANARY)},
        {"auth": Basic("me", CANARY)},
        {"auth": OAuth2("https://i", f"data:,{CANARY}")},
        {"auth": Plugin("x.Y", {"token": CANARY})},
        {"admin_auth": Plugin("x.Y", CANARY)},
        {"tls": Tls(trust_store=Store("/ts", CANARY))},
        {"client": {"tlsKeyStorePassword": CANARY, "tlsKeyStorePath": "/k", "useKeyStoreTls": True}},
    ],
    ids=lambda given: next(iter(given)),
)
def test_no_secret_is_shown(given: dict[str, Any]) -> None:
    cluster = PulsarCluster(URL, **given)
    for text in (repr(cluster), str(cluster), repr(cluster.read_options()), f"{given.get('auth', '')}"):
        assert CANARY not in text
    assert "'***'" in repr(cluster)
    assert CANARY in str(cluster.options())


def test_what_is_shown() -> None:
    assert repr(PulsarCluster(URL, auth=TokenFile("/t"))) == (
        f"PulsarCluster(service_url='{URL}', auth=TokenFile(path='/t'))"
    )


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"service_url": "localhost:6650"}, r"PULSAR_OPTION_INVALID.*`service_url`.*perhaps `pulsar://localhost:6650`"),
        ({"auth": "eyJ-a-token"}, r"PULSAR_OPTION_INVALID.*`auth` is `\*\*\*`, but must be Token\(\.\.\.\) or"),
        ({"auth": Token("")}, r"PULSAR_OPTION_INVALID.*`auth_token` is `\*\*\*`"),
        ({"tls": "/ca.pem"}, r"PULSAR_OPTION_INVALID.*`tls`.*must be Tls\(\.\.\.\)"),
        ({"admin_auth": Token("t")}, r"PULSAR_OPTION_INVALID.*`admin_auth`.*must be Plugin\(\.\.\.\)"),
        ({"client": {"numIoThread": 2}}, r"PULSAR_OPTION_UNKNOWN.*the nearest name is `pulsar.client.numIoThreads`"),
        ({"client": {"serviceUrl": URL}}, "PULSAR_OPTION_MANAGED"),
        ({"auth": Token("t"), "client": {"authPluginClassName": "x.Y"}}, "PULSAR_OPTION_CONFLICT"),
    ],
)
def test_a_mistake_is_reported_when_the_cluster_is_described(given: dict[str, Any], text: str) -> None:
    with pytest.raises(PulsarOptionError, match=text):
        PulsarCluster(**{"service_url": URL, **given})


def test_another_auth_for_one_call_is_refused() -> None:
    cluster = PulsarCluster(URL, auth=Token("t"))
    with pytest.raises(PulsarOptionError, match=r"PULSAR_OPTION_CONFLICT.*auth_token.*auth_token_file"):
        cluster.read_options(PulsarReadOptions(auth_token_file="/t"))


def test_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(PulsarOptionError, match=r"PULSAR_OPTION_MISSING.*`PULSAR_SERVICE_URL`"):
        PulsarCluster.from_environment()
    file = tmp_path / "client.conf"
    file.write_text("brokerServiceUrl=pulsar://file:6650\nwebServiceUrl=http://file:8080/\ntlsTrustCertsFilePath=/ca\n")
    monkeypatch.setenv("PULSAR_CLIENT_CONF", str(file))
    monkeypatch.setenv("PULSAR_TOKEN", "")
    assert PulsarCluster.from_environment() == PulsarCluster(
        "pulsar://file:6650", admin_url="http://file:8080", tls=Tls("/ca")
    )
    named = {"SERVICE_URL": URL, "ADMIN_URL": "http://a", "TOKEN_FILE": "/t", "TLS_TRUST_CERTS_FILE": "/other"}
    for name, value in named.items():
        monkeypatch.setenv(f"PULSAR_{name}", value)
    expected = PulsarCluster(URL, admin_url="http://a", auth=TokenFile("/t"), tls=Tls("/other"))
    assert PulsarCluster.from_environment() == expected
    monkeypatch.setenv("PULSAR_TOKEN", "t")
    with pytest.raises(PulsarOptionError, match=r"PULSAR_OPTION_CONFLICT.*PULSAR_TOKEN"):
        PulsarCluster.from_environment()
    monkeypatch.delenv("PULSAR_TOKEN_FILE")
    assert PulsarCluster.from_environment().auth == Token("t")


def test_a_cluster_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        cast("Any", PulsarCluster(URL)).service_url = "pulsar://b"
