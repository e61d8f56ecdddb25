"""The verb ``pulsar-spark explain``: an option, an argument, a column, a metric or an error by its name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pulsar_spark._tables import ARGUMENTS, described_names, error_conditions
from pulsar_spark.cli.options import explained, facts_of, page
from pulsar_spark.errors import FAMILIES
from pulsar_spark.options import checks

if TYPE_CHECKING:
    import argparse


def add_explain(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    summary = "explain an option, an argument, a column, a metric or an error by its name"
    verb = commands.add_parser("explain", help=summary, description=summary)
    verb.add_argument("name", help="such as startingOffsets, start, __key, pulsarBacklogMs or PULSAR_TLS_FAILED")
    verb.add_argument("--json", action="store_true", help="print one JSON object")
    verb.set_defaults(run=_explain_command)


def _explain_command(chosen: argparse.Namespace) -> int:
    name = chosen.name.strip("[]")
    if conditions := _conditions(name.upper()):
        shown = [_condition_facts(one) if chosen.json else _condition_page(one) for one in conditions]
        print(json.dumps({"conditions": shown}) if chosen.json else "\n\n".join(map(str, shown)))
    elif options := [option for option, argument in ARGUMENTS.items() if argument == name.lower()]:
        pages = [facts_of(option) if chosen.json else explained(option) for option in options]
        print(json.dumps({"argument": name, "options": pages}) if chosen.json else "\n\n".join(map(str, pages)))
    elif described := _described(name):
        print(json.dumps(described) if chosen.json else _described_page(**described))
    elif name.startswith("__"):
        raise checks.unknown(name, described_names())
    elif name.upper().startswith("PULSAR_"):
        raise checks.unknown(name, error_conditions())
    else:
        print(json.dumps(facts_of(name)) if chosen.json else explained(name))
    return 0


def _described(name: str) -> dict[str, Any]:
    """The facts of a column or metric; empty for other names."""
    return next(({"name": one, **facts} for one, facts in described_names().items() if one.lower() == name.lower()), {})


def _described_page(name: str, kind: str, **facts: str) -> str:
    return page(name, f"A metadata {kind}." if kind == "column" else "A metric that Spark shows.", facts)


def _conditions(name: str) -> list[str]:
    """The condition of this name, or those below it: ``PULSAR_DATA_LOSS`` has several."""
    return [one for one in error_conditions() if one == name or one.startswith(f"{name}.")]


def _condition_facts(name: str) -> dict[str, Any]:
    condition = error_conditions()[name]
    return {
        "condition": name,
        "message": condition.message,
        "action": condition.action,
        "sql_state": condition.sql_state,
        "class": FAMILIES[condition.family].__name__,
    }


def _condition_page(name: str) -> str:
    condition = error_conditions()[name]
    facts = {
        "in Python": FAMILIES[condition.family].__name__,
        "SQLSTATE": condition.sql_state,
        "found": "before a task runs" if condition.kind == "input" else "while reading or writing",
    }
    return page(name, f"{condition.message} What to do: {condition.action}", facts)
