"""A secured server with all that may be wrong around it, and the faults that the doctor is to find."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from support.servers.auth_server import PLUGIN
from support.servers.tls_server import TOPIC

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from support.servers.servers import Addresses
    from support.servers.tls_server import TlsServer

DEADLINE_MS = 8000
NOT_KEPT = "public/not-kept"
FORGOTTEN = f"persistent://{NOT_KEPT}/events"
OFFLOADED = f"{TOPIC}-offloaded"


@dataclass(frozen=True)
class Surroundings:
    """The server that works, and all that is wrong around it."""

    server: TlsServer
    folder: Path
    bookie: str
    closed: int
    silent: int
    impostor: str
    ended: str
    other: Addresses

    @cached_property
    def auth(self) -> dict[str, str]:
        """Tokens by their role."""
        auth = self.server.auth_server
        past = int(time.time()) - 3600
        return {
            "reader": auth.reader_token,
            "nobody": auth.nobody_token,
            "wrong": auth.wrong_token(),
            "expired": auth.token("reader", exp=past),
            "writer": auth.token("writer"),
            "admin": auth.admin_token,
        }

    def options(self, **more: str) -> dict[str, str]:
        """What finds nothing wrong, and changes of it; an empty value leaves the option out."""
        right = self.server.options(operationTimeoutMs=str(DEADLINE_MS))
        return {key: value for key, value in {**right, "auth.token": self.auth["reader"], **more}.items() if value}

    def with_admin(self, role: str = "reader", **more: str) -> dict[str, str]:
        """Changes that bring in the admin service, and further ones."""
        return {"admin.url": self.server.admin_url, "auth.token": self.auth[role], **more}


@dataclass(frozen=True)
class Fault:
    """A fault and what is to be said of it: the options that differ, the only step that finds it, its condition."""

    options: Callable[[Surroundings], Mapping[str, str]]
    step: str
    condition: str
    words: tuple[str, ...] = ()
    state: str = "fail"


def _admin_login(token: str) -> dict[str, str]:
    return {"admin.auth.pluginClassName": f"{PLUGIN}AuthenticationToken", "admin.auth.params": f"token:{token}"}


def _binary(at: Surroundings) -> int:
    return int(at.server.auth_server.server.service_url.rpartition(":")[2])


FAULTS = {
    "unknown host": Fault(
        lambda _: {"service.url": "pulsar+ssl://no-such-host.invalid:6651"},
        "name resolves",
        "PULSAR_UNREACHABLE",
        ("no-such-host.invalid", "unknown host"),
    ),
    "closed port": Fault(
        lambda at: {"service.url": f"pulsar+ssl://localhost:{at.closed}"}, "port", "PULSAR_UNREACHABLE", ("refused",)
    ),
    "TLS to a plain port": Fault(
        lambda at: {"service.url": f"pulsar+ssl://localhost:{_binary(at)}"}, "TLS", "PULSAR_TLS_FAILED.NO_TLS"
    ),
    "other authority": Fault(
        lambda at: {"tls.trustCertsFile": str(at.folder / "other" / "other authority.pem")},
        "TLS",
        "PULSAR_TLS_FAILED.AUTHORITY",
    ),
    "file without a certificate": Fault(
        lambda _: {"tls.trustCertsFile": __file__}, "TLS", "PULSAR_FILE_NOT_PEM", ("`tls.trustCertsFile`", __file__)
    ),
    "certificate of another host": Fault(
        lambda at: {"service.url": at.impostor}, "TLS", "PULSAR_TLS_FAILED.HOST_NAME", ("matching localhost",)
    ),
    "certificate that ended": Fault(
        lambda at: {"service.url": at.ended}, "TLS", "PULSAR_TLS_FAILED.VALIDITY", ("NotAfter",)
    ),
    "plain to a TLS port": Fault(
        lambda at: {"service.url": f"pulsar://localhost:{at.server.broker_port}"},
        "login",
        "PULSAR_WRONG_PORT",
        ("speaks TLS",),
    ),
    "web port for brokers": Fault(
        lambda at: {"service.url": at.server.auth_server.server.admin_url.replace("http:", "pulsar:")},
        "login",
        "PULSAR_WRONG_PORT",
        ("speaks HTTP",),
    ),
    "silent broker": Fault(
        lambda at: {"service.url": f"pulsar://127.0.0.1:{at.silent}"}, "login", "PULSAR_UNREACHABLE"
    ),
    "wrong token": Fault(lambda at: {"auth.token": at.auth["wrong"]}, "login", "PULSAR_ACCESS_DENIED"),
    "expired token": Fault(
        lambda at: {"auth.token": at.auth["expired"]}, "login", "PULSAR_TOKEN_EXPIRED", ("`auth.token` expired at",)
    ),
    "no token": Fault(lambda _: {"auth.token": ""}, "login", "PULSAR_ACCESS_DENIED"),
    "token file that is missing": Fault(
        lambda at: {"auth.token": "", "auth.tokenFile": str(at.folder / "no-token")}, "login", "PULSAR_FILE_UNREADABLE"
    ),
    "unknown topic": Fault(
        lambda _: {"topic": TOPIC[:-1]}, "topic", "PULSAR_TOPIC_NOT_FOUND", ("The nearest name is `events`",)
    ),
    "no right at all": Fault(lambda at: {"auth.token": at.auth["nobody"]}, "topic", "PULSAR_ACCESS_DENIED"),
    "no right to consume": Fault(lambda at: {"auth.token": at.auth["writer"]}, "consume", "PULSAR_ACCESS_DENIED"),
    "no right to produce": Fault(lambda _: {"write": "true"}, "produce", "PULSAR_ACCESS_DENIED"),
    "admin service that is down": Fault(
        lambda at: {"admin.url": f"https://localhost:{at.closed}"}, "admin service", "PULSAR_UNREACHABLE", ("refused",)
    ),
    "admin service without a right": Fault(
        lambda at: at.with_admin(**_admin_login(at.auth["nobody"])), "admin service", "PULSAR_ACCESS_DENIED"
    ),
    "admin service of another host": Fault(
        lambda at: {"admin.url": at.impostor.replace("pulsar+ssl:", "https:")},
        "admin service",
        "PULSAR_TLS_FAILED.HOST_NAME",
    ),
    "binary port for the admin service": Fault(
        lambda at: {"admin.url": f"http://localhost:{_binary(at)}"}, "admin service", "PULSAR_WRONG_PORT"
    ),
    "plain admin service on a TLS port": Fault(
        lambda at: {"admin.url": f"http://localhost:{at.server.web_port}"},
        "admin service",
        "PULSAR_WRONG_PORT",
        ("speaks TLS",),
    ),
    "admin service of another cluster": Fault(
        lambda at: {"admin.url": at.other.admin_url}, "admin service", "PULSAR_ADMIN_OTHER_CLUSTER"
    ),
    "bookie": Fault(
        lambda at: at.with_admin(bookieAddresses=f"{at.bookie}=127.0.0.1:{at.closed}"),
        "bookies",
        "PULSAR_BOOKIE_UNREACHABLE",
        ("no connection to",),
    ),
    "offloaded ledgers that are gone": Fault(
        lambda at: at.with_admin(
            topic=OFFLOADED, **{"offload.location": (at.folder / "gone").as_uri(), "offload.format": "mapfile"}
        ),
        "offloaded ledgers",
        "PULSAR_OFFLOAD_GONE",
    ),
    "offloaded ledgers on an unknown file system": Fault(
        lambda at: at.with_admin(
            topic=OFFLOADED, **{"offload.location": "nosuch://bucket", "offload.format": "mapfile"}
        ),
        "offloaded ledgers",
        "PULSAR_OFFLOAD_FAILED",
    ),
    "transactions that are off": Fault(
        lambda at: {"auth.token": at.auth["admin"], "write": "true", "deliveryGuarantee": "exactly-once"},
        "transactions",
        "PULSAR_TRANSACTIONS_UNAVAILABLE",
    ),
    "no retention": Fault(
        lambda at: at.with_admin("admin", topic=FORGOTTEN),
        "retention",
        "PULSAR_POLICY_LOSES_DATA.RETENTION",
        (FORGOTTEN,),
        "warn",
    ),
    "message TTL": Fault(
        lambda at: at.with_admin("admin", topic=FORGOTTEN, progressSubscription="stream"),
        "message TTL",
        "PULSAR_POLICY_LOSES_DATA.TTL",
        ("600 s",),
        "warn",
    ),
}
# Each of the others is a variation of one of these.
GATE = {
    "unknown host",
    "closed port",
    "TLS to a plain port",
    "other authority",
    "certificate of another host",
    "certificate that ended",
    "plain to a TLS port",
    "wrong token",
    "expired token",
    "unknown topic",
    "no right to consume",
    "no right to produce",
    "admin service that is down",
    "admin service without a right",
    "admin service of another cluster",
    "binary port for the admin service",
    "bookie",
    "offloaded ledgers that are gone",
    "transactions that are off",
    "no retention",
}
