"""A Pulsar of several processes on this machine: ZooKeeper, three bookies, and brokers that tests may kill."""

from __future__ import annotations

import math
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
    """A running cluster.

    Attributes:
        service_url: The addresses of all brokers.
        admin: The admin service of the first broker.
        zookeeper: The metadata store.
        bookies: The three of them.
        auto_recovery: What copies lost ledgers; a test starts it.
        brokers: One or more.
    """

    service_url: str
    admin: Admin
    zookeeper: Node
    bookies: tuple[Node, ...]
    auto_recovery: Node
    brokers: tuple[Node, ...]

    @property
    def broker(self) -> Node:
        """The first broker."""
        return self.brokers[0]

    def owner(self, topic: str) -> Node:
        """The broker that serves a topic, as one says that runs; the topic is loaded."""
        asked = Admin(f"http://127.0.0.1:{next(one for one in self.brokers if one.running).launch.ports.web}")
        found = asked.call("GET", f"/lookup/v2/topic/{topic.replace('://', '/')}")["brokerUrl"]
        (owner,) = (one for one in self.brokers if found == f"pulsar://127.0.0.1:{one.launch.ports.broker}")
        return owner

    def ensembles(self, topic: str, ledger: int | None = None) -> list[list[Node]]:
        """The bookies that have a ledger, the first with entries unless one is named, for each part of it."""
        ledgers = {int(one["ledgerId"]): one for one in self.admin.internal_stats(topic)["ledgers"]}
        text = ledgers[min(ledgers) if ledger is None else ledger]["metadata"]
        by_id = {bookie.id: bookie for bookie in self.bookies}
        lists = re.findall(r"\d+=\[([^\]]*)\]", text)
        return [[by_id[name.strip()] for name in names.split(",")] for names in lists]


@contextmanager
def running_cluster(
    folder: Path,
    *,
    transactions: bool = False,
    brokers: int = 1,
    session_seconds: int | None = None,
    external: Callable[[int], str] | None = None,
) -> Iterator[Cluster]:
    """Run a cluster whose ledgers have two copies on two of its bookies, with several transaction coordinators if any.

    Lost copies stay lost until a test starts `Cluster.auto_recovery`.

    Args:
        folder: An empty folder for all files.
        transactions: Whether brokers have transactions.
        brokers: The number of brokers.
        session_seconds: How long ZooKeeper takes brokers and bookies for alive. Default: bookies only shortly.
        external: The address of the listener `external` of a broker, by its port. Default: brokers have one address.
    """
    with ExitStack() as stack:

        def port_numbers(count: int) -> list[int]:
            return [stack.enter_context(closing(Port.reserve())).number for _ in range(count)]

        (port,), bookie_ports = port_numbers(1), port_numbers(BOOKIES)
        places = [Ports(own, web, 0) for own, web in zip(port_numbers(brokers), port_numbers(brokers), strict=True)]
        ports, store = places[0], f"zk:127.0.0.1:{port}"
        config = {"clusterName": "several", "metadataStoreUrl": store, "configurationMetadataStoreUrl": store}
        zookeeper = _node(
            _ZooKeeper,
            folder / "zookeeper",
            ports,
            _zookeeper_config(folder, port),
            lambda _: _asked(port, b"ruok") == b"imok",
            session_seconds=math.inf,
        )
        bookies = tuple(
            _bookie(
                _Bookie,
                folder / f"bookie-{number}",
                replace(ports, bookie=own),
                port,
                session_seconds or SESSION_SECONDS,
            )
            for number, own in enumerate(bookie_ports, 1)
        )
        settings = {**config, **_BROKER, "transactionCoordinatorEnabled": str(transactions).lower()}
        if session_seconds is not None:
            settings["metadataStoreSessionTimeoutMillis"] = str(session_seconds * 1000)
        if brokers > 1:
            settings |= _SEVERAL
        broker_nodes = tuple(
            _broker(
                folder / ("broker" if number == 0 else f"broker-{number + 1}"),
                place,
                settings | (_listeners(place.broker, external(place.broker)) if external else {}),
                port,
                transactions,
            )
            for number, place in enumerate(places)
        )
        recovery = _bookie(_AutoRecovery, folder / "auto-recovery", ports, port, SESSION_SECONDS)
        for node in (zookeeper, *bookies, *broker_nodes, recovery):
            stack.callback(node.kill)
        zookeeper.start()
        _set_up(_Setup(folder / "setup", ports, _PROFILE, config))
        for node in (*bookies, *broker_nodes):
            node.begin()
        for node in (*bookies, *broker_nodes):
            node.ready()
        url = "pulsar://" + ",".join(f"127.0.0.1:{place.broker}" for place in places)
        yield Cluster(url, Admin(f"http://127.0.0.1:{ports.web}"), zookeeper, bookies, recovery, broker_nodes)


def _node(
    kind: type[Launch],
    folder: Path,
    ports: Ports,
    config: Mapping[str, str],
    is_ready: Callable[[bytes], bool],
    may_start: Callable[[], bool] = lambda: True,
    *,
    session_seconds: float,
) -> Node:
    return Node(kind(folder, ports, _PROFILE, config), is_ready, may_start, session_seconds)


def _listeners(port: int, external: str) -> dict[str, str]:
    return {
        "advertisedAddress": "",
        "internalListenerName": "internal",
        "advertisedListeners": f"internal:pulsar://127.0.0.1:{port},external:{external}",
    }


def _broker(folder: Path, ports: Ports, config: Mapping[str, str], zookeeper: int, transactions: bool) -> Node:
    admin = Admin(f"http://127.0.0.1:{ports.web}")
    return _node(
        _Broker,
        folder,
        ports,
        config,
        lambda _: admin.ready_within(0, transactions=transactions),
        lambda: f":{ports.broker}\n".encode() not in _asked(zookeeper, b"dump"),
        session_seconds=SESSION_SECONDS,
    )


def _bookie(kind: type[_Bookie], folder: Path, ports: Ports, zookeeper: int, session_seconds: int) -> Node:
    # A bookie takes connections some time before brokers know that it is there.
    return _node(
        kind,
        folder,
        ports,
        _bookie_config(folder, ports.bookie, f"zk:127.0.0.1:{zookeeper}", session_seconds),
        lambda log: b"Started component" in log,
        lambda: f"/available/127.0.0.1:{ports.bookie}\n".encode() not in _asked(zookeeper, b"dump"),
        session_seconds=session_seconds,
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


def _bookie_config(folder: Path, port: int, store: str, session_seconds: int) -> dict[str, str]:
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


_BROKER = {
    "managedLedgerDefaultEnsembleSize": "2",
    "managedLedgerDefaultWriteQuorum": "2",
    "managedLedgerDefaultAckQuorum": "2",
    # A bookie that failed a few times would not be written to for half an hour.
    "bookkeeperClientHealthCheckEnabled": "false",
    # A broker reads a topic's last entry to tell the last position, by itself for 30 s from a bookie that is frozen.
    "bookkeeperClientSpeculativeReadTimeoutInMillis": "2000",
}

# The load manager of one broker gives a topic to whoever is asked for it.
_SEVERAL = {
    "loadBalancerEnabled": "true",
    "loadManagerClassName": "org.apache.pulsar.broker.loadbalance.impl.ModularLoadManagerImpl",
    "loadBalancerSheddingEnabled": "false",
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
