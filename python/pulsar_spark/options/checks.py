"""Checks of options that need no cluster: the same errors, in the same order, with the same texts as in the JVM."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pulsar_spark._tables import SCOPES, OptionDefinition, OptionTable, PrefixDefinition, option_table
from pulsar_spark.errors import PulsarOptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

MASK = "***"

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SIZE = re.compile(r"(\d{1,15})\s*([kmg]?)b?", re.ASCII)
_SERVICE_URL = re.compile(r"(pulsar|pulsar\+ssl|http|https)://[^\s/,]+(:\d+)?(,[^\s/,]+(:\d+)?)*/?", re.ASCII)
_ADDRESS = re.compile(r"([^\s=,]+)=([^\s=,:]+:\d{1,5})", re.ASCII)
_WHOLE_NUMBER = re.compile(r"[+-]?\d{1,99}")
_INT = range(-(2**31), 2**31)
_LONG = range(-(2**63), 2**63)
# Characters that the JVM's String.trim removes.
_BLANKS = "".join(map(chr, range(33)))


def check(options: Mapping[str, str], scopes: Sequence[str]) -> None:
    """Check the complete options of a read or write.

    Args:
        options: Every option by its name in Spark.
        scopes: The scopes of the options; several while the scope is not known.

    Raises:
        PulsarOptionError: The first error.
    """
    table = option_table()
    present = check_partial(options, scopes)
    for option in table.options:
        if option.required and set(option.scopes) & set(scopes) and option.key not in present:
            raise PulsarOptionError("PULSAR_OPTION_MISSING", option=option.key, example=option.example or "...")
    for keys, where in table.exactly_one:
        if set(where) & set(scopes):
            found = [f"`{key}`" for key in keys if key in present]
            if len(found) != 1:
                given = " and ".join(found) + " are set" if found else "none is set"
                raise PulsarOptionError("PULSAR_TOPIC_OPTION", problem=given)


def check_partial(options: Mapping[str, str], scopes: Sequence[str]) -> set[str]:
    """Check an incomplete set of options; returns their names as in the table.

    Raises:
        PulsarOptionError: The first error that further options cannot correct.
    """
    table = option_table()
    given = sorted((key, value) for key, value in options.items() if key.lower() not in table.spark_own)
    present = {_checked_option(table, key, value, scopes) for key, value in given if table.prefix_of(key) is None}
    present |= {
        _checked_setting(table, key, prefix, scopes) for key, _ in given if (prefix := table.prefix_of(key)) is not None
    }
    for first, second in table.conflicts:
        if first in present and second in present:
            raise PulsarOptionError("PULSAR_OPTION_CONFLICT", first=first, second=second)
    for one, other in table.needs:
        if one in present and other not in present:
            raise PulsarOptionError("PULSAR_OPTION_INCOMPLETE", present=one, missing=other)
    return present


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name with the least edit distance, ignoring case, if that is at most a third of the longer name.

    Of equally near names the first in alphabetical order.
    """
    near = [
        (distance, candidate)
        for candidate in known
        if (distance := _edit_distance(name.lower(), candidate.lower())) <= max(len(name), len(candidate)) // 3
    ]
    return min(near)[1] if near else None


def unknown(name: str, known: Iterable[str]) -> PulsarOptionError:
    """The error for a name that is not in the table."""
    nearest = nearest_name(name, known)
    hint = f"; the nearest name is `{nearest}`" if nearest else ""
    return PulsarOptionError("PULSAR_OPTION_UNKNOWN", option=name, nearest=hint)


def _checked_option(table: OptionTable, key: str, value: str, scopes: Sequence[str]) -> str:
    option = table.find(key)
    if option is None:
        raise unknown(key, (option.key for option in table.options))
    _check_scope(option.key, option.scopes, scopes)
    allowed, accepts = _form(option)
    if not accepts(value.strip(_BLANKS)):
        given = MASK if option.secret else value
        raise PulsarOptionError("PULSAR_OPTION_INVALID", option=option.key, value=given, allowed=allowed)
    return option.key


def _checked_setting(table: OptionTable, key: str, prefix: PrefixDefinition, scopes: Sequence[str]) -> str:
    _check_scope(key, prefix.scopes, scopes)
    instead = table.managed.get(key.lower())
    if instead is not None:
        raise PulsarOptionError("PULSAR_OPTION_MANAGED", option=key, instead=instead)
    names = {field.lower(): prefix.prefix + field for field in prefix.fields}
    found = names.get(key[len(prefix.prefix) :].lower())
    if found is None:
        raise unknown(key, names.values())
    return found


def _check_scope(key: str, allowed: Sequence[str], scopes: Sequence[str]) -> None:
    if not set(allowed) & set(scopes):
        raise PulsarOptionError(
            "PULSAR_OPTION_WRONG_MODE",
            option=key,
            mode=" or ".join(SCOPES[scope] for scope in scopes),
            allowed=", ".join(words for scope, words in SCOPES.items() if scope in allowed),
        )


def _form(option: OptionDefinition) -> tuple[str, Callable[[str], bool]]:
    """The accepted form in words, and its check."""
    least = option.min or 0
    match option.type:
        case "boolean":
            return "true or false", lambda value: value.lower() in ("true", "false")
        case "milliseconds":
            return f"a whole number of milliseconds, at least {least}", lambda value: _at_least(
                least, _integer(value, _LONG)
            )
        case "bytes":
            return f"a number of bytes, at least {least}, as `16m`", lambda value: _at_least(least, _bytes(value))
        case "count":
            return f"a whole number, at least {least}", lambda value: _at_least(least, _integer(value, _INT))
        case "addresses":
            return "`id=host:port`, more of them after commas", _are_addresses
        case "enum":
            return f"one of {', '.join(option.values)}", lambda value: value.lower() in option.values
        case "serviceUrl":
            words = "pulsar://host:port or pulsar+ssl://host:port (more hosts after commas), or http(s)://host:port"
            return words, lambda value: _SERVICE_URL.fullmatch(value) is not None
        case "topicPattern":
            # Only Java can check the expression.
            return "a Java regular expression, with `tenant/namespace/` before it if need be", bool
        case "topic":
            words = "the name of one topic, without commas (reads take several in `topics`)"
            return words, lambda value: bool(value) and "," not in value
        case "topicList":
            return "names of topics with commas between them", lambda value: bool(_topics(value))
        case _:
            return "a text that is not empty", bool


def _at_least(least: int, number: int | None) -> bool:
    return number is not None and number >= least


def _integer(value: str, numbers: range) -> int | None:
    return int(value) if _WHOLE_NUMBER.fullmatch(value) and int(value) in numbers else None


def _are_addresses(value: str) -> bool:
    found = [_ADDRESS.fullmatch(one.strip(_BLANKS)) for one in _split(value)]
    ids = [match[1] for match in found if match is not None]
    return len(ids) == len(found) == len(set(ids))


def _topics(value: str) -> list[str]:
    """The names in a list, without empty items."""
    return [name for item in value.split(",") if (name := item.strip(_BLANKS))]


def _split(value: str) -> list[str]:
    """Split at commas as Java does: without empty texts at the end."""
    parts = value.split(",")
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts


def _bytes(value: str) -> int | None:
    match = _SIZE.fullmatch(value.lower())
    if match is None:
        return None
    size = int(match[1]) * _UNITS[match[2]]
    return size if size in _LONG else None


def _edit_distance(one: str, other: str) -> int:
    """Levenshtein's distance."""
    row = list(range(len(one) + 1))
    for j, right in enumerate(other, 1):
        above, row = row, [j]
        for i, left in enumerate(one, 1):
            row.append(min(row[-1] + 1, above[i] + 1, above[i - 1] + (left != right)))
    return row[-1]
