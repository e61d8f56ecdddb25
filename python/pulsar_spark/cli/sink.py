"""The verbs ``pulsar-spark sink list``, ``status`` and ``repair``: the state of exactly-once sinks."""

from __future__ import annotations

import argparse
import json
import os
import re
import ssl
import time
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pulsar_spark.cli.output import DONE
from pulsar_spark.options import PulsarWriteOptions
from pulsar_spark.sinks.admin import SinkAdmin
from pulsar_spark.sinks.calls import find, repair
from pulsar_spark.sinks.records import SinkError
from pulsar_spark.sinks.state import fold
from pulsar_spark.sinks.status import SinkStatus
from pulsar_spark.sinks.topics import connect, log_topic, read_topics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pulsar
    from pyspark.sql import SparkSession

# Far more than tokens and certificates have.
_MOST_BYTES = 16 << 20
_URL, _ADMIN_URL = "pulsar://localhost:6650", "http://localhost:8080"


def _sink_status(chosen: argparse.Namespace) -> int:
    admin = _admin(chosen)
    _existing(chosen, admin)
    with closing(_client(chosen)) as client:
        status = _read(chosen, client, admin)
    print(json.dumps(status.facts()) if chosen.json else status.text())
    return DONE


def _sink_list(chosen: argparse.Namespace) -> int:
    options = _options(chosen)
    with _spark() as spark:
        found = find(spark, namespace=chosen.namespace, service_url=chosen.url, options=options)
    lines = [
        f"{one.sink}: of {one.nonce or 'nobody'}, last epoch {one.done}"
        + ("" if one.prepared is None else f", epoch {one.prepared} is not finished")
        for one in found
    ]
    none = f"There are no sinks in {chosen.namespace}."
    print(json.dumps({"sinks": [asdict(one) for one in found]}) if chosen.json else "\n".join(lines or [none]))
    return DONE


def _sink_repair(chosen: argparse.Namespace) -> int:
    options = _options(chosen)
    with _spark() as spark:
        result = repair(
            spark,
            chosen.sink,
            namespace=chosen.namespace,
            service_url=chosen.url,
            options=options,
            accept_lost=chosen.accept_lost,
            accept_repeated=chosen.accept_repeated,
        )
    print(json.dumps(asdict(result)) if chosen.json else result.text())
    return DONE


@contextmanager
def _spark() -> Iterator[SparkSession]:
    """The session of this process, or a small one for one command."""
    from pulsar_spark.jvm import DriverJvm
    from pulsar_spark.sessions import session

    is_own = DriverJvm.running() is None
    settings: dict[str, Any] = {"spark.ui.enabled": False}
    spark = session("pulsar-spark sink", "local[1]", **settings) if is_own else session()
    try:
        yield spark
    finally:
        if is_own:
            spark.stop()


def _options(chosen: argparse.Namespace) -> PulsarWriteOptions:
    """The credentials; a file that cannot be read is an error before Spark starts."""
    _token(chosen)
    if chosen.trust_certs is not None:
        _content(chosen.trust_certs)
        ssl.create_default_context(cafile=chosen.trust_certs)
    token, certs = (None if file is None else str(file) for file in (chosen.token_file, chosen.trust_certs))
    return PulsarWriteOptions(auth_token_file=token, tls_trust_certs_file=certs)


def _existing(chosen: argparse.Namespace, admin: SinkAdmin) -> str:
    """The log topic. A reader would create it if it did not exist."""
    log = log_topic(chosen.namespace, chosen.sink)
    if not admin.exists(log):
        raise SinkError(f"There is no sink {chosen.sink} in {chosen.namespace}: topic {log} does not exist.")
    return log


def _read(chosen: argparse.Namespace, client: pulsar.Client, admin: SinkAdmin) -> SinkStatus:
    opened = admin.open_transactions()  # before the records, so that each of the sink that is open is in them
    drivers = admin.producers(log_topic(chosen.namespace, chosen.sink))
    state = fold(read_topics(client, chosen.namespace, chosen.sink))
    return SinkStatus(chosen.sink, chosen.namespace, state, drivers, opened, int(time.time() * 1000))


def _client(chosen: argparse.Namespace) -> pulsar.Client:
    settings = {} if chosen.trust_certs is None else {"tls_trust_certs_file_path": str(chosen.trust_certs)}
    token = _token(chosen)
    if token is None:
        return connect(chosen.url, **settings)
    import pulsar

    return connect(chosen.url, authentication=pulsar.AuthenticationToken(token), **settings)


def _admin(chosen: argparse.Namespace) -> SinkAdmin:
    return SinkAdmin(chosen.admin_url, _token(chosen), chosen.trust_certs)


def _token(chosen: argparse.Namespace) -> str | None:
    try:
        return None if chosen.token_file is None else _content(chosen.token_file).decode().strip()
    except UnicodeDecodeError as error:
        raise SinkError(f"{chosen.token_file} is no text ({error.reason}), so it holds no token.") from None


def _content(file: Path) -> bytes:
    """The content of a file that is regular and not endless."""
    if file.exists() and not file.is_file():
        raise SinkError(f"{file} is no file.")
    with file.open("rb") as stream:
        content = stream.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise SinkError(f"{file} has more than {_MOST_BYTES} bytes.")
    return content


def _sink(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,100}", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not the id of a sink: use letters, digits, '.', '_' and '-'")
    return text


def add_sink(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verbs to the command line."""
    summary = "show or repair the state of exactly-once sinks"
    verbs = commands.add_parser("sink", help=summary, description=summary).add_subparsers(
        title="commands", required=True, metavar="COMMAND"
    )

    def verb(name: str, run: Callable[[argparse.Namespace], int], summary: str) -> argparse.ArgumentParser:
        added = verbs.add_parser(name, help=summary, description=summary)
        added.set_defaults(run=run)
        added.add_argument("--namespace", default="public/default", help="where its topics are (default: %(default)s)")
        url = os.environ.get("PULSAR_SERVICE_URL", _URL)
        added.add_argument("--url", default=url, help="service URL (default: PULSAR_SERVICE_URL, or " + _URL + ")")
        added.add_argument("--token-file", type=Path, help="file with a token")
        added.add_argument("--trust-certs", type=Path, help="file with the certificates to trust")
        added.add_argument("--json", action="store_true", help="print one JSON object")
        return added

    verb("list", _sink_list, "list the sinks of a namespace")
    status = verb("status", _sink_status, "show owner, epochs and open transactions")
    status.add_argument("--admin-url", default=_ADMIN_URL, help="admin URL (default: %(default)s)")
    repairing = verb("repair", _sink_repair, "commit and abort what is left over when no driver runs")
    for added in (status, repairing):
        added.add_argument("sink", type=_sink, help="option sinkId; of a stream without it, the id of the query")
    torn = repairing.add_mutually_exclusive_group()
    torn.add_argument(
        "--accept-lost", type=int, metavar="EPOCH", help="the torn epoch counts as written without its lost rows"
    )
    torn.add_argument(
        "--accept-repeated", type=int, metavar="EPOCH", help="the next start writes the torn epoch again as a whole"
    )
