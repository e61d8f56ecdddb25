"""A filter that a broker loads (`EntryFilter`) opens what the connector wrote, and drops what it is to drop."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pulsar
import pytest

from pulsar_spark.local import LocalPulsar, versions
from support.servers.admin import Admin
from support.spark.errors import failing
from support.topics.reading import batch
from support.topics.writing import Target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

# A server of its own. What the filter sees of a message is compared with the Java client's in test_message_metadata.
pytestmark = pytest.mark.exhaustive

_NAME = "DropFilter"
_DEFINITION = f"name: drop\ndescription: drops messages\nentryFilterClass: {_NAME}\n"


def _archive(folder: Path, libraries: Path) -> None:
    """The filter as a NAR, which is a jar with a folder for its libraries."""
    classes = folder / "classes"
    source = Path(__file__).with_name(f"{_NAME}.java")
    subprocess.run(["javac", "-cp", f"{libraries}/*", "-d", classes, source], check=True, timeout=600)
    (folder / "filters").mkdir()
    with zipfile.ZipFile(folder / "filters" / "drop.nar", "w") as nar:
        nar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nNar-Id: drop\n")
        nar.writestr("META-INF/services/entry_filter.yml", _DEFINITION)
        nar.write(classes / f"{_NAME}.class", f"META-INF/bundled-dependencies/{_NAME}.class")


@pytest.fixture(scope="module")
def filtering(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    folder = tmp_path_factory.mktemp("filter")
    _archive(folder, versions.libraries())
    config = {
        "entryFilterNames": "drop",
        "entryFiltersDirectory": str(folder / "filters"),
        "narExtractionDirectory": str(folder),
    }
    with LocalPulsar(data_dir=folder / "pulsar", config=config) as server:
        client = pulsar.Client(server.service_url, operation_timeout_seconds=180)
        yield Target(spark, client, Admin(server.admin_url), server.service_url)
        client.close()


@pytest.mark.parametrize("compression", ["NONE", "LZ4", "ZSTD"])
def test_a_filter_opens_what_was_written(filtering: Target, compression: str) -> None:
    topic = f"persistent://public/default/{compression}"
    for batching in ("true", "false"):
        settings = {"pulsar.producer.compressionType": compression, "pulsar.producer.batchingEnabled": batching}
        for count in (1, 5):
            for name in ("drop", "kept"):
                columns = f"concat('{name} ', id) as value, map('{name}', 'yes') as __messageProperties"
                filtering.append_sql(f"select {columns} from range(0, {count}, 1, 1)", topic, settings)
    kept = [f"kept {number}" for count in (1, 5, 1, 5) for number in range(count)]
    assert [message.payload.decode() for message in filtering.messages(topic)] == kept
    rows = batch(filtering.spark, filtering.service_url, topic=topic, pollTimeoutMs="20s").select("value").collect()
    assert [row.value for row in rows] == kept


def test_a_read_says_that_the_end_of_its_range_does_not_arrive(filtering: Target) -> None:
    topic = "persistent://public/default/ends"
    for name in ("kept", "drop"):
        columns = f"concat('{name} ', id) as value, map('{name}', 'yes') as __messageProperties"
        filtering.append_sql(f"select {columns} from range(0, 3, 1, 1)", topic)
    rows = batch(filtering.spark, filtering.service_url, topic=topic, pollTimeoutMs="3s")
    with failing("PULSAR_READ_TIMEOUT", topic):
        rows.collect()
