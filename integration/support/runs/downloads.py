"""Downloads everything that integration tests need besides Python packages, unless it is there."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pulsar_spark.local import FileSystemOffload, LocalPulsar, class_data, versions
from pulsar_spark.local.java import Java
from support.servers.s3a import s3a_jars

if __name__ == "__main__":
    s3a_jars()
    # The first start of a server downloads the distribution and the offloaders, unpacks these and prepares its classes.
    prepared = class_data.archive_file(Java.find()), versions.home() / "offloaders" / "unpacked"
    if not all(path.exists() for path in prepared):
        with tempfile.TemporaryDirectory() as folder, LocalPulsar(offload=FileSystemOffload(Path(folder))):
            pass
