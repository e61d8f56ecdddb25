"""The pages of options and errors, from the option table and the list of error conditions."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from generated_options import READS, WRITES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pulsar_spark._tables import AliasDefinition, ErrorCondition, OptionDefinition, OptionTable, PrefixDefinition

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
OPTION_COLUMNS = ("option", "in Python", "value", "default", "for", "what it does")
OPTIONS_HEAD = """\
# Options

<!-- Made from the option table by tools/generate.py; do not edit. -->

Given to `spark.read`, `readStream`, `write` and `writeStream` with `.option(name, value)`, in any case of letters, or
for a whole session as `spark.datasource.pulsar.<name>`. In Python every option is also a field of `PulsarReadOptions`
or `PulsarWriteOptions`, under the name in the second column, and an argument of the functions; `start`, `end` and
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
ERRORS_HEAD = """\
# Errors

<!-- Made from the list of error conditions by tools/generate.py; do not edit. -->

Every error of pulsar-spark begins with its name in brackets and ends with what to do. In the JVM the name is
`SparkThrowable.getCondition`, in Python it is `condition` of the exception; `pulsar_spark.condition_of` finds it in an
exception of Spark, and [`error_of`](troubleshooting.md#failures-of-the-cluster-or-the-data) the whole error. The
SQLSTATE, as Spark's own errors use it, is `SparkThrowable.getSqlState` and `sql_state`."""
RUNTIME = """\
The query stops. Nothing is lost, unless the class in Python is `PulsarDataLossError`:
[data loss, what now](data-loss.md) says how to verify it, what skipping skips, and how to prevent it."""
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
    arguments: Mapping[str, str],
) -> str:
    """The page ``docs/use/options.md``.

    Args:
        table: The option table.
        managed: Its managed settings as they are spelt.
        useless: Its settings without effect as they are spelt.
        arguments: Options by their names in Python, with the argument that replaces each.
    """
    parts = [OPTIONS_HEAD]
    for heading, options in groupby(table.options, lambda option: option.heading):
        parts += [f"## {heading}", _table(OPTION_COLUMNS, [_option_cells(one, arguments) for one in options])]
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


def _option_cells(option: OptionDefinition, arguments: Mapping[str, str]) -> Sequence[str]:
    argument = arguments.get(option.argument)
    in_python = f"`{option.argument}`" if argument is None else f"`{argument}`, or the field `{option.argument}`"
    has_field = set(option.scopes) & {*READS, *WRITES}
    names = f"`{option.key}`", in_python if has_field else ""
    return *names, _value_words(option), _default_words(option), SCOPE_WORDS[frozenset(option.scopes)], option.doc


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


def errors_page(conditions: Mapping[str, ErrorCondition]) -> str:
    """The page ``docs/use/errors.md``."""
    parts = [ERRORS_HEAD]
    kinds = {
        "input": ("## Wrong input", "Found before any task starts."),
        "runtime": ("## While reading or writing", RUNTIME),
    }
    for kind, (title, words) in kinds.items():
        parts += [title, words]
        for name, condition in sorted(conditions.items()):
            if condition.kind == kind:
                parts += [
                    f"### {name}",
                    _inline(condition.message),
                    f"*What to do:* {_inline(condition.action)}",
                    f"SQLSTATE: `{condition.sql_state}`. In Python: `{_error_class(condition)}`.{_more(condition)}",
                ]
    return "\n\n".join(parts) + "\n"


def _more(condition: ErrorCondition) -> str:
    return " [What now?](data-loss.md)" if condition.family == "dataLoss" else ""


def _error_class(condition: ErrorCondition) -> str:
    return f"Pulsar{condition.family[0].upper()}{condition.family[1:]}Error"


def _inline(text: str) -> str:
    return text[0].upper() + text[1:]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
