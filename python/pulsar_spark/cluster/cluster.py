"""One cluster: where it is, who asks, and what is trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pulsar_spark.cluster import client_conf, environment
from pulsar_spark.cluster.credentials import (
    Auth,
    Basic,
    Certificate,
    Masked,
    OAuth2,
    Plugin,
    Tls,
    Token,
    TokenFile,
)
from pulsar_spark.errors import PulsarOptionError
from pulsar_spark.options import PulsarReadOptions, PulsarWriteOptions
from pulsar_spark.options.checks import MASK
from pulsar_spark.options.resolve import SERVICE_URL_VARIABLE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pulsar_spark.facade import Pulsar

_KINDS: Mapping[str, tuple[type, ...]] = {
    "auth": (Token, TokenFile, Basic, Certificate, OAuth2, Plugin),
    "admin_auth": (Plugin,),
    "tls": (Tls,),
}


@dataclass(frozen=True, repr=False)
class PulsarCluster(Masked):
    """A cluster with its credentials, which are not shown.

    Attributes:
        service_url: The address of the brokers.
        admin_url: The address of the admin service, which direct reads and most tables of metadata need.
        auth: How a role is known: `Token`, `TokenFile`, `Basic`, `Certificate`, `OAuth2` or `Plugin`.
        admin_auth: The same for the admin service, where it differs.
        tls: What connections over TLS trust.
        client: Any setting of the Pulsar Java client, by its own name.

    Examples:
        >>> cluster = PulsarCluster("pulsar+ssl://pulsar.example.com:6651", auth=TokenFile("/etc/pulsar/token"))
        >>> cluster.on(spark).read("rides", start="-2h")
    """

    service_url: str
    admin_url: str | None = field(default=None, kw_only=True)
    auth: Auth | None = field(default=None, kw_only=True)
    admin_auth: Plugin | None = field(default=None, kw_only=True)
    tls: Tls | None = field(default=None, kw_only=True)
    client: Mapping[str, Any] | None = field(default=None, kw_only=True, hash=False, metadata={"secret": True})

    def __post_init__(self) -> None:
        for name, kinds in _KINDS.items():
            value = getattr(self, name)
            if value is not None and not isinstance(value, kinds):
                allowed = " or ".join(f"{kind.__name__}(...)" for kind in kinds)
                raise PulsarOptionError("PULSAR_OPTION_INVALID", option=name, value=MASK, allowed=allowed)
        self.options()

    @classmethod
    def from_client_conf(cls, path: str | Path | None = None) -> PulsarCluster:
        """The cluster of a ``client.conf``, the file of Pulsar's own command line tools.

        Args:
            path: The file. Default: the one that the environment variable ``PULSAR_CLIENT_CONF`` names.

        Returns:
            The cluster. docs/use/cluster.md says what becomes of each key.

        Raises:
            PulsarOptionError: There is no such file, or it cannot be used.

        Examples:
            >>> PulsarCluster.from_client_conf("/opt/pulsar/conf/client.conf").on(spark).read("rides")
        """
        return cls(**client_conf.arguments(path))

    @classmethod
    def from_environment(cls) -> PulsarCluster:
        """The cluster that the environment names.

        ``PULSAR_SERVICE_URL``, ``PULSAR_ADMIN_URL``, ``PULSAR_TOKEN_FILE`` or ``PULSAR_TOKEN``, and
        ``PULSAR_TLS_TRUST_CERTS_FILE``. Where ``PULSAR_CLIENT_CONF`` names a file, they override what is in it.

        Returns:
            The cluster.

        Raises:
            PulsarOptionError: Nothing names a service URL, or a value is wrong.

        Examples:
            >>> PulsarCluster.from_environment().on(spark).read("rides")
        """
        given = environment.arguments()
        if "service_url" not in given:
            example = "pulsar://localhost:6650"
            raise PulsarOptionError("PULSAR_OPTION_MISSING", option=SERVICE_URL_VARIABLE, example=example)
        return cls(**given)

    def options(self) -> dict[str, str]:
        """The options that connect, as ``spark.read.format("pulsar").options(...)`` takes them, secrets included.

        Returns:
            The options by their names in Spark.
        """
        return self.read_options().to_options()

    def read_options(self, more: PulsarReadOptions | None = None) -> PulsarReadOptions:
        """The options of a read of this cluster.

        Args:
            more: Further options, which override these.

        Returns:
            All of them.
        """
        own = PulsarReadOptions(**self._arguments())
        return own if more is None else more.over(own)

    def write_options(self, more: PulsarWriteOptions | None = None) -> PulsarWriteOptions:
        """The options of a write to this cluster.

        Args:
            more: Further options, which override these.

        Returns:
            All of them.
        """
        own = PulsarWriteOptions(**self._arguments())
        return own if more is None else more.over(own)

    def on(self, spark: SparkSession) -> Pulsar:
        """Join the cluster to a session.

        Args:
            spark: The session, a classic one or one of Spark Connect.

        Returns:
            Reads and writes of the cluster.

        Raises:
            PulsarImportError: This pyspark is not supported.
            PulsarOptionError: ``spark`` is something else.
        """
        from pulsar_spark.facade import Pulsar

        return Pulsar(spark, self)

    def _arguments(self) -> dict[str, Any]:
        """Fields that `PulsarReadOptions` and `PulsarWriteOptions` share."""
        given: dict[str, Any] = {"service_url": self.service_url, "admin_url": self.admin_url}
        if self.admin_auth is not None:
            given["admin_auth_plugin_class_name"] = self.admin_auth.class_name
            given["admin_auth_params"] = self.admin_auth.text or None
        client: dict[str, Any] = {}
        for part in (self.tls, self.auth):
            named = {} if part is None else part.arguments()
            client |= named.pop("client", {})
            given |= named
        client |= self.client or {}
        return {**given, "client": client or None}
