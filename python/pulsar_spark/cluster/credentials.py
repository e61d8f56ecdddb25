"""Credentials of a role, and what this machine trusts. Secrets are not shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeAlias

from pulsar_spark.options.checks import MASK

_IS_SECRET = {"secret": True}


class Masked:
    """The base of frozen dataclasses that do not show their secrets."""

    def __repr__(self) -> str:
        named: Any = self
        shown = {one: getattr(self, one.name) for one in fields(named)}
        given = [f"{one.name}={MASK if one.metadata else value!r}" for one, value in shown.items() if value is not None]
        return f"{type(self).__name__}({', '.join(given)})"


@dataclass(frozen=True, repr=False)
class Token(Masked):
    """A token (JWT). `TokenFile` keeps it out of the program.

    Attributes:
        token: The token itself.
    """

    token: str = field(metadata=_IS_SECRET)

    def arguments(self) -> dict[str, Any]:
        """Fields of `PulsarReadOptions` and `PulsarWriteOptions`."""
        return {"auth_token": self.token}


@dataclass(frozen=True, repr=False)
class TokenFile(Masked):
    """A file with a token, which is read again for each connection: on the driver and on each executor.

    Attributes:
        path: The file.
    """

    path: str | Path

    def arguments(self) -> dict[str, Any]:
        """Fields of `PulsarReadOptions` and `PulsarWriteOptions`."""
        return {"auth_token_file": str(self.path)}


@dataclass(frozen=True, repr=False)
class Basic(Masked):
    """A user and a password.

    Attributes:
        user_id: The user.
        password: The password.
    """

    user_id: str
    password: str = field(metadata=_IS_SECRET)

    def arguments(self) -> dict[str, Any]:
        """Fields of `PulsarReadOptions` and `PulsarWriteOptions`."""
        return {"auth_basic_user_id": self.user_id, "auth_basic_password": self.password}


@dataclass(frozen=True, repr=False)
class Certificate(Masked):
    """A client certificate, which names the role.

    Attributes:
        cert_file: The certificate, a PEM file.
        key_file: Its private key, a PEM file.
    """

    cert_file: str | Path
    key_file: str | Path

    def arguments(self) -> dict[str, Any]:
        """Fields of `PulsarReadOptions` and `PulsarWriteOptions`."""
        return {"auth_tls_cert_file": str(self.cert_file), "auth_tls_key_file": str(self.key_file)}


@dataclass(frozen=True, repr=False)
class OAuth2(Masked):
    """The client-credentials flow of OAuth 2.0.

    Attributes:
        issuer_url: The issuer.
        credentials_url: The credentials: a path, a ``file:`` URL, or a ``data:`` URL, which has them in it.
        audience: What the issuer requires.
        scope: What the issuer requires.
    """

    issuer_url: str
    credentials_url: str | Path = field(metadata=_IS_SECRET)
    audience: str | None = None
    scope: str | None = None

    def arguments(self) -> dict[str, Any]:
        """Fields of `PulsarReadOptions` and `PulsarWriteOptions`."""
        url = self.credentials_url
        return {
            "auth_oauth2_issuer_url": self.issuer_url,
            "auth_oauth2_credentials_url": url.absolute().as_uri() if isinstance(url, Path) else url,
            "auth_oauth2_audience": self.audience,
            "auth_oauth2_scope": self.scope,
        }


@dataclass(frozen=True, repr=False)
class Plugin(Masked):
    """Any plug-in of the Pulsar client for authentication.

    Attributes:
        class_name: Its class, by the name that it has in the Pulsar client.
        params: Its parameters: a text as the plug-in takes it, or a dict, which becomes JSON.
    """

    class_name: str
    params: str | Mapping[str, Any] = field(default="", metadata=_IS_SECRET, hash=False)

    @property
    def text(self) -> str:
        """The parameters as text."""
        return self.params if isinstance(self.params, str) else json.dumps(dict(self.params))

    def arguments(self) -> dict[str, Any]:
        """Fields of `PulsarReadOptions` and `PulsarWriteOptions`."""
        params = {"authParams": self.text} if self.text else {}
        return {"client": {"authPluginClassName": self.class_name, **params}}


Auth: TypeAlias = Token | TokenFile | Basic | Certificate | OAuth2 | Plugin


@dataclass(frozen=True, repr=False)
class Store(Masked):
    """A key store or trust store of Java.

    Attributes:
        path: The file.
        password: Its password.
        type: ``JKS`` or ``PKCS12``.
    """

    path: str | Path
    password: str | None = field(default=None, metadata=_IS_SECRET)
    type: str = "JKS"

    def settings(self, name: str) -> dict[str, str]:
        """Settings of the Pulsar client: those that begin with ``name``."""
        password = {} if self.password is None else {f"{name}Password": self.password}
        return {f"{name}Path": str(self.path), f"{name}Type": self.type, **password}


@dataclass(frozen=True, repr=False)
class Tls(Masked):
    """Trust of connections over TLS. The host name of a certificate is checked.

    Attributes:
        trust_certs_file: A PEM file with the certificate of the cluster's authority. Default: what the JVM trusts.
        trust_store: The same as a store of Java.
        key_store: A store of Java with a certificate of this client.
        insecure_skip_hostname_verification: Accept a certificate of another host.
        insecure_trust_any_certificate: Accept any certificate.
    """

    trust_certs_file: str | Path | None = None
    trust_store: Store | None = None
    key_store: Store | None = None
    insecure_skip_hostname_verification: bool | None = None
    insecure_trust_any_certificate: bool | None = None

    def arguments(self) -> dict[str, Any]:
        """Fields of `PulsarReadOptions` and `PulsarWriteOptions`."""
        stores = {"tlsTrustStore": self.trust_store, "tlsKeyStore": self.key_store}
        settings = {key: value for name, one in stores.items() if one for key, value in one.settings(name).items()}
        return {
            "tls_trust_certs_file": None if self.trust_certs_file is None else str(self.trust_certs_file),
            "tls_insecure_skip_hostname_verification": self.insecure_skip_hostname_verification,
            "tls_insecure_trust_any_certificate": self.insecure_trust_any_certificate,
            "client": {"useKeyStoreTls": "true", **settings} if settings else {},
        }
