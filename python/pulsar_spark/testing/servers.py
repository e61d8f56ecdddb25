"""The server of a run of tests: a running one, a local process, or a container on request."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pulsar_spark.cluster import PulsarCluster
from pulsar_spark.local import LocalPulsar, LocalPulsarError
from pulsar_spark.testing.addresses import Addresses, NoServerError, choose, outlives_the_run
from pulsar_spark.testing.admin import Admin
from pulsar_spark.testing.container import running_container

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_GIVEN_READY_SECONDS = 15.0
_CONTAINER_READY_SECONDS = 180.0
# The topics of all tests stay until the end of the run.
_HEAP = "1g"


@dataclass(frozen=True)
class PulsarServer(Addresses):
    """A Pulsar that runs for tests.

    Attributes:
        service_url: The address of the brokers.
        admin_url: The address of the admin service.
        process: The server where it is a local process that the tests started.
        outlives: True if it is there after the tests.
    """

    process: LocalPulsar | None = field(default=None, compare=False, repr=False)
    outlives: bool = False

    @property
    def admin(self) -> Admin:
        """The calls of its admin service."""
        return Admin(self.admin_url)

    @property
    def cluster(self) -> PulsarCluster:
        """The server as a cluster, whose options connect to it."""
        return PulsarCluster(self.service_url, admin_url=self.admin_url)


@contextmanager
def running_server(data_dir: Path, environment: Mapping[str, str] = os.environ) -> Iterator[PulsarServer]:
    """Provide the server that the environment chooses; one that was started here is stopped at the end.

    Args:
        data_dir: The folder of a local process, with its log.
        environment: The variables.

    Raises:
        NoServerError: There is none.
    """
    choice = choose(environment)
    if choice.given is not None:
        yield _ready(choice.given, _GIVEN_READY_SECONDS, outlives=outlives_the_run(environment))
    elif choice.kind == "container":
        with running_container() as addresses:
            yield _ready(addresses, _CONTAINER_READY_SECONDS, transactions=True)
    else:
        server = LocalPulsar(data_dir=data_dir, transactions=True, heap=_HEAP)
        try:
            server.start()
        except LocalPulsarError as error:
            raise NoServerError(f"No local Pulsar: {error}") from error
        try:
            yield PulsarServer(server.service_url, server.admin_url, server)
        finally:
            server.stop()


def _ready(addresses: Addresses, seconds: float, *, transactions: bool = False, outlives: bool = False) -> PulsarServer:
    server = PulsarServer(addresses.service_url, addresses.admin_url, outlives=outlives)
    if not server.admin.ready_within(seconds, transactions=transactions):
        raise NoServerError(f"The Pulsar at {server.admin_url} was not ready within {seconds:g} s.")
    return server
