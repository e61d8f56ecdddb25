"""A cluster in a session: reads, writes, and tables of metadata."""

from __future__ import annotations

from pulsar_spark._spark import DataFrame
from pulsar_spark.errors import PulsarOptionError
from pulsar_spark.facade.diagnosis import Examining
from pulsar_spark.facade.methods import reading, writing
from pulsar_spark.io import read_pulsar, read_pulsar_stream, write_pulsar, write_pulsar_stream


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
        return self.read(topic, start=f"last {n}").orderBy("__publishTime", ascending=False).limit(n)
