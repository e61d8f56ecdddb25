"""The forms of option values. Forms that only the cluster can check are checked where the values are used."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from pulsar_spark.options import durations

if TYPE_CHECKING:
    from collections.abc import Callable

    from pulsar_spark._tables import OptionDefinition

_SCALABLE = ("topic://", "segment://")
_UNITS = {None: 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SIZE = re.compile(r"(\d{1,15})(\.\d{1,9})?\s*(?:([kmg])i?)?b?", re.ASCII)
_SERVICE_URL = re.compile(r"(pulsar|pulsar\+ssl|http|https)://[^\s/,]+(:\d+)?(,[^\s/,]+(:\d+)?)*/?", re.ASCII)
_HOST_AND_PORT = re.compile(r"[^\s/,:]+:\d{1,5}", re.ASCII)
_ADDRESS = re.compile(r"([^\s=,]+)=([^\s=,:]+:\d{1,5})", re.ASCII)
_WHOLE_NUMBER = re.compile(r"[+-]?\d{1,99}")
_INT = range(-(2**31), 2**31)
_LONG = range(-(2**63), 2**63)
# Characters that the JVM's String.trim removes.
BLANKS = "".join(map(chr, range(33)))


def form(option: OptionDefinition) -> tuple[str, Callable[[str], bool]]:
    """The accepted form in words, and its check."""
    least = option.min or 0
    match option.type:
        case "boolean":
            return "true or false", lambda value: value.lower() in ("true", "false")
        case "bytes":
            return f"a number of bytes, at least {least}, as `16m`", lambda value: _at_least(least, _bytes(value))
        case "duration":
            return durations.form(least), lambda value: _at_least(least, durations.milliseconds(value))
        case "count":
            words = f"a whole number, at least {least}"
            if option.max is not None:
                words = f"a whole number from {least} to {option.max}"
            allowed = range(least, (_INT.stop if option.max is None else option.max + 1))
            return words, lambda value: _integer(value, allowed) is not None
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


def scalable_topic(option: OptionDefinition, value: str) -> str | None:
    """The first scalable topic of Pulsar 5, or segment of one, that the value of an option names."""
    if option.type not in ("topic", "topicList", "topicPattern"):
        return None
    names = _topics(value) if option.type == "topicList" else [value.strip(BLANKS)]
    return next((name for name in names if name.startswith(_SCALABLE)), None)


def is_host_and_port(value: str) -> bool:
    """True if a service URL lacks nothing but its scheme."""
    return _HOST_AND_PORT.fullmatch(value) is not None


def _at_least(least: int, number: int | None) -> bool:
    return number is not None and number >= least


def _integer(value: str, numbers: range) -> int | None:
    return int(value) if _WHOLE_NUMBER.fullmatch(value) and int(value) in numbers else None


def _are_addresses(value: str) -> bool:
    found = [_ADDRESS.fullmatch(one.strip(BLANKS)) for one in _split(value)]
    ids = [match[1] for match in found if match is not None]
    return len(ids) == len(found) == len(set(ids))


def _topics(value: str) -> list[str]:
    """The names in a list, without empty items."""
    return [name for item in value.split(",") if (name := item.strip(BLANKS))]


def _split(value: str) -> list[str]:
    """Split at commas as Java does: without empty texts at the end."""
    parts = value.split(",")
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts


def _bytes(value: str) -> int | None:
    match = _SIZE.fullmatch(value.lower())
    if match is None or (match[2] and not match[3]):
        return None
    size = int(Decimal(match[1] + (match[2] or "")) * _UNITS[match[3]])
    return size if size in _LONG else None


def are_equal(option: OptionDefinition, one: str, other: str) -> bool:
    """True if two values mean the same: numbers and words, not their spelling."""

    def plain(value: str) -> str | int:
        text = value.strip(BLANKS)
        if option.type == "duration":
            number = durations.milliseconds(text)
            return text if number is None else number
        return text.lower() if option.type in ("boolean", "enum") else text

    return plain(one) == plain(other)
