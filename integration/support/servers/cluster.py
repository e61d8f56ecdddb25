"""A Pulsar of several processes on this machine: ZooKeeper, three bookies and one broker that tests may kill."""

from __future__ import annotations

import re
import socket
import subprocess
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from pulsar_spark.local.ports import Port
from pulsar_spark.local.server import Launch, Ports
from pulsar_spark.local.settings import SMALL
from support.servers.admin import Admin
from support.servers.cluster_node import READY_SECONDS, SESSION_SECONDS, Node, command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

BOOKIES = 3

_PROFILE = replace(SMALL, config={**SMALL.config, "dbStorage_readAheadCacheMaxSizeMb": "16"})


@dataclass(frozen=True)
class _Setup(Launch):
    """Writes into ZooKeeper what a cluster begins with, and ends."""

    def program(self, config: Path) -> list[str]:  # noqa: ARG002
        store = self.config["metadataStoreUrl"]
        lines = ["org.apache.pulsar.PulsarClusterMetadataSetup", "--cluster", self.config["clusterName"]]
        lines += ["--metadata-store", store, "--configuration-store", store]
        lines += ["--web-service-url", f"http://127.0.0.1:{self.ports.web}"]
        return [*lines, "--broker-service-url", f"pulsar://127.0.0.1:{self.ports.broker}"]


@dataclass(frozen=True)
class _ZooKeeper(Launch):
    def config_text(self) -> str:
        return "".join(f"{key}={value}\n" for key, value in self.config.items())

    def program(self, config: Path) -> list[str]:
        return ["org.apache.zookeeper.server.quorum.QuorumPeerMain", str(config)]


@dataclass(frozen=True)
class _Bookie(Launch):
    main: ClassVar[str] = "org.apache.bookkeeper.server.Main"

    def program(self, config: Path) -> list[str]:
        return [self.main, "--conf", str(config)]


@dataclass(frozen=True)
class _AutoRecovery(_Bookie):
    main: ClassVar[str] = "org.apache.bookkeeper.replication.AutoRecoveryMain"


@dataclass(frozen=True)
class _Broker(Launch):
    def program(self, config: Path) -> list[str]:
        return ["org.apache.pulsar.PulsarBrokerStarter", "--broker-conf", str(config)]


@dataclass(frozen=True)
class Cluster:
    """A running cluster."""

    service_url: str
    admin: Admin
    bookies: tuple[Node, ...]
    auto_recovery: Node
    broker: Node

    def ensembles(self, topic: str, ledger: int | None = None) -> list[list[Node]]:
        """The bookies that have a ledger, the first with entries unless one is named, for each part of it."""
        ledgers = {int(one["ledgerId"]): one for one in self.admin.internal_stats(topic)["ledgers"]}
        text = ledgers[min(ledgers) if ledger is None else ledger]["metadata"]
        by_id = {bookie.id: bookie for bookie in self.bookies}
        lists = re.findall(r"\d+=\[([^\]]*)\]", text)
        return [[by_id[name.strip()] for name in names.split(",")] for names in lists]


@contextmanager
def running_cluster(folder: Path, *, transactions: bool = False) -> Iterator[Cluster]:
    """Run a cluster whose ledgers have two copies on two of its bookies, with several transaction coordinators if any.

    Lost copies stay lost until a test starts `Cluster.auto_recovery`.
    """
    with ExitStack() as stack:
        port, broker, web, *bookie_ports = (
            stack.enter_context(closing(Port.reserve())).number for _ in range(3 + BOOKIES)
        )
        ports, store = Ports(broker, web, 0), f"zk:127.0.0.1:{port}"
        config = {"clusterName": "several", "metadataStoreUrl": store, "configurationMetadataStoreUrl": store}
        admin = Admin(f"http://127.0.0.1:{web}")
        zookeeper = _node(
            _ZooKeeper,
            folder / "zookeeper",
            ports,
            _zookeeper_config(folder, port),
            lambda _: _asked(port, b"ruok") == b"imok",
        )
        bookies = tuple(
            _bookie(_Bookie, folder / f"bookie-{number}", replace(ports, bookie=own), port)
            for number, own in enumerate(bookie_ports, 1)
        )
        settings = {**config, **_BROKER, "transactionCoordinatorEnabled": str(transactions).lower()}
        broker_node = _node(
            _Broker,
            folder / "broker",
            ports,
            settings,
            lambda _: admin.ready_within(0, transactions=transactions),
            lambda: f":{broker}\n".encode() not in _asked(port, b"dump"),
        )
        recovery = _bookie(_AutoRecovery, folder / "auto-recovery", ports, port)
        for node in (zookeeper, *bookies, broker_node, recovery):
            stack.callback(node.kill)
        zookeeper.start()
        _set_up(_Setup(folder / "setup", ports, _PROFILE, config))
        for node in (*bookies, broker_node):
            node.begin()
        for node in (*bookies, broker_node):
            node.ready()
        yield Cluster(f"pulsar://127.0.0.1:{broker}", admin, bookies, recovery, broker_node)


def _node(
    kind: type[Launch],
    folder: Path,
    ports: Ports,
    config: Mapping[str, str],
    is_ready: Callable[[bytes], bool],
    may_start: Callable[[], bool] = lambda: True,
) -> Node:
    return Node(kind(folder, ports, _PROFILE, config), is_ready, may_start)


def _bookie(kind: type[_Bookie], folder: Path, ports: Ports, zookeeper: int) -> Node:
    # A bookie takes connections some time before brokers know that it is there.
    return _node(
        kind,
        folder,
        ports,
        _bookie_config(folder, ports.bookie, f"zk:127.0.0.1:{zookeeper}"),
        lambda log: b"Started component" in log,
        lambda: f"/available/127.0.0.1:{ports.bookie}\n".encode() not in _asked(zookeeper, b"dump"),
    )


def _set_up(launch: _Setup) -> None:
    launch.folder.mkdir(parents=True)
    done = subprocess.run(
        command(launch), cwd=launch.folder, capture_output=True, text=True, timeout=READY_SECONDS, check=False
    )
    assert done.returncode == 0, (
        f"the cluster's metadata could not be written:\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    )


def _zookeeper_config(folder: Path, port: int) -> dict[str, str]:
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


def _bookie_config(folder: Path, port: int, store: str) -> dict[str, str]:
    return {
        "bookiePort": str(port),
        "journalDirectories": str(folder / "journal"),
        "ledgerDirectories": str(folder / "ledgers"),
        "indexDirectories": str(folder / "ledgers"),
        "metadataServiceUri": f"metadata-store:{store}",
        "statsProviderClass": "org.apache.bookkeeper.stats.NullStatsProvider",
        "zkTimeout": str(SESSION_SECONDS * 1000),
        "autoRecoveryDaemonEnabled": "false",
        "lostBookieRecoveryDelay": "0",
    }


_BROKER = {
    "managedLedgerDefaultEnsembleSize": "2",
    "managedLedgerDefaultWriteQuorum": "2",
    "managedLedgerDefaultAckQuorum": "2",
    # A bookie that failed a few times would not be written to for half an hour.
    "bookkeeperClientHealthCheckEnabled": "false",
    # A broker reads a topic's last entry to tell the last position, by itself for 30 s from a bookie that is frozen.
    "bookkeeperClientSpeculativeReadTimeoutInMillis": "2000",
}


def _asked(port: int, word: bytes) -> bytes:
    """What ZooKeeper answers to one of its four-letter words; nothing as long as it is not there."""
    try:
        with (
            socket.create_connection(("127.0.0.1", port), timeout=1) as connection,
            connection.makefile("rb") as answer,
        ):
            connection.sendall(word)
            return answer.read()
    except OSError:
        return b""
