"""Declarative pipelines of Spark 4.1 and later: streaming tables that are topics, read from topics.

It is not collected with the other tests: ``spark-pipelines`` needs the packages of Spark Connect.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pulsar.schema import AvroSchema, Double, Record, String

from support.servers.servers import remove_namespace
from support.spark.catalogs import CLASS
from support.topics.messages import read_all

if TYPE_CHECKING:
    import pulsar as pulsar_client

    from support.servers.admin import Admin
    from support.servers.servers import Addresses

_SECONDS = 900


class Trip(Record):  # type: ignore[misc]
    """A value of the source."""

    city = String()
    km = Double()


TABLES = """
CREATE STREAMING TABLE bronze AS SELECT city, km FROM STREAM pulsar.{space}.trips WITH (startingOffsets = 'earliest');
CREATE STREAMING TABLE silver AS SELECT city, km * 2 AS km FROM STREAM bronze WITH (startingOffsets = 'earliest');
"""


@pytest.mark.exhaustive
def test_streaming_tables_are_topics(
    pulsar: Addresses, admin: Admin, client: pulsar_client.Client, connector_jar: Path, tmp_path: Path
) -> None:
    space = f"pipelines_{secrets.token_hex(4)}"
    admin.create_namespace(f"public/{space}")
    admin.set_retention(f"public/{space}", minutes=-1, megabytes=-1)
    source = f"persistent://public/{space}/trips"
    producer = client.create_producer(source, schema=AvroSchema(Trip), send_timeout_millis=0)
    for n in range(3):
        producer.send(Trip(city=f"c{n}", km=float(n)))
    producer.close()
    settings = {
        "spark.ui.enabled": "false",
        "spark.jars": str(connector_jar),
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
        "spark.sql.catalog.pulsar": CLASS,
        "spark.sql.catalog.pulsar.service.url": pulsar.service_url,
        "spark.sql.catalog.pulsar.admin.url": pulsar.admin_url,
    }
    (tmp_path / "conf").mkdir()
    defaults = "".join(f"{key} {value}\n" for key, value in settings.items())
    (tmp_path / "conf" / "spark-defaults.conf").write_text(defaults, encoding="utf-8")
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "tables.sql").write_text(TABLES.format(space=space), encoding="utf-8")
    spec = tmp_path / "spark-pipeline.yml"
    spec.write_text(
        f"name: trips\nstorage: {(tmp_path / 'storage').as_uri()}\ncatalog: pulsar\ndatabase: {space}\n"
        "libraries:\n  - glob:\n      include: tables/**\n",
        encoding="utf-8",
    )
    ran = subprocess.run(
        [str(Path(sys.executable).with_name("spark-pipelines")), "run", "--spec", str(spec)],
        cwd=tmp_path,
        env={**os.environ, "SPARK_CONF_DIR": str(tmp_path / "conf"), "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, (ran.stdout + ran.stderr)[-6000:]
    for name in ("bronze", "silver"):
        assert len(read_all(client, f"persistent://public/{space}/{name}")) == 3, (name, ran.stderr[-3000:])
    remove_namespace(admin, f"public/{space}")
