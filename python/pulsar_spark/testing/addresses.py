"""The choice of a server by the environment: first an address, else a container on request, else a local process."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

URL, ADMIN_URL, SERVER = "PULSAR_SPARK_TEST_URL", "PULSAR_SPARK_TEST_ADMIN_URL", "PULSAR_SPARK_TEST_SERVER"
OWN_SERVER = "PULSAR_SPARK_TEST_OWN_SERVER"
"""The variable that is "yes" where the server at the address ends with the tests."""

WAYS = f"""\
The tests need a Pulsar and never skip. Any one of these gives them one:
  - a local process: install a JDK 17 or newer (JAVA_HOME or PATH), nothing else to do
  - a running server: set {URL}=pulsar://HOST:PORT and {ADMIN_URL}=http://HOST:PORT
  - a container: set {SERVER}=container, with Docker running and 'pip install testcontainers'"""


class NoServerError(RuntimeError):
    """There is no Pulsar for the tests; the message says what is missing and lists the alternatives."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}\n{WAYS}")


@dataclass(frozen=True)
class Addresses:
    """The addresses of a Pulsar.

    Attributes:
        service_url: The address of the brokers.
        admin_url: The address of the admin service.
    """

    service_url: str
    admin_url: str


@dataclass(frozen=True)
class Choice:
    """The kind of server to use.

    Attributes:
        kind: An address that is given, a local process or a container.
        given: The addresses, for the kind of that name only.
    """

    kind: Literal["given", "local", "container"]
    given: Addresses | None = None


def choose(environment: Mapping[str, str]) -> Choice:
    """Choose a server by the environment.

    Raises:
        NoServerError: A variable is wrong, or one is missing.
    """
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
    """True if the server is there after the tests, with all that they left on it."""
    return choose(environment).kind == "given" and environment.get(OWN_SERVER) != "yes"


def shared_by(addresses: Addresses) -> dict[str, str]:
    """The environment of other tests that use this server, which ends with them."""
    return {URL: addresses.service_url, ADMIN_URL: addresses.admin_url, OWN_SERVER: "yes"}
