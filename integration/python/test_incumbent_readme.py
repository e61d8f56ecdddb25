"""The Scala examples of streamnative/pulsar-spark's README run as they are, in spark-shell with our jar.

Those that differ on purpose fail with a condition that names the option.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pulsar as pulsar_client
import pyspark
import pytest
from python.incumbent_examples import EXAMPLES, FIRST, SECOND, SENT, Example

if TYPE_CHECKING:
    from support.servers.admin import Admin
    from support.servers.servers import Addresses

SHELL = Path(pyspark.__file__).parent / "bin" / "spark-shell"
HELPERS = Path(__file__).with_name("incumbent_examples.scala")
SHELL_SECONDS = 600
DOORS = ("read", "readStream", "write", "writeStream")
HELPER_OF_SCALA = "import org.apache.spark.sql.pulsar.JsonUtils._"

# As the README spells them.
LATEST = [8, *[-1] * 8, 127, 16, *[-1] * 8, 127]
EARLIEST = [8, *[-1] * 9, 1, 16, *[-1] * 9, 1]


def _send(client: pulsar_client.Client, topic: str, rows: tuple[tuple[str, str], ...]) -> list[list[int]]:
    """Send texts with their keys; returns the ids as arrays of signed bytes."""
    schema = pulsar_client.schema.StringSchema()
    producer = client.create_producer(topic, schema=schema, batching_enabled=False, send_timeout_millis=0)
    ids = [producer.send(value, partition_key=key).serialize() for key, value in rows]
    producer.close()
    return [[byte - 256 if byte > 127 else byte for byte in one] for one in ids]


@pytest.fixture(scope="module")
def output(
    connector_jar: Path,
    pulsar: Addresses,
    namespace: str,
    client: pulsar_client.Client,
    admin: Admin,
    tmp_path_factory: pytest.TempPathFactory,
) -> str:
    """What spark-shell prints for all examples, those that read first."""
    one, two = (f"{namespace}/topic{number}" for number in (1, 2))
    first, second = _send(client, one, FIRST), _send(client, two, SECOND)
    _send(client, f"{namespace}/source", SENT)
    admin.upload_schema(f"persistent://{namespace}/other", "DOUBLE")
    names = {
        "url": pulsar.service_url,
        "admin": pulsar.admin_url,
        "ns": namespace,
        "starts": json.dumps({one: first[1], two: second[0]}),
        "ends": json.dumps({one: first[1], two: second[0]}),
        "latest": json.dumps(LATEST),
        "earliest": json.dumps(EARLIEST),
    }
    helpers = re.sub(r"@(\w+)@", lambda found: names[found[1]], HELPERS.read_text())
    examples = "\n\n".join(
        f"Ends({number}) {{\n{_filled(example, names)}\n}}"
        for number, example in sorted(enumerate(EXAMPLES), key=lambda pair: DOORS.index(pair[1].door))
    )
    folder = tmp_path_factory.mktemp("shell")
    scripts = []
    for name, text in (("examples", f"{helpers}\n{examples}"), ("helper", HELPER_OF_SCALA), ("end", "sys.exit(0)")):
        file = folder / f"{name}.scala"
        file.write_text(text)
        scripts += ["-i", str(file)]
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.streaming.checkpointLocation": str(folder / "checkpoints"),
    }
    command = [str(SHELL), "--master", "local[2]", "--driver-memory", "1g", "--jars", str(connector_jar)]
    command += [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    shell = subprocess.Popen(
        [*command, *scripts],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
        start_new_session=True,  # the script starts a JVM, which has to end with it
    )
    try:
        return shell.communicate(timeout=SHELL_SECONDS)[0]
    finally:
        if shell.poll() is None:
            os.killpg(shell.pid, signal.SIGKILL)


def _filled(example: Example, names: dict[str, str]) -> str:
    options = tuple((name, value.format(**names)) for name, value in example.options)
    return replace(example, options=options).scala()


def _title(example: Example) -> str:
    return f"{example.section} ({example.mode or example.door}, {example.options[-1][1]})"


@pytest.mark.parametrize("number", range(len(EXAMPLES)), ids=[_title(example) for example in EXAMPLES])
def test_an_example_ends_as_it_should(output: str, number: int) -> None:
    found = re.search(rf"^ENDS\t{number}\t(.*)$", output, re.MULTILINE)
    assert found, output[-5000:]
    ends = EXAMPLES[number].ends
    if isinstance(ends, str):
        assert re.findall(r"\[([A-Z_]+)\]", found[1])[:1] == [ends], found[1]
    else:
        assert set(found[1].split(",")) - {""} == {f"{key}={value}" for key, value in ends}


def test_the_helper_for_scala_is_not_there(output: str) -> None:
    """Offsets are JSON texts, which the helper writes; the examples with offsets show that they are accepted."""
    assert "object pulsar is not a member of package org.apache.spark.sql" in output


def test_few_examples_differ_on_purpose() -> None:
    errors = {example.section for example in EXAMPLES if isinstance(example.ends, str)}
    assert errors == {
        "Batch sink: topic in an option",  # Spark asks for a mode
        "Batch sink: topic in the data",
        "Configurations: startingOffsets",  # latest in a batch, which is an error there, too
        "Configurations: endingOffsets",  # the earliest id, which is an error there, too
    }
