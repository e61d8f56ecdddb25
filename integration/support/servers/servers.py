"""Servers and namespaces of the integration tests; `pulsar_spark.testing` provides the one of a run."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from pulsar_spark.local import LocalPulsar
from pulsar_spark.testing.addresses import Addresses, NoServerError, choose, outlives_the_run, shared_by
from pulsar_spark.testing.servers import running_server

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from support.servers.admin import Admin

__all__ = [
    "Addresses",
    "NoServerError",
    "choose",
    "outlives_the_run",
    "own_server",
    "remove_namespace",
    "running_server",
    "shared_by",
]


def remove_namespace(admin: Admin, namespace: str) -> None:
    """Delete a namespace of a test with all its topics, but only on a server that outlives the run.

    A broker with transactions waits up to 30 s for the transaction snapshots of a topic that loads while its namespace
    is deleted, and no other topic loads meanwhile.
    """
    if outlives_the_run():
        admin.delete_namespace(namespace)


@contextmanager
def own_server(data_dir: Path, config: Mapping[str, str], *, transactions: bool = True) -> Iterator[Addresses]:
    """Run a server for one module, with broker settings of its own."""
    with LocalPulsar(data_dir=data_dir, transactions=transactions, config=config) as server:
        yield Addresses(server.service_url, server.admin_url)
