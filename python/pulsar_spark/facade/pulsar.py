"""A cluster in a session: reads, writes, and tables of metadata."""

from __future__ import annotations

import re

from pulsar_spark._spark import DataFrame
from pulsar_spark.errors import PulsarOptionError
from pulsar_spark.facade.diagnosis import Examining
from pulsar_spark.facade.methods import reading, writing
from pulsar_spark.io import read_pulsar, read_pulsar_stream, write_pulsar, write_pulsar_stream
from pulsar_spark.options.names import is_secret

_ORDER = ("__publishTime", "__ledgerId", "__entryId", "__batchIndex")
CATALOG = "io.github.pulsarspark.catalog.PulsarCatalog"
_REFERENCES = {"params": re.compile(r"\s*file:", re.I), "credentialsurl": re.compile(r"\s*(file|https?):", re.I)}
"""Ends of the names of options that may refer to a secret, with how such a value begins."""
_LATER = "it hides only what is set before it starts"


class Pulsar(Examining):
    """A cluster in a session, as `PulsarCluster.on` returns it.

    Attributes:
        spark: The session.
        cluster: The cluster.

    Examples:
        >>> pulsar = PulsarCluster("pulsar://localhost:6650").on(spark)
        >>> pulsar.write(rides, "rides")
        >>> pulsar.read("rides", start="-2h").show()
    """

    read = reading("read", read_pulsar)
    read_stream = reading("read_stream", read_pulsar_stream)
    write = writing("write", write_pulsar)
    write_stream = writing("write_stream", write_pulsar_stream)

    def register_catalog(self, name: str = "pulsar") -> None:
        """Make the cluster a catalog of the session, whose tables are the topics.

        The settings of a catalog are settings of Spark, which writes those that a program sets to its event log. So a
        secret is refused unless it is in a file. Spark keeps a catalog with the settings that it had in its first
        query.

        Args:
            name: Its name in SQL.

        Raises:
            PulsarOptionError: The name is none of a catalog or in use with other settings, or a secret is in no file.

        Examples:
            >>> pulsar.register_catalog()
            >>> spark.sql("SHOW TABLES IN pulsar.public.default").show()
        """
        if not name.isidentifier() or name == "spark_catalog":
            allowed = "a name of letters, digits and _ other than spark_catalog"
            raise PulsarOptionError("PULSAR_OPTION_INVALID", option="name", value=name, allowed=allowed)
        options = self.cluster.options()
        prefix = f"spark.sql.catalog.{name}"
        for key, value in options.items():
            if is_secret(key) and not _is_reference(key, value):
                raise PulsarOptionError("PULSAR_SETTING_SECRET", setting=f"{prefix}.{key}", why=_LATER)
        settings = {prefix: CATALOG, **{f"{prefix}.{key}": value for key, value in options.items()}}
        present = {k: v for k, v in self.spark.conf.getAll.items() if k == prefix or k.startswith(f"{prefix}.")}
        if present and present != settings and self.spark.sql(f"SHOW CATALOGS LIKE '{name}'").collect():
            raise PulsarOptionError("PULSAR_CATALOG_REGISTERED", catalog=name)
        for key in present.keys() - settings.keys():
            self.spark.conf.unset(key)
        for key, value in settings.items():
            self.spark.conf.set(key, value)

    def peek(self, topic: str, n: int = 10) -> DataFrame:
        """Read the newest messages of a topic.

        Args:
            topic: The topic.
            n: Number of messages.

        Returns:
            The newest ``n`` rows, the newest first, with the columns of `read_pulsar`.

        Raises:
            PulsarOptionError: An argument is wrong.
            PulsarSparkError: The topic does not exist, or the cluster denies the read.

        Examples:
            >>> pulsar.peek("rides", 3).show()
        """
        if n < 1:
            raise PulsarOptionError("PULSAR_OPTION_INVALID", option="n", value=str(n), allowed="at least 1")
        return self.read(topic, start=f"last {n}").orderBy(*_ORDER, ascending=False).limit(n)


def _is_reference(key: str, value: str) -> bool:
    """True if the value says where the secret is."""
    return any(key.lower().endswith(end) and pattern.match(value) for end, pattern in _REFERENCES.items())
