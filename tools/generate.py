"""Makes what comes from the option table and the list of error conditions.

    tools/generate.py           writes everything anew
    tools/generate.py --check   changes nothing and fails when something is stale

The sources are three resources of the connector: options.json, error-conditions.json and client-fields.json. Out of
them come the Python package's copies, its typed option classes, and two pages of the documentation.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import textwrap
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from types import ModuleType
    from typing import TypeGuard

    from pulsar_spark._tables import (
        AliasDefinition,
        ErrorCondition,
        OptionDefinition,
        OptionTable,
        PrefixDefinition,
    )

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "connector" / "src" / "main" / "resources" / "io" / "github" / "pulsarspark"
PACKAGE = ROOT / "python" / "pulsar_spark"
PAGES = ROOT / "docs" / "use"
NAMES = ("options.json", "error-conditions.json", "client-fields.json")

COMMAND = "make docs"
WIDTH = 120

READS, WRITES = ("batchRead", "streamRead"), ("batchWrite", "streamWrite")

# Fields that functions have as arguments of their own, or replace by better ones.
READ_ARGUMENTS = {"service_url", "topic", "topics", "topics_pattern", "metadata_columns", "read_level"}
READ_ARGUMENTS |= {"starting_offsets", "starting_time", "ending_offsets", "ending_time"}
WRITE_ARGUMENTS = {"service_url", "topic"}

PYTHON_TYPES = {
    "boolean": "bool",
    "milliseconds": "int",
    "bytes": "int | str",
    "count": "int",
    "topicList": "str | Sequence[str]",
    "metadataColumns": "str | Sequence[str]",
    "offsets": "str | Mapping[str, str]",
    "times": "str | int | datetime | Mapping[str, str | int | datetime]",
}
VALUE_WORDS = {
    "boolean": "true or false",
    "milliseconds": "milliseconds",
    "bytes": "bytes, as `16m`",
    "count": "number",
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
or `PulsarWriteOptions`, under the name in the second column, and most are arguments of the functions.
`pulsar-spark options NAME` shows one of them.

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
SCOPE_WORDS = {
    frozenset((*READS, *WRITES)): "reads and writes",
    frozenset(READS): "reads",
    frozenset(WRITES): "writes",
    frozenset(READS[:1]): "batch reads",
    frozenset(READS[1:]): "streaming reads",
}


def main() -> int:
    """Write or check; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail when a file is stale")
    check = parser.parse_args().check
    stale = [path for path, text in made().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        name = path.relative_to(ROOT)
        if check:
            print(f"{name} is stale. Run: {COMMAND}", file=sys.stderr)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(made()[path], encoding="utf-8")
            print(f"wrote {name}")
    return 1 if check and stale else 0


def made() -> dict[Path, str]:
    """Every file that is made, with its text."""
    sources = {name: (SOURCES / name).read_text(encoding="utf-8") for name in NAMES}
    options, errors, fields = (json.loads(sources[name]) for name in NAMES)
    tables = _tables_module()
    table: OptionTable = tables.parse_options(options, fields)
    conditions: Mapping[str, ErrorCondition] = tables.parse_conditions(errors)
    return {
        **{PACKAGE / "tables" / name: text for name, text in sources.items()},
        PACKAGE / "options" / "__init__.py": python_source(table),
        PAGES / "options.md": options_page(table),
        PAGES / "errors.md": errors_page(conditions),
    }


def _tables_module() -> ModuleType:
    """`pulsar_spark._tables` alone: the package cannot be imported before its generated modules are there."""
    spec = importlib.util.spec_from_file_location("_tables", PACKAGE / "_tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def python_source(table: OptionTable) -> str:
    """The module ``pulsar_spark.options``."""
    reads, writes = _fields(table, READS), _fields(table, WRITES)
    head = '''\
"""Typed options of reads and writes. Made from the option table by tools/generate.py; do not edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Literal, TypeAlias, TypedDict

from pulsar_spark.options.fields import TypedOptions
'''
    return "\n\n".join(
        [
            "\n".join([head, *_aliases([option for option in table.options if option.type == "enum"])]),
            _dataclass("PulsarReadOptions", "Options of a read, each one optional here.", READS, reads),
            _dataclass("PulsarWriteOptions", "Options of a write, each one optional here.", WRITES, writes),
            _typed_dict("ReadArguments", "PulsarReadOptions", reads, READ_ARGUMENTS),
            _typed_dict("WriteArguments", "PulsarWriteOptions", writes, WRITE_ARGUMENTS),
        ]
    )


def _fields(table: OptionTable, scopes: Sequence[str]) -> list[OptionDefinition | PrefixDefinition]:
    entries: tuple[OptionDefinition | PrefixDefinition, ...] = (*table.options, *table.prefixes)
    return [entry for entry in entries if set(entry.scopes) & set(scopes)]


def _dataclass(
    name: str, summary: str, scopes: Sequence[str], entries: Iterable[OptionDefinition | PrefixDefinition]
) -> str:
    lines = [
        "@dataclass(frozen=True, kw_only=True, repr=False)",
        f"class {name}(TypedOptions):",
        f'    """{summary}',
        "",
    ]
    lines.append("    Attributes:")
    entries = list(entries)
    for entry in entries:
        lines += textwrap.wrap(
            f"{entry.argument}: {_python_doc(entry)}", WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 12
        )
    lines += ['    """', "", f"    SCOPES: ClassVar[tuple[str, ...]] = {_quoted(scopes)}", ""]
    lines += [f"    {entry.argument}: {_python_type(entry)} | None = None" for entry in entries]
    return "\n".join(lines) + "\n"


def _typed_dict(
    name: str, fields_of: str, entries: Iterable[OptionDefinition | PrefixDefinition], left_out: set[str]
) -> str:
    lines = [f"class {name}(TypedDict, total=False):"]
    lines += [f'    """Fields of `{fields_of}` that are arguments of functions, too."""', ""]
    lines += [
        f"    {entry.argument}: {_python_type(entry)} | None" for entry in entries if entry.argument not in left_out
    ]
    return "\n".join(lines) + "\n"


def _python_type(entry: OptionDefinition | PrefixDefinition) -> str:
    if not _is_option(entry):
        return "Mapping[str, Any]"
    if entry.type == "enum":
        return _alias(entry)
    return PYTHON_TYPES.get(entry.type, "str")


def _aliases(options: Sequence[OptionDefinition]) -> Iterator[str]:
    """The type of each option's values; options with the same values have one type."""
    known: dict[tuple[str, ...], str] = {}
    for option in options:
        values = tuple(option.values)
        lines = "".join(f"    {_quote(value)},\n" for value in values)
        literal = f"Literal[\n{lines}]"
        yield f"{_alias(option)}: TypeAlias = {known.get(values, literal)}\n"
        known.setdefault(values, _alias(option))


def _alias(option: OptionDefinition) -> str:
    """The name of the type of an option's values: ``schemaType`` is ``SchemaType``."""
    return "".join(word.capitalize() for word in option.argument.split("_"))


def _python_doc(entry: OptionDefinition | PrefixDefinition) -> str:
    # Backslashes would need escapes of their own in a docstring.
    return entry.description.replace("\\", "\\\\")


def _is_option(entry: OptionDefinition | PrefixDefinition) -> TypeGuard[OptionDefinition]:
    return hasattr(entry, "type")


def _quote(text: str) -> str:
    return json.dumps(text)


def _quoted(texts: Iterable[str]) -> str:
    return f"({', '.join(map(_quote, texts))})"


def options_page(table: OptionTable) -> str:
    """The page ``docs/use/options.md``."""
    parts = [OPTIONS_HEAD]
    for heading, options in groupby(table.options, lambda option: option.heading):
        parts += [f"## {heading}", _table(OPTION_COLUMNS, map(_option_cells, options))]
    parts += ["## Settings of the Pulsar client", *(_prefix_part(table, prefix) for prefix in table.prefixes)]
    managed = [(f"`{_spelt(key)}`", instead) for key, instead in table.managed.items()]
    parts += ["Settings that the connector sets itself:", _table(("setting", "instead"), managed)]
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


def _option_cells(option: OptionDefinition) -> Sequence[str]:
    names = f"`{option.key}`", f"`{option.argument}`"
    return *names, _value_words(option), _default_words(option), SCOPE_WORDS[frozenset(option.scopes)], option.doc


def _prefix_part(table: OptionTable, prefix: PrefixDefinition) -> str:
    names = ", ".join(f"`{f}`" for f in prefix.fields if not _is_replaced(table, prefix.prefix + f))
    where = f"For {SCOPE_WORDS[frozenset(prefix.scopes)]}; in Python `{prefix.argument}={{...}}`."
    return f"### `{prefix.prefix}*`\n\n{prefix.doc} {where} Lists and maps are written as JSON.\n\nNames: {names}."


def _is_replaced(table: OptionTable, setting: str) -> bool:
    return setting.lower() in table.managed or setting.lower() in table.aliases


def _value_words(option: OptionDefinition) -> str:
    if option.type == "enum":
        return ", ".join(f"`{value}`" for value in option.values)
    words = VALUE_WORDS.get(option.type, option.type)
    return f"{words}, secret" if option.secret else words


def _default_words(option: OptionDefinition) -> str:
    if option.required:
        return "required"
    return "" if option.default is None else option.default if " " in option.default else f"`{option.default}`"


def _spelt(lower: str) -> str:
    """A client setting in the table's own spelling."""
    managed: dict[str, str] = json.loads((SOURCES / "options.json").read_text(encoding="utf-8"))["managed"]
    return next(key for key in managed if key.lower() == lower)


def _listed(keys: Sequence[str]) -> str:
    return " and ".join([", ".join(f"`{key}`" for key in keys[:-1]), f"`{keys[-1]}`"])


def errors_page(conditions: Mapping[str, ErrorCondition]) -> str:
    """The page ``docs/use/errors.md``."""
    parts = [ERRORS_HEAD]
    kinds = {
        "input": ("## Wrong input", "Found before any task starts."),
        "runtime": ("## While reading or writing", "The query stops; nothing is lost."),
    }
    for kind, (title, words) in kinds.items():
        parts += [title, words]
        for name, condition in sorted(conditions.items()):
            if condition.kind == kind:
                parts += [
                    f"### {name}",
                    _inline(condition.message),
                    f"*What to do:* {_inline(condition.action)}",
                    f"SQLSTATE: `{condition.sql_state}`. In Python: `{_error_class(condition)}`.",
                ]
    return "\n\n".join(parts) + "\n"


def _error_class(condition: ErrorCondition) -> str:
    return f"Pulsar{condition.family[0].upper()}{condition.family[1:]}Error"


def _inline(text: str) -> str:
    return text[0].upper() + text[1:]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
