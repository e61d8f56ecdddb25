"""What every integration test starts from: a Pulsar, names of its own, the official client, Spark with our jar."""

from __future__ import annotations

import itertools
import os
import re
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pulsar as pulsar_client
import pyspark
import pytest

from pulsar_spark.local import LocalPulsar
from pulsar_spark.testing import PulsarServer
from support.runs import spark_jvm
from support.runs.jars import NoJarError, packaged_jar
from support.servers.admin import Admin
from support.servers.offloading import FORMATS, Offloading, running_offload
from support.servers.s3a import s3a_jars
from support.servers.servers import Addresses, remove_namespace, running_server
from support.servers.two_clusters import Side, two_clusters
from support.topics.transactions import Sender
from support.topics.writing import Target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

pytest_plugins = [f"support.runs.{name}" for name in ("ordering", "processors", "sharing", "summary", "together")]

# Fixtures whose tests need Hadoop's S3 client.
_S3 = {"offloading", "s3_folder"}
_SPARK_LINE = tuple(int(part) for part in pyspark.__version__.split(".")[:2])
# Without Hadoop's native library Spark's usual way to write a file of a checkpoint starts a process, which sets the
# permissions: a third of what a small micro-batch costs. Programs with a Spark of their own keep the usual way.
_CHECKPOINT_FILES: dict[str, bool | float | int | str | None] = {
    "spark.sql.streaming.checkpointFileManagerClass": "org.apache.spark.sql.execution.streaming.checkpointing."
    "FileSystemBasedCheckpointFileManager"
}

# Names stay unique on a server that is used by several runs, also one after the other.
_run = f"{time.time_ns() // 1_000_000:x}-{os.getpid()}"
_numbers = itertools.count(1)


def pytest_configure(config: pytest.Config) -> None:
    """Settle what processes inherit. Also where a shell runs the tests in the background, they can be interrupted."""
    os.environ.setdefault(spark_jvm.VARIABLE, spark_jvm.options())
    os.environ.setdefault("PULSAR_SPARK_PLAIN_ERRORS", "yes")  # most tests look at what the JVM throws
    if _SPARK_LINE < (4, 3):  # PySpark leaves the sockets of collect() to the garbage collector
        config.addinivalue_line("filterwarnings", "ignore:unclosed <socket:ResourceWarning")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def pulsar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    """The server of the whole run; its log is in pytest's temporary folder.

    A module that needs another one defines this fixture anew, and everything below belongs to that server.
    """
    with running_server(tmp_path_factory.mktemp("pulsar", numbered=False)) as addresses:
        yield addresses


@pytest.fixture(scope="module")
def pulsar_server(pulsar: Addresses) -> PulsarServer:
    """The same server for the fixtures of `pulsar_spark.testing`, which begin with it."""
    return PulsarServer(pulsar.service_url, pulsar.admin_url)


@pytest.fixture(scope="module")
def service_url(pulsar: Addresses) -> str:
    return pulsar.service_url


@pytest.fixture(scope="module")
def sender(spark: SparkSession, service_url: str) -> Iterator[Sender]:
    """Sends to topics in transactions; the server of the module must have them."""
    sender = Sender(spark, service_url)
    yield sender
    sender.close()


@pytest.fixture(scope="module")
def admin(pulsar: Addresses) -> Admin:
    return Admin(pulsar.admin_url)


@pytest.fixture(scope="module")
def namespace(admin: Admin, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace of this module alone, ``public/...``, in which nothing expires; `remove_namespace` ends it."""
    name = f"public/{_readable(Path(request.node.name).stem)}-{_run}-{next(_numbers)}"
    admin.create_namespace(name)
    admin.set_retention(name, minutes=-1, megabytes=-1)
    yield name
    remove_namespace(admin, name)


@pytest.fixture
def topic(namespace: str, request: pytest.FixtureRequest) -> str:
    """The full name of a topic of this test alone, which does not exist yet."""
    return f"persistent://{namespace}/{_readable(request.node.name)}-{next(_numbers)}"


@pytest.fixture(scope="module")
def client(service_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[pulsar_client.Client]:
    """The official client; it writes its warnings to a file, as it logs every lost connection.

    Every module has its own: the client's library keeps the largest size of a message for the whole process, as the
    server said to which it connected last, and servers of other modules may take small ones only.
    """
    log = tmp_path_factory.mktemp("client") / "client.log"
    client = pulsar_client.Client(
        service_url,
        logger=pulsar_client.FileLogger(pulsar_client.LoggerLevel.Warn, str(log)),
        operation_timeout_seconds=180,
    )
    yield client
    client.close()


@pytest.fixture(params=["broker", pytest.param("segment", marks=pytest.mark.exhaustive)])
def each_level(request: pytest.FixtureRequest) -> str:
    """The levels of `read_level`; `AT_BOTH_LEVELS` has both in the gate."""
    return str(request.param)


@pytest.fixture
def read_level(each_level: str, spark: SparkSession, pulsar: Addresses) -> Iterator[str]:
    """Runs a test once for each read level, which must return the same rows."""
    settings = {"readLevel": each_level, "admin.url": pulsar.admin_url}
    for name, value in settings.items():
        spark.conf.set(f"spark.datasource.pulsar.{name}", value)
    yield each_level
    for name in settings:
        spark.conf.unset(f"spark.datasource.pulsar.{name}")


@pytest.fixture(scope="module")
def _mortal_pulsar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalPulsar]:
    with LocalPulsar(data_dir=tmp_path_factory.mktemp("mortal"), transactions=True) as server:
        yield server


@pytest.fixture
def own_pulsar(_mortal_pulsar: LocalPulsar) -> LocalPulsar:
    """A server to be killed and restarted. It is of this module alone, and runs when a test begins."""
    if not _mortal_pulsar.running:
        _mortal_pulsar.start()
    return _mortal_pulsar


@pytest.fixture(scope="session")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Side, Side]]:
    """Two clusters for all modules that `together` has."""
    with two_clusters(tmp_path_factory) as both:
        yield both


@pytest.fixture(scope="session")
def connector_jar() -> Path:
    """The packaged connector: what users get, not a folder of classes."""
    try:
        return packaged_jar()
    except NoJarError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def spark(
    connector_jar: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[SparkSession]:
    """Spark with the packaged connector, small and in UTC; with Hadoop's S3 client when a test needs that."""
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("spark")
    needs_s3 = any(_S3 & set(getattr(item, "fixturenames", ())) for item in request.session.items)
    jars = [connector_jar, *(s3a_jars() if needs_s3 else [])]
    session = (
        SparkSession.builder.master("local[2]")
        .appName("pulsar-spark integration tests")
        .config("spark.jars", ",".join(map(str, jars)))
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        # A stream with nothing to read would ask for new messages a hundred times a second.
        .config("spark.sql.streaming.pollingDelay", "100ms")
        .config(map=_CHECKPOINT_FILES if _SPARK_LINE >= (4, 1) else {})  # Spark 4.0 has the class elsewhere
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture(scope="module")
def pulsar_session(spark: SparkSession) -> SparkSession:
    """The same session for the fixtures of `pulsar_spark.testing`."""
    return spark


@pytest.fixture(scope="module")
def target(spark: SparkSession, client: pulsar_client.Client, admin: Admin, service_url: str) -> Target:
    """Where writes go: the server of the module."""
    return Target(spark, client, admin, service_url)


@pytest.fixture(scope="module", params=FORMATS)
def offloading(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Offloading]:
    """A broker that offloads, once for each format, to storage that Spark can reach."""
    with running_offload(request.param, tmp_path_factory.mktemp(f"offload-{request.param}")) as offloading:
        hadoop = spark.sparkContext._jsc.hadoopConfiguration()
        for key, value in offloading.hadoop.items():
            hadoop.set(key, value)
        yield offloading


def _readable(text: str) -> str:
    return re.sub(r"\W+", "-", text).strip("-")[:60]
