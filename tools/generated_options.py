"""The typed option classes of the Python package, from the option table."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import TypeGuard

    from pulsar_spark._tables import OptionDefinition, OptionTable, PrefixDefinition

WIDTH = 120

READS, WRITES = ("batchRead", "streamRead"), ("batchWrite", "streamWrite")

# Fields that functions have as arguments of their own, or replace by better ones.
READ_ARGUMENTS = {"service_url", "topic", "topics", "topics_pattern", "metadata_columns", "read_level"}
READ_ARGUMENTS |= {"starting_offsets", "starting_time", "ending_offsets", "ending_time"}
WRITE_ARGUMENTS = {"service_url", "topic"}

# Fields of a read that are no options: what functions have as arguments in place of options.
READ_FIELDS = {
    "start": ("Bound", "Where to start, as in `read_pulsar`. It sets ``starting_offsets`` or ``starting_time``."),
    "end": ("Bound", "Where a batch read ends, as in `read_pulsar`. It sets ``ending_offsets`` or ``ending_time``."),
    "level": ("ReadLevel", "Another name of ``read_level``, as in `read_pulsar`."),
}

PYTHON_TYPES = {
    "boolean": "bool",
    "bytes": "int | str",
    "count": "int",
    "duration": "str | int | timedelta",
    "topicList": "str | Sequence[str]",
    "metadataColumns": "str | Sequence[str]",
    "offsets": "str | Mapping[str, str]",
    "times": "str | int | datetime | Mapping[str, str | int | datetime]",
}


def python_source(table: OptionTable) -> str:
    """The module ``pulsar_spark.options``."""
    reads, writes = _fields(table, READS), _fields(table, WRITES)
    head = '''\
"""Typed options of reads and writes. Made from the option table by tools/generate.py; do not edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal, TypeAlias, TypedDict

from pulsar_spark.options.bounds import Bound
from pulsar_spark.options.fields import TypedOptions
'''
    return "\n\n".join(
        [
            "\n".join(
                [head, *_aliases([option for option in table.options if option.type == "enum" and _is_field(option)])]
            ),
            _dataclass("PulsarReadOptions", "Options of a read, each one optional here.", READS, reads, READ_FIELDS),
            _dataclass("PulsarWriteOptions", "Options of a write, each one optional here.", WRITES, writes, {}),
            _typed_dict("ReadArguments", "PulsarReadOptions", reads, READ_ARGUMENTS),
            _typed_dict("WriteArguments", "PulsarWriteOptions", writes, WRITE_ARGUMENTS),
        ]
    )


def _is_field(option: OptionDefinition) -> bool:
    return not {*READS, *WRITES}.isdisjoint(option.scopes)


def _fields(table: OptionTable, scopes: Sequence[str]) -> list[OptionDefinition | PrefixDefinition]:
    entries: tuple[OptionDefinition | PrefixDefinition, ...] = (*table.options, *table.prefixes)
    return [entry for entry in entries if set(entry.scopes) & set(scopes)]


def _dataclass(
    name: str,
    summary: str,
    scopes: Sequence[str],
    entries: Iterable[OptionDefinition | PrefixDefinition],
    more: Mapping[str, tuple[str, str]],
) -> str:
    lines = [
        "@dataclass(frozen=True, kw_only=True, repr=False)",
        f"class {name}(TypedOptions):",
        f'    """{summary}',
        "",
    ]
    lines.append("    Attributes:")
    entries = list(entries)
    described = {field: doc for field, (_, doc) in more.items()}
    described |= {entry.argument: _python_doc(entry) for entry in entries}
    for field, doc in described.items():
        lines += textwrap.wrap(f"{field}: {doc}", WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 12)
    lines += ['    """', "", f"    SCOPES: ClassVar[tuple[str, ...]] = {_quoted(scopes)}", ""]
    lines += [f"    {field}: {kind} | None = None" for field, (kind, _) in more.items()]
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
