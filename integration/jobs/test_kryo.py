"""A session whose Kryo refuses classes that are not registered: nothing of the connector has to be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from support.spark.programs import running_program

if TYPE_CHECKING:
    from support.servers.admin import Admin
    from support.servers.servers import Addresses

_PARTITIONS = 24
_DONE = [
    *(
        part
        for guarantee in ("at-least-once", "exactly-once")
        for part in (
            f"batch {guarantee} one topic",
            f"stream {guarantee}",
            "read broker narrow",
            "read segment narrow",
            f"batch {guarantee} by row",
        )
    ),
    "batch at-least-once one topic",
    "read broker wide",
    "read segment wide",
    "metadata",
]


def test_no_class_of_the_connector_has_to_be_registered_with_kryo(
    pulsar: Addresses, admin: Admin, connector_jar: Path, namespace: str, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(f"{topic}-wide", partitions=_PARTITIONS)
    task = {
        "service.url": pulsar.service_url,
        "admin.url": pulsar.admin_url,
        "jar": str(connector_jar),
        "folder": str(tmp_path),
        "namespace": namespace,
        "topic": topic,
        "wide": f"{topic}-wide",
        "partitions": str(_PARTITIONS),
    }
    with running_program(Path(__file__).with_name("kryo_job.py"), task, tmp_path) as job:
        done = job.stdout.read().splitlines() if job.stdout else []
        code = job.wait()
    assert (done, code) == (_DONE, 0), (tmp_path / "driver.log").read_text(encoding="utf-8")[-5000:]
