"""The verbs ``pulsar-spark sink list``, ``status``, ``repair`` and ``finish``: the state of exactly-once sinks."""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pulsar_spark.cli.cluster import cluster_options
from pulsar_spark.cli.inspect import add_verb, answer
from pulsar_spark.cli.jar import repair
from pulsar_spark.cli.output import DONE
from pulsar_spark.sinks import FoundSink, RepairedSink, SinkStatus

if TYPE_CHECKING:
    from collections.abc import Callable


def _list(chosen: argparse.Namespace) -> int:
    found = [FoundSink(**one) for one in answer(chosen, "sinks", {"sinkNamespace": chosen.namespace}).records()]
    lines = [
        f"{one.sink}: of {one.nonce or 'nobody'}, last epoch {one.done}"
        + ("" if one.prepared is None else f", epoch {one.prepared} is not finished")
        for one in found
    ]
    none = f"There are no sinks in {chosen.namespace}."
    return _show(chosen, {"sinks": [asdict(one) for one in found]}, "\n".join(lines or [none]))


def _status(chosen: argparse.Namespace) -> int:
    told = answer(chosen, "sink", _named(chosen))
    status = SinkStatus.of(chosen.sink, [dict(zip(told.columns, row, strict=True)) for row in told.values()])
    return _show(chosen, status.facts(), status.text())


def _repair(chosen: argparse.Namespace) -> int:
    torn = "lost" if chosen.accept_lost is not None else "repeated" if chosen.accept_repeated is not None else ""
    epoch = chosen.accept_lost if chosen.accept_lost is not None else chosen.accept_repeated or 0
    result = RepairedSink.of(repair(cluster_options(chosen, _named(chosen), scope="batchWrite"), torn, epoch))
    return _show(chosen, asdict(result), result.text())


def _finish(chosen: argparse.Namespace) -> int:
    options = cluster_options(chosen, _named(chosen), scope="batchWrite")
    result = RepairedSink.of(repair(options, "", 0, is_last=True))
    return _show(chosen, asdict(result), result.text())


def _show(chosen: argparse.Namespace, facts: dict[str, Any], text: str) -> int:
    print(json.dumps(facts) if chosen.json else text)
    return DONE


def _named(chosen: argparse.Namespace) -> dict[str, str | None]:
    return {"sinkNamespace": chosen.namespace, "sinkId": chosen.sink}


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
        added = add_verb(verbs, name, run, summary)
        added.add_argument("--namespace", default="public/default", help="where its topics are (default: %(default)s)")
        added.add_argument("--url", dest="service_url", help="another name of --service-url")
        _stands_for(added, "--token-file", "auth.token=@FILE", "file with a token")
        _stands_for(added, "--trust-certs", "tls.trustCertsFile=FILE", "file with the certificates to trust")
        return added

    verb("list", _list, "list the sinks of a namespace")
    status = verb("status", _status, "show owner, epochs and open transactions")
    repairing = verb("repair", _repair, "commit and abort what is left over when no driver runs")
    finishing = verb("finish", _finish, "repair a sink that nothing writes to any more, and remove its state")
    for added in (status, repairing, finishing):
        added.add_argument("sink", type=_sink, help="option sinkId; of a stream without it, the id of the query")
    torn = repairing.add_mutually_exclusive_group()
    torn.add_argument(
        "--accept-lost", type=int, metavar="EPOCH", help="the torn epoch counts as written without its lost rows"
    )
    torn.add_argument(
        "--accept-repeated", type=int, metavar="EPOCH", help="the next start writes the torn epoch again as a whole"
    )


def _stands_for(verb: argparse.ArgumentParser, name: str, option: str, what: str) -> None:
    """Add a short form of ``--option`` for a file."""
    key, _, value = option.partition("=")

    def pair(file: str) -> tuple[str, str]:
        return key, value.replace("FILE", file)

    help_ = f"{what}: --option {option}"
    verb.add_argument(name, dest="option", type=pair, action="append", default=[], metavar="FILE", help=help_)
