"""A Pulsar of several processes on this machine: ZooKeeper, three bookies, and brokers that tests may kill."""

from __future__ import annotations

import math
import re
import socket
import subprocess
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING

from pulsar_spark.local.ports import Port
from pulsar_spark.local.server import Launch, Ports
from support.servers.admin import Admin, AdminError
from support.servers.cluster_launches import (
    BROKER,
    PROFILE,
    SEVERAL,
    AutoRecovery,
    Bookie,
    Broker,
    Setup,
    ZooKeeper,
    bookie_config,
    listeners,
    zookeeper_config,
)
from support.servers.cluster_node import READY_SECONDS, SESSION_SECONDS, Node, command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

BOOKIES = 3


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

    @property
    def admin_url(self) -> str:
        """The addresses of the admin services of all brokers."""
        return "http://" + ",".join(f"127.0.0.1:{broker.launch.ports.web}" for broker in self.brokers)

    def owner(self, topic: str, asked: Node | None = None) -> Node:
        """The broker that serves a topic, as one says that runs, unless another one is asked; the topic is loaded."""
        admin = self.admin_of(asked or next(one for one in self.brokers if one.running))
        found = admin.call("GET", f"/lookup/v2/topic/{topic.replace('://', '/')}")["brokerUrl"]
        (owner,) = (one for one in self.brokers if found == f"pulsar://127.0.0.1:{one.launch.ports.broker}")
        return owner

    def admin_of(self, broker: Node) -> Admin:
        """The admin service of one broker, which changes nothing of topics that others serve."""
        return Admin(f"http://127.0.0.1:{broker.launch.ports.web}")

    def other(self, broker: Node) -> Node:
        """The other one of two brokers."""
        (other,) = (one for one in self.brokers if one is not broker)
        return other

    def is_served(self, topic: str, broker: Node) -> bool:
        """Whether a broker says that it serves a topic; not as long as it loads it."""
        try:
            return self.owner(topic, broker) is broker
        except (AdminError, OSError):
            return False

    def has_given_up(self, broker: Node) -> bool:
        """Whether the metadata store no longer takes a broker for alive, so that others may serve its topics."""
        alive = _asked(int(self.zookeeper.launch.config["clientPort"]), b"dump")
        return bool(alive) and f":{broker.launch.ports.web}\n".encode() not in alive

    def move_bundle(self, topic: str, broker: Node) -> None:
        """Unload the bundle of a topic, and have the leading broker give it to this one."""
        admins = {one.launch.ports.web: self.admin_of(one) for one in self.brokers}
        leader = admins[int(self.admin.call("GET", "brokers/leaderBroker")["serviceUrl"].rpartition(":")[2])]
        end = f":{broker.launch.ports.web}"
        (target,) = (one for one in leader.call("GET", "brokers") if one.endswith(end))
        path = f"namespaces/{'/'.join(topic.split('/')[2:4])}/{leader.bundle_of(topic)}/unload"
        try:
            leader.call("PUT", f"{path}?destinationBroker={target}")
        except AdminError as error:  # it has noted the target down, but another one serves the bundle
            if error.status != HTTPStatus.TEMPORARY_REDIRECT:
                raise
            self.admin_of(self.owner(topic)).call("PUT", path)

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
    settings: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Cluster]:
    """Run a cluster whose ledgers have two copies on two of its bookies, with several transaction coordinators if any.

    Lost copies stay lost until a test starts `Cluster.auto_recovery`.

    Args:
        folder: An empty folder for all files.
        transactions: Whether brokers have transactions.
        brokers: The number of brokers.
        session_seconds: How long ZooKeeper takes brokers and bookies for alive. Default: bookies only shortly.
        external: The address of the listener `external` of a broker, by its port. Default: brokers have one address.
        settings: Further settings of brokers and bookies.
        environment: Environment variables of brokers.
    """
    with ExitStack() as stack:

        def port_numbers(count: int) -> list[int]:
            return [stack.enter_context(closing(Port.reserve())).number for _ in range(count)]

        (port,), bookie_ports = port_numbers(1), port_numbers(BOOKIES)
        places = [Ports(own, web, 0) for own, web in zip(port_numbers(brokers), port_numbers(brokers), strict=True)]
        more = settings or {}
        ports, store = places[0], f"zk:127.0.0.1:{port}"
        config = {"clusterName": "several", "metadataStoreUrl": store, "configurationMetadataStoreUrl": store}
        zookeeper = _node(
            ZooKeeper,
            folder / "zookeeper",
            ports,
            zookeeper_config(folder, port),
            lambda _: _asked(port, b"ruok") == b"imok",
            session_seconds=math.inf,
        )
        bookies = tuple(
            _bookie(
                Bookie,
                folder / f"bookie-{number}",
                replace(ports, bookie=own),
                port,
                session_seconds or SESSION_SECONDS,
                more,
            )
            for number, own in enumerate(bookie_ports, 1)
        )
        common = {**config, **BROKER, "transactionCoordinatorEnabled": str(transactions).lower(), **more}
        if session_seconds is not None:
            common["metadataStoreSessionTimeoutMillis"] = str(session_seconds * 1000)
        if brokers > 1:
            common |= SEVERAL
        broker_nodes = tuple(
            _broker(
                folder / ("broker" if number == 0 else f"broker-{number + 1}"),
                place,
                common | (listeners(place.broker, external(place.broker)) if external else {}),
                transactions,
                session_seconds or SESSION_SECONDS,
            )
            for number, place in enumerate(places)
        )
        recovery = _bookie(AutoRecovery, folder / "auto-recovery", ports, port, SESSION_SECONDS, more)
        for broker in broker_nodes:
            broker.environment = environment or {}
        for node in (zookeeper, *bookies, *broker_nodes, recovery):
            stack.callback(node.kill)
        zookeeper.start()
        _set_up(Setup(folder / "setup", ports, PROFILE, config))
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
    return Node(kind(folder, ports, PROFILE, config), is_ready, may_start, session_seconds)


def _broker(folder: Path, ports: Ports, config: Mapping[str, str], transactions: bool, session_seconds: int) -> Node:
    admin = Admin(f"http://127.0.0.1:{ports.web}")
    return _node(
        Broker,
        folder,
        ports,
        config,
        lambda _: admin.ready_within(0, transactions=transactions),
        session_seconds=session_seconds,
    )


def _bookie(
    kind: type[Bookie], folder: Path, ports: Ports, zookeeper: int, session_seconds: int, more: Mapping[str, str]
) -> Node:
    # A bookie takes connections some time before brokers know that it is there.
    return _node(
        kind,
        folder,
        ports,
        bookie_config(folder, ports.bookie, f"zk:127.0.0.1:{zookeeper}", session_seconds) | dict(more),
        lambda log: b"Started component" in log,
        lambda: f"/available/127.0.0.1:{ports.bookie}\n".encode() not in _asked(zookeeper, b"dump"),
        session_seconds=session_seconds,
    )


def _set_up(launch: Setup) -> None:
    launch.folder.mkdir(parents=True)
    done = subprocess.run(
        command(launch), cwd=launch.folder, capture_output=True, text=True, timeout=READY_SECONDS, check=False
    )
    assert done.returncode == 0, (
        f"the cluster's metadata could not be written:\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    )


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
