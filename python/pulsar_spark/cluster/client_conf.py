"""Pulsar's own ``client.conf``: each of its keys is translated, left out by a rule of the table here, or reported."""

from __future__ import annotations

import json
import os
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from pulsar_spark.cluster.credentials import Auth, Basic, Certificate, OAuth2, Plugin, Store, Tls, Token, TokenFile
from pulsar_spark.errors import PulsarOptionError
from pulsar_spark.options.checks import nearest_name

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "PULSAR_CLIENT_CONF"

_MOST_BYTES = 1 << 20
_ADDRESSES = {"brokerServiceUrl", "webServiceUrl", "serviceUrl"}
_LOGIN = {"authPlugin", "authParams"}
_TRUST = {"tlsTrustCertsFilePath", "tlsAllowInsecureConnection"}
_STORES = {"useKeyStoreTls"} | {
    f"tls{kind}Store{part}" for kind in ("Trust", "Key") for part in ("Type", "Path", "Password")
}
# Settings of the client with the same names.
_SETTINGS = {
    "tlsCertificateFilePath",
    "tlsKeyFilePath",
    "sslFactoryPlugin",
    "sslFactoryPluginParams",
    "proxyServiceUrl",
    "proxyProtocol",
}
LEFT_OUT: Mapping[str, str] = {
    "tlsEnableHostnameVerification": "host names are verified; `Tls(insecure_skip_hostname_verification=True)` says no",
    "webserviceTlsProvider": "it is for Pulsar's own tools, as the library of their admin client",
    "memoryLimit": "it is for Pulsar's own tools, as the size of their buffers",
    "cliExtensionsDirectory": "it is for Pulsar's own tools, as the folder of their extensions",
    "customCommandFactories": "it is for Pulsar's own tools, as the names of their extensions",
}
"""Keys that mean nothing here, and why."""
KNOWN = _ADDRESSES | _LOGIN | _TRUST | _STORES | _SETTINGS | LEFT_OUT.keys()
"""Every key that Pulsar's tools have."""

_PAIR = re.compile(r"((?:\\.|[^\\=:\s])+)\s*[=:]?\s*(.*)", re.DOTALL)
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_BLANKS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_AUTH = "org.apache.pulsar.client.impl.auth."


def arguments(path: str | Path | None) -> dict[str, Any]:
    """The fields of a `PulsarCluster` that a file describes.

    Args:
        path: The file; None for the one that the environment names.

    Raises:
        PulsarOptionError: There is no such file, or it cannot be used.
    """
    named = path or os.environ.get(VARIABLE)
    if not named:
        raise PulsarOptionError("PULSAR_OPTION_MISSING", option=VARIABLE, example="/opt/pulsar/conf/client.conf")
    file = Path(named)
    found = {key: value for key, value in parsed(_text(file)).items() if value}
    for key in sorted(found.keys() - KNOWN):
        nearest = nearest_name(key, KNOWN)
        meant = f"; the nearest name is {nearest}" if nearest else ""
        warnings.warn(f"{file}: Pulsar's tools have no key {key}, so it is left out{meant}", stacklevel=4)
    url = found.get("brokerServiceUrl") or found.get("webServiceUrl") or found.get("serviceUrl")
    if url is None:
        raise _unusable(file, "it names no cluster", "Set `brokerServiceUrl`")
    return {
        "service_url": url.rstrip("/"),
        "admin_url": found.get("webServiceUrl", "").rstrip("/") or None,
        "auth": _login(file, found),
        "tls": _tls(found),
        "client": {key: value for key, value in found.items() if key in _SETTINGS} or None,
    }


def parsed(text: str) -> dict[str, str]:
    """The properties of a file in Java's format."""
    lines, begun = [], ""
    for line in text.splitlines():
        part = line.lstrip(" \t\f")
        if not begun and (not part or part[0] in "#!"):
            continue
        goes_on = (len(part) - len(part.rstrip("\\"))) % 2 == 1
        begun += part[:-1] if goes_on else part
        if not goes_on:
            lines.append(begun)
            begun = ""
    pairs = map(_PAIR.fullmatch, [*lines, begun])
    return {_plain(pair[1]): _plain(pair[2]).strip() for pair in pairs if pair}


def _plain(text: str) -> str:
    def character(found: re.Match[str]) -> str:
        code = found[1]
        return chr(int(code[1:], 16)) if len(code) > 1 else _BLANKS.get(code, code)

    return _ESCAPED.sub(character, text)


def _text(file: Path) -> str:
    if not file.is_file():
        problem = "it is no file" if file.exists() else "it does not exist"
        raise _unusable(file, problem, f"Correct the path, or the variable {VARIABLE}")
    try:
        with file.open(encoding="utf-8") as stream:
            return stream.read(_MOST_BYTES)
    except (OSError, UnicodeDecodeError) as error:
        problem = "it is no text" if isinstance(error, UnicodeDecodeError) else str(error.strerror)
        raise _unusable(file, problem, "Name a readable file in the format of Pulsar's client.conf") from None


def _login(file: Path, found: Mapping[str, str]) -> Auth | None:
    """The login that a plug-in and its parameters stand for."""
    plugin, params = found.get("authPlugin"), found.get("authParams", "")
    if plugin is None:
        if params:
            raise _unusable(file, "`authParams` needs `authPlugin`", "Set both, or none")
        return None
    named = _named(params)
    match plugin.removeprefix(_AUTH):
        case "AuthenticationToken" if params.startswith("file:"):
            return TokenFile(unquote(urlsplit(params).path))
        case "AuthenticationToken" if params:
            return Token(named["token"] if named.keys() == {"token"} else params.removeprefix("token:"))
        case "AuthenticationTls" if named.keys() == {"tlsCertFile", "tlsKeyFile"}:
            return Certificate(named["tlsCertFile"], named["tlsKeyFile"])
        case "AuthenticationBasic" if named.keys() == {"userId", "password"}:
            return Basic(named["userId"], named["password"])
        case "oauth2.AuthenticationOAuth2" if {"issuerUrl", "privateKey"} <= named.keys() and not (
            named.keys() - {"issuerUrl", "privateKey", "audience", "scope", "type"}
        ):
            return OAuth2(named["issuerUrl"], named["privateKey"], named.get("audience"), named.get("scope"))
    return Plugin(plugin, params)


def _named(params: str) -> dict[str, str]:
    """The parameters by name: of JSON, or of ``key:value`` with commas between them."""
    try:
        given = json.loads(params)
    except (ValueError, RecursionError):
        pairs = [part.partition(":") for part in params.split(",")]
        return {key.strip(): value.strip() for key, sign, value in pairs if sign}
    return {key: str(value) for key, value in given.items()} if isinstance(given, dict) else {}


def _tls(found: Mapping[str, str]) -> Tls | None:
    stores = found.get("useKeyStoreTls", "").lower() == "true"
    trust, key = (_store(found, f"tls{kind}Store") if stores else None for kind in ("Trust", "Key"))
    any_ = True if found.get("tlsAllowInsecureConnection", "").lower() == "true" else None
    tls = Tls(found.get("tlsTrustCertsFilePath"), trust, key, insecure_trust_any_certificate=any_)
    return None if tls == Tls() else tls


def _store(found: Mapping[str, str], name: str) -> Store | None:
    path = found.get(f"{name}Path")
    return None if path is None else Store(path, found.get(f"{name}Password"), found.get(f"{name}Type", "JKS"))


def _unusable(file: Path, problem: str, instead: str) -> PulsarOptionError:
    return PulsarOptionError("PULSAR_CLIENT_CONF_UNUSABLE", file=str(file), problem=problem, instead=instead)
