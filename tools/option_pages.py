"""The pages of options, from the option table: one with an index and the rules, and one for each group."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from generated_options import READS, WRITES
from option_examples import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pulsar_spark._tables import AliasDefinition, OptionDefinition, OptionTable, PrefixDefinition

VALUE_WORDS = {
    "boolean": "true or false",
    "bytes": "bytes, as `16m`",
    "count": "number",
    "duration": "time, as `15m`, or milliseconds",
    "addresses": "addresses",
    "topicList": "topics",
    "topicPattern": "expression",
    "metadataColumns": "columns",
    "serviceUrl": "address",
    "string": "text",
    "times": "time",
    "offsets": "positions",
}
MADE = "<!-- Made from the option table by tools/generate.py; do not edit. -->"
OPTIONS_HEAD = f"""\
# Options

{MADE}

Given to `spark.read`, `readStream`, `write` and `writeStream` with `.option(name, value)`, in any case of letters, or
for a whole session as `spark.datasource.pulsar.<name>`. In Python every option is also a field of `PulsarReadOptions`
or `PulsarWriteOptions`, under the name that its description has, and an argument of the functions; `start`, `end` and
`level` are fields and arguments in place of several.
`pulsar-spark options NAME` shows one of them.

A duration has a unit, as `15m` or `2 hours`; a number alone is milliseconds, and in Python a `timedelta` does as well.

A misspelt option, a value of the wrong form, an option in the wrong place and a pair that excludes each other are
errors before anything is read or written. Only an option of the session or of a table in Spark's catalog that has no
meaning in a read, or in a write, is ignored there. Options of a query override those of its table, and these override
those of the session."""
ALIAS_COLUMNS = ("option there", "here", "accepted values", "for", "what is different")
ALIASES_HEAD = """\
These are accepted, in any case of letters, and each query that uses them logs one warning.
[Coming from streamnative/pulsar-spark](from-the-incumbent.md) explains the rules.

`pulsar.admin.<setting>` is accepted when it repeats the setting of the client: brokers and the admin service share
their settings."""
SCOPE_WORDS = {
    frozenset((*READS, *WRITES)): "reads and writes",
    frozenset(READS): "reads",
    frozenset(WRITES): "writes",
    frozenset(READS[:1]): "batch reads",
    frozenset(READS[1:]): "streaming reads",
    frozenset(WRITES[:1]): "batch writes",
    frozenset(WRITES[1:]): "streaming writes",
    frozenset(("metadata",)): "metadata tables",
    frozenset((*WRITES, "metadata")): "writes, metadata tables",
    frozenset((READS[1], "metadata")): "streaming reads, metadata tables",
    frozenset(("catalog",)): "[catalogs](tables.md)",
    frozenset(("catalog", "metadata")): "[catalogs](tables.md), metadata tables",
}


def options_page(
    table: OptionTable,
    managed: Mapping[str, str],
    useless: Mapping[str, Mapping[str, str]],
) -> str:
    """The page ``docs/use/options.md``.

    Args:
        table: The option table.
        managed: Its managed settings as they are spelt.
        useless: Its settings without effect as they are spelt.
    """
    parts = [OPTIONS_HEAD]
    for group, options in _groups(table):
        lines = [f"- [`{one.key}`]({page_of(group)}#{_anchor(one.key)}): {_beginning(one.doc)}" for one in options]
        parts += [f"## {options[0].heading}", "\n".join(lines)]
    parts += ["## Settings of the Pulsar client", *(_prefix_part(table, prefix) for prefix in table.prefixes)]
    settings = [(f"`{setting}`", instead) for setting, instead in managed.items()]
    parts += ["Settings that the connector sets itself:", _table(("setting", "instead"), settings)]
    refused = [(f"`{setting}`", one["reason"], one["instead"]) for setting, one in useless.items()]
    parts += ["Settings that have no effect here, and are refused:", _table(("setting", "why", "instead"), refused)]
    parts += ["## Names of streamnative/pulsar-spark", ALIASES_HEAD]
    parts += [_table(ALIAS_COLUMNS, map(_alias_cells, table.aliases.values()))]
    parts += ["## Rules"]
    for keys, scopes in table.exactly_one:
        parts.append(f"Exactly one of {_listed(keys)} in {SCOPE_WORDS[frozenset(scopes)]}.")
    parts += ["Never together:", "\n".join(f"- {_listed(pair)}" for pair in table.conflicts)]
    parts += ["Not without another:", "\n".join(f"- `{option}` needs `{other}`" for option, other in table.needs)]
    return "\n\n".join(parts) + "\n"


def _alias_cells(alias: AliasDefinition) -> Sequence[str]:
    here = "not supported yet" if alias.is_unsupported else f"`{alias.target}`" if alias.target else "no effect"
    values = ", ".join(f"`{value}`" for value in alias.values)
    form = values or ("" if alias.is_unsupported else f"as `{alias.target}`")
    return f"`{alias.name}`", here, form, SCOPE_WORDS[frozenset(alias.scopes)], alias.note


def group_pages(table: OptionTable, arguments: Mapping[str, str]) -> Mapping[str, str]:
    """The pages of groups, by their paths in ``docs/use``.

    Args:
        table: The option table.
        arguments: Options by their names in Python, with the argument that replaces each.
    """
    pages = {}
    for group, options in _groups(table):
        example = EXAMPLES[group]
        heading = options[0].heading
        parts = [f"# Options: {heading if heading.isupper() else heading.lower()}", MADE]
        parts += [example.words, f"```python\n{example.code}```"]
        parts += [f"```text\n{example.output}```"] if example.output else []
        parts += ["[Options](../options.md) says where they are set, and the rules between them."]
        for option in options:
            parts += [f"## `{option.key}`", option.doc, _facts(option, arguments)]
        pages[page_of(group)] = "\n\n".join(parts) + "\n"
    return pages


def page_of(group: str) -> str:
    """The page of a group, by its path in ``docs/use``."""
    return f"options/{group.replace(' ', '-')}.md"


def _groups(table: OptionTable) -> Sequence[tuple[str, Sequence[OptionDefinition]]]:
    return [(group, list(options)) for group, options in groupby(table.options, lambda option: option.group)]


def _anchor(key: str) -> str:
    return key.replace(".", "").lower()


def _beginning(text: str) -> str:
    """The first sentence."""
    return re.split(r"(?<=[.]) (?=[A-Z`])", text)[0]


def _facts(option: OptionDefinition, arguments: Mapping[str, str]) -> str:
    facts = {"For": SCOPE_WORDS[frozenset(option.scopes)].replace("(tables.md)", "(../tables.md)")}
    if set(option.scopes) & {*READS, *WRITES}:
        argument = arguments.get(option.argument)
        own = f"`{option.argument}`"
        facts["In Python"] = own if argument is None else f"`{argument}`, or the field {own}"
    facts["Value"] = _value_words(option)
    if default := _default_words(option):
        facts["Default"] = default
    if option.example is not None:
        facts["Example"] = f"`{option.example}`"
    return "\n".join(f"- *{name}:* {text}" for name, text in facts.items())


def _prefix_part(table: OptionTable, prefix: PrefixDefinition) -> str:
    names = ", ".join(f"`{f}`" for f in prefix.fields if not _is_replaced(table, prefix.prefix + f))
    where = f"For {SCOPE_WORDS[frozenset(prefix.scopes)]}; in Python `{prefix.argument}={{...}}`."
    return f"### `{prefix.prefix}*`\n\n{prefix.doc} {where} Lists and maps are written as JSON.\n\nNames: {names}."


def _is_replaced(table: OptionTable, setting: str) -> bool:
    name = setting.lower()
    return name in table.managed or name in table.without_effect or name in table.aliases


def _value_words(option: OptionDefinition) -> str:
    if option.type == "enum":
        return ", ".join(f"`{value}`" for value in option.values)
    words = VALUE_WORDS.get(option.type, option.type)
    return f"{words}, secret" if option.secret else words


def _default_words(option: OptionDefinition) -> str:
    if option.required:
        return "required"
    return "" if option.default is None else option.default if " " in option.default else f"`{option.default}`"


def _listed(keys: Sequence[str]) -> str:
    return " and ".join([", ".join(f"`{key}`" for key in keys[:-1]), f"`{keys[-1]}`"])


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
