"""The programs of a cluster, and their settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from pulsar_spark.local.server import Launch
from pulsar_spark.local.settings import SMALL

if TYPE_CHECKING:
    from pathlib import Path

PROFILE = replace(SMALL, config={**SMALL.config, "dbStorage_readAheadCacheMaxSizeMb": "16"})


@dataclass(frozen=True)
class Setup(Launch):
    """Writes into ZooKeeper what a cluster begins with, and ends."""

    def program(self, config: Path) -> list[str]:  # noqa: ARG002
        store = self.config["metadataStoreUrl"]
        lines = ["org.apache.pulsar.PulsarClusterMetadataSetup", "--cluster", self.config["clusterName"]]
        lines += ["--metadata-store", store, "--configuration-store", store]
        lines += ["--web-service-url", f"http://127.0.0.1:{self.ports.web}"]
        return [*lines, "--broker-service-url", f"pulsar://127.0.0.1:{self.ports.broker}"]


@dataclass(frozen=True)
class ZooKeeper(Launch):
    def config_text(self) -> str:
        return "".join(f"{key}={value}\n" for key, value in self.config.items())

    def program(self, config: Path) -> list[str]:
        return ["org.apache.zookeeper.server.quorum.QuorumPeerMain", str(config)]


@dataclass(frozen=True)
class Bookie(Launch):
    main: ClassVar[str] = "org.apache.bookkeeper.server.Main"

    def program(self, config: Path) -> list[str]:
        return [self.main, "--conf", str(config)]


@dataclass(frozen=True)
class AutoRecovery(Bookie):
    main: ClassVar[str] = "org.apache.bookkeeper.replication.AutoRecoveryMain"


@dataclass(frozen=True)
class Broker(Launch):
    def program(self, config: Path) -> list[str]:
        return ["org.apache.pulsar.PulsarBrokerStarter", "--broker-conf", str(config)]


def zookeeper_config(folder: Path, port: int) -> dict[str, str]:
    return {
        "tickTime": "2000",
        "dataDir": str(folder / "zookeeper" / "data"),
        "clientPort": str(port),
        "clientPortAddress": "127.0.0.1",
        "admin.enableServer": "false",
        "maxClientCnxns": "0",
        "forceSync": "no",
        "4lw.commands.whitelist": "ruok, dump",
    }


def bookie_config(folder: Path, port: int, store: str, session_seconds: int) -> dict[str, str]:
    return {
        "bookiePort": str(port),
        "journalDirectories": str(folder / "journal"),
        "ledgerDirectories": str(folder / "ledgers"),
        "indexDirectories": str(folder / "ledgers"),
        "metadataServiceUri": f"metadata-store:{store}",
        "statsProviderClass": "org.apache.bookkeeper.stats.NullStatsProvider",
        "zkTimeout": str(session_seconds * 1000),
        "autoRecoveryDaemonEnabled": "false",
        "lostBookieRecoveryDelay": "0",
    }


BROKER = {
    "managedLedgerDefaultEnsembleSize": "2",
    "managedLedgerDefaultWriteQuorum": "2",
    "managedLedgerDefaultAckQuorum": "2",
    # A bookie that failed a few times would not be written to for half an hour.
    "bookkeeperClientHealthCheckEnabled": "false",
    # A broker reads a topic's last entry to tell the last position, by itself for 30 s from a bookie that is frozen.
    "bookkeeperClientSpeculativeReadTimeoutInMillis": "2000",
}

# The load manager of one broker gives a topic to whoever is asked for it.
SEVERAL = {
    "loadBalancerEnabled": "true",
    "loadManagerClassName": "org.apache.pulsar.broker.loadbalance.impl.ModularLoadManagerImpl",
    "loadBalancerSheddingEnabled": "false",
}


def listeners(port: int, external: str) -> dict[str, str]:
    return {
        "advertisedAddress": "",
        "internalListenerName": "internal",
        "advertisedListeners": f"internal:pulsar://127.0.0.1:{port},external:{external}",
    }
