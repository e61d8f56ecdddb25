"""The verb ``pulsar-spark lag``: what the query of a checkpoint, or a subscription, has not read."""

from __future__ import annotations

import argparse
import json
import math
import sys
from time import sleep, strftime
from typing import TYPE_CHECKING

from pulsar_spark._grid import grid
from pulsar_spark._tables import name_in_python
from pulsar_spark.cli.inspect import add_verb, answer
from pulsar_spark.cli.output import DONE, print_grid
from pulsar_spark.errors import PulsarOptionError

if TYPE_CHECKING:
    from pulsar_spark.cli.inspect import Verbs
    from pulsar_spark.cli.jar import Answer

_TOP_OF_EMPTY_SCREEN = "\x1b[H\x1b[J"


def add_lag(commands: Verbs) -> None:
    """Add the verb to the command line."""
    verb = add_verb(commands, "lag", _lag, "show what the query of a checkpoint, or a subscription, has not read")
    of = "checkpoint of a query, on any file system that Spark's Hadoop reads; with --subscription, topics"
    verb.add_argument("of", nargs="+", metavar="CHECKPOINT", help=of)
    verb.add_argument("--subscription", metavar="NAME", help="subscription instead of a query")
    again = "show it again every SECONDS, 5 without a number, until Ctrl-C"
    verb.add_argument("--watch", type=_seconds, nargs="?", const=5.0, metavar="SECONDS", help=again)


def _lag(chosen: argparse.Namespace) -> int:
    more = _read_by(chosen)
    if chosen.watch is None:
        _show(chosen, answer(chosen, "lag", more))
        return DONE
    if chosen.json:
        raise PulsarOptionError("PULSAR_OPTION_CONFLICT", first="--watch", second="--json")
    while True:
        found = answer(chosen, "lag", more)
        print((_TOP_OF_EMPTY_SCREEN if sys.stdout.isatty() else "") + strftime("%H:%M:%S"))
        _show(chosen, found)
        sys.stdout.flush()
        sleep(chosen.watch)


def _read_by(chosen: argparse.Namespace) -> dict[str, str | None]:
    """The options that say who reads."""
    if chosen.subscription is not None:
        return {"topics": ",".join(chosen.of), "progressSubscription": chosen.subscription}
    if len(chosen.of) > 1:
        allowed = "one folder; topics need --subscription"
        raise PulsarOptionError(
            "PULSAR_OPTION_INVALID", option="CHECKPOINT", value=" ".join(chosen.of), allowed=allowed
        )
    return {"checkpoint": chosen.of[0]}


def _show(chosen: argparse.Namespace, found: Answer) -> None:
    """Print all partitions as JSON, or those that are behind as a table."""
    partitions = found.records()
    if chosen.json:
        print(json.dumps({"partitions": partitions}))
        return
    behind = [values for values, one in zip(found.values(), partitions, strict=True) if one["entries"] != 0]
    at_end = len(partitions) - len(behind)
    if behind:
        print_grid(grid([name_in_python(column) for column in found.columns], behind), "")
    if at_end or not behind:
        print(f"{at_end:,} {'other ' if behind else ''}partition{'' if at_end == 1 else 's'} at the end.")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds")
    return seconds
