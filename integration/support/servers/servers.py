"""The Pulsar of the integration tests: a running one, a local process, or a container on request."""

from __future__ import annotations

import importlib
import os
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pulsar_spark.local import LocalPulsar, LocalPulsarError
from pulsar_spark.local.ports import Port
from support.servers.admin import Admin

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

URL, ADMIN_URL, SERVER = "PULSAR_SPARK_TEST_URL", "PULSAR_SPARK_TEST_ADMIN_URL", "PULSAR_SPARK_TEST_SERVER"
# Set to "yes" for the workers of a run whose server ends with it.
OWN_SERVER = "PULSAR_SPARK_TEST_OWN_SERVER"

IMAGE = "apachepulsar/pulsar:4.0.8"
_GIVEN_READY_SECONDS = 15.0
# The topics of all tests stay until the end of the run.
_HEAP = "1g"
_CONTAINER_READY_SECONDS = 180.0
_CONTAINER_START = (
    "bin/apply-config-from-env.py conf/standalone.conf && exec bin/pulsar standalone -nfw -nss -a 127.0.0.1"
)
_CONTAINER_CONFIG = {
    "transactionCoordinatorEnabled": "true",
    "numTransactionReplayThreadPoolSize": "1",
    "brokerDeleteInactiveTopicsEnabled": "false",
    "backlogQuotaCheckEnabled": "false",
    "defaultRetentionTimeInMinutes": "-1",
    "defaultRetentionSizeInMB": "-1",
    "managedLedgerMinLedgerRolloverTimeMinutes": "0",
    "forceDeleteNamespaceAllowed": "true",
    "forceDeleteTenantAllowed": "true",
}

WAYS = f"""\
The integration tests need a Pulsar and never skip. Any one of these gives them one:
  - a local process: install a JDK 17 or newer (JAVA_HOME or PATH), nothing else to do
  - a running server: set {URL}=pulsar://HOST:PORT and {ADMIN_URL}=http://HOST:PORT
  - a container: set {SERVER}=container, with Docker running and 'pip install testcontainers'"""


class NoServerError(RuntimeError):
    """There is no Pulsar for the tests; the message says what is missing and lists the alternatives."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}\n{WAYS}")


@dataclass(frozen=True)
class Addresses:
    """Where a Pulsar is reached."""

    service_url: str
    admin_url: str


@dataclass(frozen=True)
class Choice:
    """The kind of server to use; ``given`` is set for the kind of that name only."""

    kind: Literal["given", "local", "container"]
    given: Addresses | None = None


def choose(environment: Mapping[str, str]) -> Choice:
    """Choose by the environment: first an address, else a container on request, else a local process."""
    url, admin_url, server = (environment.get(name, "").strip() for name in (URL, ADMIN_URL, SERVER))
    if url:
        if not admin_url:
            raise NoServerError(f"{URL} is set to {url} but {ADMIN_URL} is not; the tests need both.")
        return Choice("given", Addresses(url, admin_url.rstrip("/")))
    if server in ("", "local"):
        return Choice("local")
    if server == "container":
        return Choice("container")
    raise NoServerError(f"{SERVER} is '{server}'; it may be 'local' or 'container'.")


def outlives_the_run(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the server is there after the run, with all that the run left on it."""
    return choose(environment).kind == "given" and environment.get(OWN_SERVER) != "yes"


def shared_by(addresses: Addresses) -> dict[str, str]:
    """The environment of tests that use this server, which ends with the run."""
    return {URL: addresses.service_url, ADMIN_URL: addresses.admin_url, OWN_SERVER: "yes"}


def remove_namespace(admin: Admin, namespace: str) -> None:
    """Delete a namespace of a test with all its topics, but only on a server that outlives the run.

    A broker with transactions waits up to 30 s for the transaction snapshots of a topic that loads while its namespace
    is deleted, and no other topic loads meanwhile.
    """
    if outlives_the_run():
        admin.delete_namespace(namespace)


@contextmanager
def running_server(data_dir: Path, environment: Mapping[str, str] = os.environ) -> Iterator[Addresses]:
    """Provide the chosen server; one that was started here is stopped at the end."""
    choice = choose(environment)
    if choice.given is not None:
        _check(choice.given, _GIVEN_READY_SECONDS)
        yield choice.given
    elif choice.kind == "container":
        with _container() as addresses:
            yield addresses
    else:
        server = LocalPulsar(data_dir=data_dir, transactions=True, heap=_HEAP)
        try:
            server.start()
        except LocalPulsarError as error:
            raise NoServerError(f"No local Pulsar: {error}") from error
        try:
            yield Addresses(server.service_url, server.admin_url)
        finally:
            server.stop()


@contextmanager
def own_server(data_dir: Path, config: Mapping[str, str], *, transactions: bool = True) -> Iterator[Addresses]:
    """Run a server for one module, with broker settings of its own."""
    with LocalPulsar(data_dir=data_dir, transactions=transactions, config=config) as server:
        yield Addresses(server.service_url, server.admin_url)


@contextmanager
def _container() -> Iterator[Addresses]:
    """Run the official image; its ports are the same inside and outside, as the broker reports its own to clients."""
    try:
        containers = importlib.import_module("testcontainers.core.container")
    except ImportError as error:
        raise NoServerError(f"{SERVER}=container, but testcontainers is not installed ({error}).") from error
    with closing(Port.reserve()) as broker, closing(Port.reserve()) as web:
        container = containers.DockerContainer(IMAGE)
        container = container.with_command(["bash", "-c", _CONTAINER_START])
        for key, port in (("brokerServicePort", broker.number), ("webServicePort", web.number)):
            container = container.with_bind_ports(port, port).with_env(f"PULSAR_PREFIX_{key}", str(port))
        for key, value in _CONTAINER_CONFIG.items():
            container = container.with_env(f"PULSAR_PREFIX_{key}", value)
        try:
            container.start()
        except Exception as error:  # whatever a missing or refusing Docker raises
            raise NoServerError(f"{SERVER}=container, but the container does not start: {error}") from error
        try:
            addresses = Addresses(f"pulsar://127.0.0.1:{broker.number}", f"http://127.0.0.1:{web.number}")
            _check(addresses, _CONTAINER_READY_SECONDS, transactions=True)
            yield addresses
        finally:
            container.stop()


def _check(addresses: Addresses, seconds: float, *, transactions: bool = False) -> None:
    admin = Admin(addresses.admin_url)
    if not admin.ready_within(seconds, transactions=transactions):
        raise NoServerError(f"The Pulsar at {addresses.admin_url} was not ready within {seconds:g} s.")
