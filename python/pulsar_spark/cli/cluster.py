"""The arguments that all verbs for a cluster share: where it is, and how this command is known there."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pulsar_spark.cluster import PulsarCluster, client_conf, environment
from pulsar_spark.errors import PulsarOptionError
from pulsar_spark.options import checks
from pulsar_spark.options.names import is_secret

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_BYTES = 1 << 20


def add_cluster(verb: argparse.ArgumentParser) -> None:
    """Add the arguments to a verb."""
    group = verb.add_argument_group("cluster", "PULSAR_SERVICE_URL and other variables name it without these")
    group.add_argument("--service-url", "--cluster", metavar="URL", help="address of the brokers")
    group.add_argument("--admin-url", metavar="URL", help="address of the admin service")
    group.add_argument("--client-conf", type=Path, metavar="FILE", help="the client.conf of Pulsar's tools")
    group.add_argument(
        "--option",
        type=_pair,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="any option of reads; KEY=@FILE takes the value from a file",
    )
    verb.add_argument("--json", action="store_true", help="print one JSON object")


def cluster_options(
    chosen: argparse.Namespace, more: Mapping[str, str | None], *, needs_cluster: bool = True, scope: str = "metadata"
) -> dict[str, str]:
    """The options that the arguments of a verb stand for.

    Args:
        chosen: The arguments.
        more: Options of the verb itself; None means not set.
        needs_cluster: True if the verb does nothing without a cluster.
        scope: The scope of the options.

    Raises:
        PulsarOptionError: One is wrong.
    """
    given = client_conf.arguments(chosen.client_conf) if chosen.client_conf else environment.arguments()
    urls = {"service_url": chosen.service_url, "admin_url": chosen.admin_url}
    given |= {name: value for name, value in urls.items() if value is not None}
    own = {key: _value(key, value) for key, value in chosen.option}
    url = next((value for key, value in own.items() if key.lower() == "service.url"), None)
    named = url is not None or "service_url" in given
    if needs_cluster and not named:
        raise PulsarOptionError("PULSAR_OPTION_MISSING", option="--service-url", example="pulsar://localhost:6650")
    cluster = PulsarCluster(**{"service_url": url, **given}).options() if named else {}
    wanted = {key: value for key, value in more.items() if value is not None}
    options = {**cluster, **own, **wanted}
    checks.check(options, (scope,))
    return options


def _pair(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not key or not sign:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form KEY=VALUE")
    return key, value


def _value(key: str, value: str) -> str:
    """The value of an option, from its file if it names one."""
    if not value.startswith("@"):
        if is_secret(key):
            allowed = "@FILE with the value, because others on this machine see the arguments of a command"
            raise PulsarOptionError("PULSAR_OPTION_INVALID", option=key, value=checks.MASK, allowed=allowed)
        return value
    file = Path(value[1:])
    try:
        if not file.is_file():
            raise PulsarOptionError("PULSAR_FILE_UNREADABLE", option=key, file=str(file), problem="is not there")
        if file.stat().st_size > _MOST_BYTES:
            problem = f"has more than {_MOST_BYTES} bytes"
            raise PulsarOptionError("PULSAR_FILE_UNREADABLE", option=key, file=str(file), problem=problem)
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        problem = "is no text" if isinstance(error, UnicodeDecodeError) else f"cannot be read: {error.strerror}"
        raise PulsarOptionError("PULSAR_FILE_UNREADABLE", option=key, file=str(file), problem=problem) from None
