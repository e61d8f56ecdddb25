"""Pulsar's own client.conf: every key of it, its format, and what is wrong with a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pulsar_spark import (
    Basic,
    Certificate,
    OAuth2,
    Plugin,
    PulsarCluster,
    PulsarOptionError,
    Store,
    Tls,
    Token,
    TokenFile,
)
from pulsar_spark.cluster.client_conf import KNOWN, LEFT_OUT, parsed

if TYPE_CHECKING:
    from pathlib import Path

AUTH = "org.apache.pulsar.client.impl.auth."
OAUTH2 = f"authPlugin={AUTH}oauth2.AuthenticationOAuth2\nauthParams="
# The file that Pulsar 4 comes with, without its comments.
SHIPPED = """
webServiceUrl=http://localhost:8080/
brokerServiceUrl=pulsar://localhost:6650/
#proxyServiceUrl=
authPlugin=
authParams=
tlsAllowInsecureConnection=false
tlsEnableHostnameVerification=false
tlsTrustCertsFilePath=
tlsCertificateFilePath=
tlsKeyFilePath=
useKeyStoreTls=false
tlsTrustStoreType=JKS
tlsTrustStorePath=
tlsTrustStorePassword=
tlsKeyStoreType=JKS
tlsKeyStorePath=
tlsKeyStorePassword=
webserviceTlsProvider=
sslFactoryPlugin =
sslFactoryPluginParams =
"""


def cluster(folder: Path, text: str) -> PulsarCluster:
    file = folder / "client.conf"
    file.write_text(text, encoding="utf-8")
    return PulsarCluster.from_client_conf(file)


def test_the_file_that_pulsar_comes_with(tmp_path: Path) -> None:
    assert cluster(tmp_path, SHIPPED) == PulsarCluster("pulsar://localhost:6650", admin_url="http://localhost:8080")
    assert parsed(SHIPPED).keys() <= KNOWN


@pytest.mark.parametrize(
    ("line", "given"),
    [
        (f"authPlugin={AUTH}AuthenticationToken\nauthParams=token:a.b.c", {"auth": Token("a.b.c")}),
        (f"authPlugin={AUTH}AuthenticationToken\nauthParams=a.b.c", {"auth": Token("a.b.c")}),
        (f'authPlugin={AUTH}AuthenticationToken\nauthParams={{"token":"a.b.c"}}', {"auth": Token("a.b.c")}),
        (f"authPlugin={AUTH}AuthenticationToken\nauthParams=file:///a%20b/t", {"auth": TokenFile("/a b/t")}),
        (f"authPlugin={AUTH}AuthenticationToken\nauthParams=file:/t", {"auth": TokenFile("/t")}),
        (
            f"authPlugin={AUTH}AuthenticationTls\nauthParams=tlsCertFile:/c.pem,tlsKeyFile:/k.pem",
            {"auth": Certificate("/c.pem", "/k.pem")},
        ),
        (
            f'authPlugin={AUTH}AuthenticationBasic\nauthParams={{"userId":"me","password":"p"}}',
            {"auth": Basic("me", "p")},
        ),
        (
            OAUTH2 + '{"type":"client_credentials","issuerUrl":"https://i","privateKey":"file:///k","audience":"a"}',
            {"auth": OAuth2("https://i", "file:///k", "a")},
        ),
        (
            OAUTH2 + '{"issuerUrl":"https://i","privateKey":"file:///k","connectTimeout":"PT5S"}',
            {
                "auth": Plugin(
                    f"{AUTH}oauth2.AuthenticationOAuth2",
                    '{"issuerUrl":"https://i","privateKey":"file:///k","connectTimeout":"PT5S"}',
                )
            },
        ),
        ("authPlugin=x.Y\nauthParams=a:b,c:d", {"auth": Plugin("x.Y", "a:b,c:d")}),
        ("authPlugin=x.Y", {"auth": Plugin("x.Y")}),
        ("tlsTrustCertsFilePath=/ca.pem", {"tls": Tls("/ca.pem")}),
        ("tlsAllowInsecureConnection=TRUE", {"tls": Tls(insecure_trust_any_certificate=True)}),
        (
            "useKeyStoreTls=true\ntlsTrustStoreType=PKCS12\ntlsTrustStorePath=/t\ntlsTrustStorePassword=p",
            {"tls": Tls(trust_store=Store("/t", "p", "PKCS12"))},
        ),
        ("useKeyStoreTls=true\ntlsKeyStorePath=/k", {"tls": Tls(key_store=Store("/k"))}),
        ("tlsKeyStorePath=/k\ntlsKeyStorePassword=p", {}),
        (
            "tlsCertificateFilePath=/c\ntlsKeyFilePath=/k",
            {"client": {"tlsCertificateFilePath": "/c", "tlsKeyFilePath": "/k"}},
        ),
        (
            "proxyServiceUrl=pulsar+ssl://p:6651\nproxyProtocol=SNI",
            {"client": {"proxyServiceUrl": "pulsar+ssl://p:6651", "proxyProtocol": "SNI"}},
        ),
        *((f"{key}=1", {}) for key in LEFT_OUT),
    ],
)
def test_each_key(line: str, given: dict[str, Any], tmp_path: Path) -> None:
    expected = PulsarCluster("pulsar+ssl://b:6651", admin_url="https://a", **given)
    assert cluster(tmp_path, f"brokerServiceUrl=pulsar+ssl://b:6651\nwebServiceUrl=https://a\n{line}\n") == expected


def test_the_address_is_looked_for_as_by_pulsars_tools(tmp_path: Path) -> None:
    assert cluster(tmp_path, "webServiceUrl=http://a:8080").service_url == "http://a:8080"
    assert cluster(tmp_path, "serviceUrl=http://a:8080").options() == {"service.url": "http://a:8080"}


def test_the_format_is_that_of_java() -> None:
    text = "! c\n  # c\na = 1\\\n   2\nb:x\nc  d\ne=\\u0041\\\\\\n\nf=a\\=b\ng\n=nothing\nh=last\\"
    assert parsed(text) == {"a": "12", "b": "x", "c": "d", "e": "A\\", "f": "a=b", "g": "", "h": "last"}
    assert parsed("a=1\r\na=2\r\n") == {"a": "2"}


def test_a_key_that_no_tool_has_is_reported(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="no key brokerServiceURL.*nearest name is brokerServiceUrl"):
        found = cluster(tmp_path, "brokerServiceURL=pulsar://typo:1\nwebServiceUrl=http://a\n")
    assert found.service_url == "http://a"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("authPlugin=x.Y", "it names no cluster"),
        ("serviceUrl=http://a\nauthParams=t", "`authParams` needs `authPlugin`"),
    ],
)
def test_a_file_that_cannot_be_used(text: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(PulsarOptionError, match=f"PULSAR_CLIENT_CONF_UNUSABLE.*client.conf.*{problem}"):
        cluster(tmp_path, text)


def test_a_file_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PULSAR_CLIENT_CONF", raising=False)
    with pytest.raises(PulsarOptionError, match=r"PULSAR_OPTION_MISSING.*PULSAR_CLIENT_CONF"):
        PulsarCluster.from_client_conf()
    monkeypatch.setenv("PULSAR_CLIENT_CONF", str(tmp_path / "none"))
    with pytest.raises(PulsarOptionError, match=r"PULSAR_CLIENT_CONF_UNUSABLE.*none, .*it does not exist"):
        PulsarCluster.from_client_conf()
    for file in (tmp_path, "/dev/zero"):
        with pytest.raises(PulsarOptionError, match=r"PULSAR_CLIENT_CONF_UNUSABLE.*it is no file"):
            PulsarCluster.from_client_conf(file)
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PulsarOptionError, match=r"PULSAR_CLIENT_CONF_UNUSABLE.*it is no text"):
        PulsarCluster.from_client_conf(binary)


def test_a_mistake_in_a_value_is_that_of_the_option(tmp_path: Path) -> None:
    with pytest.raises(PulsarOptionError, match=r"PULSAR_OPTION_INCOMPLETE.*tlsKeyFilePath"):
        cluster(tmp_path, "serviceUrl=http://a\ntlsCertificateFilePath=/c")
