"""The verbs ``pulsar-spark sink status`` and ``repair``: the state of an exactly-once sink."""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from pulsar_spark.cli.output import DONE, FAILED
from pulsar_spark.sinks.admin import SinkAdmin
from pulsar_spark.sinks.records import SinkError
from pulsar_spark.sinks.repair import repair
from pulsar_spark.sinks.state import fold
from pulsar_spark.sinks.status import SinkStatus
from pulsar_spark.sinks.topics import connect, log_topic, read_topics

if TYPE_CHECKING:
    from collections.abc import Callable

    import pulsar

_URL, _ADMIN_URL = "pulsar://localhost:6650", "http://localhost:8080"


def _sink_status(chosen: argparse.Namespace) -> int:
    admin = _admin(chosen)
    _existing(chosen, admin)
    with closing(_client(chosen)) as client:
        status = _read(chosen, client, admin)
    print(json.dumps(status.facts()) if chosen.json else status.text())
    return DONE


def _sink_repair(chosen: argparse.Namespace) -> int:
    import pulsar

    admin = _admin(chosen)
    log = _existing(chosen, admin)
    drivers = admin.producers(log)
    if drivers:
        raise SinkError(f"A driver of sink {chosen.sink} is connected: {', '.join(drivers)}. Stop its query first.")
    with closing(_client(chosen)) as client:
        try:
            producer = client.create_producer(log, access_mode=pulsar.ProducerAccessMode.Exclusive)
        except pulsar.PulsarException as error:
            raise SinkError(
                f"The log of sink {chosen.sink} cannot be owned ({error}). Stop its query first."
            ) from error
        try:
            result = repair(_read(chosen, client, admin), admin, producer.send)
        except pulsar.PulsarException as error:
            raise SinkError(f"Another driver took over sink {chosen.sink} ({error}).") from error
        finally:
            producer.close()
    print(json.dumps(asdict(result)) if chosen.json else result.text())
    return FAILED if result.remaining else DONE


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
        return None if chosen.token_file is None else str(chosen.token_file.read_text(encoding="utf-8")).strip()
    except UnicodeDecodeError as error:
        raise SinkError(f"{chosen.token_file} is no text ({error.reason}), so it holds no token.") from None


def _sink(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,100}", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not the id of a sink: use letters, digits, '.', '_' and '-'")
    return text


def add_sink(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verbs to the command line."""
    summary = "show or repair the state of an exactly-once sink"
    verbs = commands.add_parser("sink", help=summary, description=summary).add_subparsers(
        title="commands", required=True, metavar="COMMAND"
    )

    def verb(name: str, run: Callable[[argparse.Namespace], int], summary: str) -> None:
        added = verbs.add_parser(name, help=summary, description=summary)
        added.set_defaults(run=run)
        added.add_argument("sink", type=_sink, help="option sinkId; of a stream without it, the id of the query")
        added.add_argument("--namespace", default="public/default", help="where its topics are (default: %(default)s)")
        url = os.environ.get("PULSAR_SERVICE_URL", _URL)
        added.add_argument("--url", default=url, help="service URL (default: PULSAR_SERVICE_URL, or " + _URL + ")")
        added.add_argument("--admin-url", default=_ADMIN_URL, help="admin URL (default: %(default)s)")
        added.add_argument("--token-file", type=Path, help="file with a token for both")
        added.add_argument("--trust-certs", type=Path, help="file with the certificates to trust")
        added.add_argument("--json", action="store_true", help="print one JSON object")

    verb("status", _sink_status, "show owner, epochs and open transactions")
    verb(
        "repair",
        _sink_repair,
        "finish or abort what is left over when no driver runs; exit code 1 if something remains",
    )
