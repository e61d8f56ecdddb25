"""Downloads everything that integration tests need besides Python packages."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pulsar_spark.local import FileSystemOffload, LocalPulsar
from support.servers.s3a import s3a_jars

if __name__ == "__main__":
    s3a_jars()
    # The first start of a server downloads the distribution and the offloaders, and prepares its classes.
    with tempfile.TemporaryDirectory() as folder, LocalPulsar(offload=FileSystemOffload(Path(folder))):
        pass
