"""The verb ``pulsar-spark options``: the option table as text or JSON."""

from __future__ import annotations

import json
import shutil
import textwrap
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

from pulsar_spark._tables import ARGUMENTS, SCOPES, AliasDefinition, OptionDefinition, option_table
from pulsar_spark.options import checks

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

_NARROWEST_TEXT, _WIDEST = 30, 120
_GAP = 2
_INCUMBENT = "names of streamnative/pulsar-spark"


def add_options(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    summary = "list the options of reads and writes, or explain one"
    verb = commands.add_parser("options", help=summary, description=summary)
    verb.add_argument("name", nargs="?", help="an option by its name in Spark or in Python, ignoring case")
    verb.add_argument("--json", action="store_true", help="print one JSON object")
    verb.set_defaults(run=_options_command)


def _options_command(chosen: argparse.Namespace) -> int:
    table = option_table()
    if chosen.name is None:
        facts = {"options": [_facts(option) for option in table.options]}
        print(json.dumps(facts) if chosen.json else _list(table.options))
        return 0
    print(json.dumps(facts_of(chosen.name)) if chosen.json else explained(chosen.name))
    return 0


def facts_of(name: str) -> dict[str, Any]:
    """The row of the table of an option, or of a name that streamnative/pulsar-spark has for one.

    Raises:
        PulsarOptionError: No option has this name.
    """
    alias = option_table().aliases.get(name.lower())
    return _facts(_find(name)) if alias is None else asdict(alias)


def explained(name: str) -> str:
    """The row of the table as text.

    Raises:
        PulsarOptionError: No option has this name.
    """
    alias = option_table().aliases.get(name.lower())
    return _explained(_find(name)) if alias is None else _explained_alias(alias)


def _find(name: str) -> OptionDefinition:
    """The option or client setting of this name.

    Raises:
        PulsarOptionError: No option has this name.
    """
    table = option_table()
    option = table.find(name) or next((one for one in table.options if one.argument == name.lower()), None)
    if option is not None:
        return option
    if name.lower().startswith(checks.ADMIN):
        return _admin_setting(name)
    prefix = table.prefix_of(name)
    if prefix is None:
        names = [name for one in table.options for name in (one.key, one.argument)]
        raise checks.unknown(name, [*names, *ARGUMENTS.values(), *(one.name for one in table.aliases.values())])
    key = checks.setting_name(table, name, prefix, prefix.scopes)
    count = next((one for one in prefix.counts if one.key == key), None)
    if count is not None:
        return count
    return OptionDefinition(
        key=key,
        type="string",
        doc=prefix.doc,
        group="settings of the Pulsar client",
        since="0.1.0",
        scopes=prefix.scopes,
    )


def _admin_setting(name: str) -> OptionDefinition:
    """A setting that streamnative/pulsar-spark has for the admin service.

    Raises:
        PulsarOptionError: No option has this name.
    """
    field, other = checks.admin_field(option_table(), name)
    own = checks.CREDENTIALS.get(field)
    doc = f"An option of streamnative/pulsar-spark. Brokers and the admin service share their settings: set `{other}`."
    if own is not None:
        doc += f" Set `{own}` where the admin service has credentials of its own."
    return OptionDefinition(
        key=checks.ADMIN + field, type="string", doc=doc, group=_INCUMBENT, since="0.1.0", scopes=tuple(SCOPES)
    )


def _facts(option: OptionDefinition) -> dict[str, Any]:
    in_python = {"argument": option.argument} if option_table().find(option.key) else {}
    return {**asdict(option), **in_python}


def _list(options: tuple[OptionDefinition, ...]) -> str:
    """One line for each option: name, first sentence of its description, default."""
    rows = {heading: [(one.key, _summary(one)) for one in group] for heading, group in groupby(options, _heading)}
    prefixes = option_table().prefixes
    rows["Settings of the Pulsar client"] = [(f"{one.prefix}*", one.doc.partition(":")[0]) for one in prefixes]
    aliases = [(one.name, _alias_summary(one)) for one in option_table().aliases.values()]
    rows[_INCUMBENT.capitalize()] = [*aliases, ("pulsar.admin.*", "the same as pulsar.client.*")]
    names = max(len(name) for group in rows.values() for name, _ in group) + _GAP
    width = min(max(shutil.get_terminal_size((_WIDEST, 1)).columns, names + _NARROWEST_TEXT), _WIDEST)
    lines: list[str] = []
    for heading, group in rows.items():
        lines += ["", heading]
        for name, text in group:
            first, *rest = textwrap.wrap(text, width - names - _GAP)
            lines.append(f"{'':{_GAP}}{name:{names}}{first}")
            lines += [f"{'':{names + _GAP}}{line}" for line in rest]
    return "\n".join(lines[1:])


def _heading(option: OptionDefinition) -> str:
    return option.heading


def _summary(option: OptionDefinition) -> str:
    sentence = option.doc.partition(". ")[0].rstrip(".")
    if option.required:
        return f"{sentence} (required)"
    return f"{sentence} ({option.default})" if option.default else sentence


def _alias_summary(alias: AliasDefinition) -> str:
    if alias.is_unsupported:
        return "not supported yet"
    return f"sets {alias.target}" if alias.target else "no effect"


def _explained_alias(alias: AliasDefinition) -> str:
    facts = {
        "here": _alias_summary(alias),
        "valid in": ", ".join(SCOPES[scope] for scope in alias.scopes),
        "value": " | ".join(alias.values) or None,
        "since": alias.since,
    }
    return page(alias.name, f"An option of streamnative/pulsar-spark. {alias.note}", facts)


def _explained(option: OptionDefinition) -> str:
    facts = {
        "in Python": option.argument if option_table().find(option.key) else None,
        "valid in": ", ".join(SCOPES[scope] for scope in option.scopes),
        "value": " | ".join(option.values) or option.type,
        "at least": option.min,
        "at most": option.max,
        "default": "none, it is required" if option.required else option.default,
        "example": option.example,
        "secret": "yes, never shown" if option.secret else None,
        "since": option.since,
    }
    return page(option.key, option.doc, facts)


def page(name: str, doc: str, facts: Mapping[str, object]) -> str:
    """A name, what it is, and facts below each other."""
    lines = [name, *textwrap.wrap(doc, 100, initial_indent="  ", subsequent_indent="  "), ""]
    lines += [f"  {fact:11}{value}" for fact, value in facts.items() if value is not None]
    return "\n".join(lines)
