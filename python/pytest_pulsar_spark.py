"""The fixtures of `pulsar_spark.testing`, which pytest finds by itself. docs/use/testing.md describes them.

It is no module of the package because pytest imports it in every run: the package is imported when a test asks for a
fixture.
"""

from __future__ import annotations

import itertools
import os
import re
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from pulsar_spark.testing import PulsarServer, Topic

_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
}
# Names stay unique on a server that is used by several runs, also one after the other.
_run = f"{time.time_ns() // 1_000_000:x}-{os.getpid()}"
_numbers = itertools.count(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the command line choose the server, over the environment."""
    group = parser.getgroup("pulsar-spark")
    group.addoption("--pulsar-url", metavar="URL", help="service URL of a running Pulsar for the tests")
    group.addoption("--pulsar-admin-url", metavar="URL", help="its admin URL")
    group.addoption("--pulsar-server", choices=("local", "container"), help="start a process (default) or a container")


@pytest.fixture(scope="session")
def pulsar_server(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PulsarServer]:
    """A Pulsar for the run: the one at the address, else a local process or a container."""
    from pulsar_spark.testing.addresses import ADMIN_URL, SERVER, URL, NoServerError
    from pulsar_spark.testing.servers import running_server

    names = {"pulsar_url": URL, "pulsar_admin_url": ADMIN_URL, "pulsar_server": SERVER}
    given = {variable: pytestconfig.getoption(option) for option, variable in names.items()}
    environment = {**os.environ, **{variable: value for variable, value in given.items() if value}}
    try:
        with running_server(tmp_path_factory.mktemp("pulsar"), environment) as server:
            yield server
    except NoServerError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def pulsar_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The Spark session of the process if there is one, else a small one with the connector, in UTC.

    A project with a session of its own defines this fixture anew and returns that one.
    """
    from pyspark.sql import SparkSession

    import pulsar_spark

    if SparkSession.getActiveSession() is not None:
        yield pulsar_spark.session()
        return
    warehouse = str(tmp_path_factory.mktemp("spark") / "warehouse")
    settings = {**_SETTINGS, "spark.sql.warehouse.dir": warehouse}
    session = pulsar_spark.session("pulsar-spark tests", "local[2]", **settings)
    yield session
    session.stop()


@pytest.fixture
def pulsar_namespace(pulsar_server: PulsarServer) -> Iterator[str]:
    """The name of a new namespace of this test alone, ``public/...``, in which nothing expires."""
    name = f"public/test-{_run}-{next(_numbers)}"
    admin = pulsar_server.admin
    admin.create_namespace(name)
    admin.set_retention(name, minutes=-1, megabytes=-1)
    yield name
    if pulsar_server.outlives:
        admin.delete_namespace(name)


@pytest.fixture
def pulsar_topic(
    pulsar_namespace: str, pulsar_server: PulsarServer, pulsar_session: SparkSession, request: pytest.FixtureRequest
) -> Topic:
    """A topic of this test alone, which does not exist yet, in its namespace."""
    from pulsar_spark.testing import Topic

    name = re.sub(r"\W+", "-", request.node.name).strip("-")[:60]
    return Topic(f"persistent://{pulsar_namespace}/{name}", pulsar_server, pulsar_session)
