"""A real Pulsar server on the local machine, for tests, demos and experiments.

    from pulsar_spark.local import LocalPulsar

    with LocalPulsar() as pulsar:
        print(pulsar.service_url, pulsar.admin_url)

It is the standalone server of the Pulsar distribution (broker and bookie in one process of some 300 MB), listening on
127.0.0.1 only. The first use downloads the distribution into the cache (see `pulsar_spark.local.maven`); it needs a JDK
17 or newer. The server ends with the Python process that started it, also when that process is killed. Linux and macOS.
"""

from __future__ import annotations

from pulsar_spark.local.errors import LocalPulsarError
from pulsar_spark.local.offload import FileSystemOffload, S3Offload
from pulsar_spark.local.pulsar import LocalPulsar

__all__ = ["FileSystemOffload", "LocalPulsar", "LocalPulsarError", "S3Offload"]
