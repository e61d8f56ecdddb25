"""The verbs that show a table of the jar: ``topics``, ``schema``, ``partitions``, ``subscriptions``, ``offsets``."""

from __future__ import annotations

import json
import re
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from pulsar_spark._grid import cell, grid
from pulsar_spark._tables import name_in_python
from pulsar_spark.cli.cluster import add_cluster, cluster_options
from pulsar_spark.cli.jar import Answer, ask
from pulsar_spark.cli.options import page
from pulsar_spark.cli.output import DONE, print_grid
from pulsar_spark.errors import PulsarOptionError
from pulsar_spark.options.bounds import bound_options

_AGO = re.compile(r"-\d+(\.\d+)?\s*\w*$")

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - argparse has no public name for it


def add_inspect(commands: Verbs) -> None:
    """Add the verbs to the command line."""
    topics = add_verb(commands, "topics", _topics, "list the topics of a namespace")
    topics.add_argument("namespace", nargs="?", default="public/default", help="namespace (default: %(default)s)")
    topics.add_argument("--pattern", default=".*", metavar="REGEX", help="expression that matches whole names")
    schema = add_verb(commands, "schema", _schema, "show the schema of a topic")
    schema.add_argument("topic", help="topic")
    schema.add_argument("--version", type=int, help="number of the version (default: the newest)")
    subscriptions = add_verb(commands, "subscriptions", _subscriptions, "show who reads topics, and what is left")
    subscriptions.add_argument("topic", nargs="+", help="topics")
    summary = "find the positions of topics, as JSON for startingOffsets"
    offsets = commands.add_parser("offsets", help=summary, description=summary).add_subparsers(
        title="commands", required=True, metavar="COMMAND"
    )
    at = add_verb(offsets, "at", _offsets, f"{summary}, at a time")
    at._negative_number_matcher = _AGO  # noqa: SLF001 - argparse takes -2h for an option otherwise
    at.add_argument("time", help="such as 2026-01-31T12:00:00Z, -2h or '2 hours ago'")
    at.add_argument("topic", nargs="+", help="topics")
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


def _topics(chosen: argparse.Namespace) -> int:
    more = {"topicsPattern": f"{chosen.namespace}/{chosen.pattern}", "allowMissingTopics": "true"}
    return show(chosen, answer(chosen, "topics", more), "topics")


def _schema(chosen: argparse.Namespace) -> int:
    versions = answer(chosen, "schemas", {"topic": chosen.topic}).records()
    known = {one["version"]: one for one in versions}
    if chosen.version is not None and chosen.version not in known:
        allowed = f"one of {', '.join(map(str, sorted(known)))}" if known else "left out: the topic has no schema"
        raise PulsarOptionError("PULSAR_OPTION_INVALID", option="--version", value=str(chosen.version), allowed=allowed)
    found = known[chosen.version if chosen.version is not None else max(known)] if known else None
    if chosen.json:
        print(json.dumps({"schema": found}))
    elif found is None:
        print("The topic has no schema.")
    else:
        facts = {"type": found["type"], "version": found["version"], "columns": found["columns"]}
        print(page(cell("topic", found["topic"]), found["definition"] or "A primitive type.", facts))
    return DONE


def _subscriptions(chosen: argparse.Namespace) -> int:
    return show(chosen, answer(chosen, "subscriptions", {"topics": ",".join(chosen.topic)}), "subscriptions")


def _offsets(chosen: argparse.Namespace) -> int:
    topics = ",".join(chosen.topic)
    bounds = bound_options("start", chosen.time, topic=topics, now=datetime.now(timezone.utc))
    found = answer(chosen, "positions", {"topics": topics, **bounds}).records()
    offsets = {one["topic"]: one["startingOffset"] for one in found}
    print(json.dumps({"startingOffsets": offsets} if chosen.json else offsets))
    return DONE


def _partitions(chosen: argparse.Namespace) -> int:
    return show(chosen, answer(chosen, "partitions", {"topics": ",".join(chosen.topic)}), "partitions")
