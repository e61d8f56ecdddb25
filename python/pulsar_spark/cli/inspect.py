"""The verbs that show a table of the jar: ``partitions``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pulsar_spark._grid import grid
from pulsar_spark._tables import name_in_python
from pulsar_spark.cli.cluster import add_cluster, cluster_options
from pulsar_spark.cli.jar import Answer, ask
from pulsar_spark.cli.output import DONE, print_grid

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - argparse has no public name for it


def add_inspect(commands: Verbs) -> None:
    """Add the verbs to the command line."""
    partitions = add_verb(commands, "partitions", _partitions, "show where the partitions of topics begin and end")
    partitions.add_argument("topic", nargs="+", help="topics")


def add_verb(
    commands: Verbs, name: str, run: Callable[[argparse.Namespace], int], summary: str
) -> argparse.ArgumentParser:
    """Add a verb with the arguments that name a cluster."""
    verb = commands.add_parser(name, help=summary, description=summary)
    verb.set_defaults(run=run)
    add_cluster(verb)
    return verb


def answer(
    chosen: argparse.Namespace, table: str, more: Mapping[str, str | None], *, needs_cluster: bool = True
) -> Answer:
    """Ask for a table, with the options of a verb."""
    return ask(table, cluster_options(chosen, {"metadata": table, **more}, needs_cluster=needs_cluster))


def show(chosen: argparse.Namespace, found: Answer, name: str) -> int:
    """Print rows: as one JSON object, or as a table."""
    if chosen.json:
        print(json.dumps({name: found.records()}))
    else:
        print_grid(grid([name_in_python(column) for column in found.columns], found.values()), f"There are no {name}.")
    return DONE


def _partitions(chosen: argparse.Namespace) -> int:
    return show(chosen, answer(chosen, "partitions", {"topics": ",".join(chosen.topic)}), "partitions")
