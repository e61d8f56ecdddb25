"""The verb ``pulsar-spark peek``: the newest messages of a topic, as a read returns them."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from pulsar_spark._grid import Grid, cell, printable
from pulsar_spark._tables import name_in_python
from pulsar_spark.cli.cluster import cluster_options
from pulsar_spark.cli.inspect import add_verb
from pulsar_spark.cli.jar import ask
from pulsar_spark.cli.output import DONE, print_grid

if TYPE_CHECKING:
    from pulsar_spark.cli.inspect import Verbs
    from pulsar_spark.cli.jar import Answer

# Columns of messages that people see before the value; JSON has all.
_FIRST = ("__position", "__publishTime", "__key", "__messageProperties")
_MOST, _WIDEST = 10_000, 80
_NUMBERS = ("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL")


def add_peek(commands: Verbs) -> None:
    """Add the verb to the command line."""
    verb = add_verb(commands, "peek", _peek, "show the newest messages of a topic, as a read returns them")
    verb.add_argument("topic", help="topic")
    verb.add_argument("-n", type=_count, default=10, metavar="N", help="number of messages (default: %(default)s)")


def _peek(chosen: argparse.Namespace) -> int:
    wanted = {"topic": chosen.topic, "startingOffsets": f"last {chosen.n}"}
    found = ask("messages", cluster_options(chosen, wanted, scope="batchRead"), limit=chosen.n)
    if chosen.json:
        print(json.dumps({"messages": found.records()}))
    else:
        print_grid(_table(found), "There are no messages.")
    return DONE


def _table(found: Answer) -> Grid:
    """The messages as people read them: without the columns that are empty or describe the message to machines."""
    values = [name for name in found.columns if not name.startswith("__")]
    shown = [name for name in (*_FIRST, *values) if name in found.columns]
    places = [found.columns.index(name) for name in shown]
    head = [name if name in values else name_in_python(name).strip("_").replace("_", " ") for name in shown]
    right = {name for name, place in zip(head, places, strict=True) if found.types[place].startswith(_NUMBERS)}
    return Grid(head, [[_text(row[place]) for place in places] for row in found.values()], frozenset(right))


def _text(value: object) -> str:
    """A value on one line: texts and bytes that are texts as they are, other bytes in hexadecimal."""
    if isinstance(value, bytes):
        try:
            text = value.decode()
        except UnicodeDecodeError:
            text = f"0x{value.hex()}"
    elif isinstance(value, str):
        text = value
    elif isinstance(value, (dict, list)):
        text = json.dumps(value, ensure_ascii=False) if value else ""
    elif isinstance(value, (bool, int, float)):
        text = json.dumps(value)
    else:
        text = cell("", value)
    text = printable(text)
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."


def _count(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= _MOST:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 to {_MOST:,}")
    return int(text)
