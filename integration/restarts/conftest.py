"""What tests of restarts share: topics that grow, and a file system that fails or halts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from restarts.killing import Jars, added_halting, halting_jar

from support.topics.messages import produce, read_all
from support.topics.reading import Seen, existing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

    from support.servers.admin import Admin


@dataclass
class Topics:
    """Two topics, one of which has more partitions in each round."""

    admin: Admin
    client: pulsar_client.Client
    name: str
    rounds: int = 0

    @property
    def options(self) -> dict[str, str]:
        return {"topics": ",".join(self._names)}

    @property
    def _names(self) -> list[str]:
        return [f"{self.name}-grows", f"{self.name}-other"]

    def publish(self) -> None:
        """Publish a round: to every partition, to one more than before, in batches of several sizes."""
        grows, other = self._names
        if self.rounds == 0:
            self.admin.create_topic(grows, partitions=1)
            self.admin.create_topic(other)
        else:
            self.admin.set_partitions(grows, self.rounds + 1)
            self.admin.unload(other)
        for topic in [other, *(f"{grows}-partition-{number}" for number in range(self.rounds + 1))]:
            for size in (1, 7, 20):
                payloads = [b"%d %d %d" % (self.rounds, size, number) for number in range(size + size // 2 + 1)]
                produce(self.client, topic, payloads, batch_size=size)
        self.rounds += 1

    def wanted(self) -> list[Seen]:
        """What the official client reads."""
        return existing([one for topic in self._names for one in read_all(self.client, topic)])


@pytest.fixture
def topics(admin: Admin, client: pulsar_client.Client, topic: str) -> Topics:
    return Topics(admin, client, topic)


@pytest.fixture(scope="module")
def halting(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The jar of the file system that fails or halts, which the session has as well."""
    jar = halting_jar(tmp_path_factory.mktemp("halting"))
    with added_halting(spark, jar):
        yield jar


@pytest.fixture(scope="module")
def jars(connector_jar: Path, halting: Path) -> Jars:
    return Jars(connector_jar, halting)
