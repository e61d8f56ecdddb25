"""Pulsar's official image, run by Docker."""

from __future__ import annotations

import importlib
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from pulsar_spark.local.ports import Port
from pulsar_spark.testing.addresses import SERVER, Addresses, NoServerError

if TYPE_CHECKING:
    from collections.abc import Iterator

IMAGE = "apachepulsar/pulsar:4.0.8"

_START = "bin/apply-config-from-env.py conf/standalone.conf && exec bin/pulsar standalone -nfw -nss -a 127.0.0.1"
_CONFIG = {
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


@contextmanager
def running_container() -> Iterator[Addresses]:
    """Run the image; its ports are the same inside and outside, as the broker reports its own to clients.

    Raises:
        NoServerError: testcontainers is not installed, or the container does not start.
    """
    try:
        containers = importlib.import_module("testcontainers.core.container")
    except ImportError as error:
        raise NoServerError(f"{SERVER}=container, but testcontainers is not installed ({error}).") from error
    with closing(Port.reserve()) as broker, closing(Port.reserve()) as web:
        container = containers.DockerContainer(IMAGE)
        container = container.with_command(["bash", "-c", _START])
        for key, port in (("brokerServicePort", broker.number), ("webServicePort", web.number)):
            container = container.with_bind_ports(port, port).with_env(f"PULSAR_PREFIX_{key}", str(port))
        for key, value in _CONFIG.items():
            container = container.with_env(f"PULSAR_PREFIX_{key}", value)
        try:
            container.start()
        except Exception as error:  # whatever a missing or refusing Docker raises
            raise NoServerError(f"{SERVER}=container, but the container does not start: {error}") from error
        try:
            yield Addresses(f"pulsar://127.0.0.1:{broker.number}", f"http://127.0.0.1:{web.number}")
        finally:
            container.stop()
