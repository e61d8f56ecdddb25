"""The base of the typed option classes: converts fields to options and hides secrets."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import Field, fields
from datetime import datetime, timedelta
from functools import cache
from typing import Any, ClassVar

from pulsar_spark._tables import OptionDefinition, PrefixDefinition, option_table
from pulsar_spark.options import checks
from pulsar_spark.options.names import named_as_arguments
from pulsar_spark.options.times import check_zone, time_text


class TypedOptions:
    """Options as fields of a frozen dataclass. None means not set; other values are checked on creation."""

    SCOPES: ClassVar[tuple[str, ...]]
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __post_init__(self) -> None:
        options = self.to_options()
        with named_as_arguments(options):
            checks.check_partial(options, self.SCOPES)

    def to_options(self) -> dict[str, str]:
        """The options with Spark's names and values, secrets included."""
        options: dict[str, str] = {}
        for name, value in self._present():
            meaning = arguments()[name]
            if isinstance(meaning, OptionDefinition):
                options[meaning.key] = option_text(meaning, value)
            else:
                options |= {meaning.prefix + field: _text(setting) for field, setting in value.items()}
        return options

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={_shown(name, value)}" for name, value in self._present())
        return f"{type(self).__name__}({shown})"

    def _present(self) -> list[tuple[str, Any]]:
        named = [(field.name, getattr(self, field.name)) for field in fields(self)]
        return [(name, value) for name, value in named if value is not None]


@cache
def arguments() -> Mapping[str, OptionDefinition | PrefixDefinition]:
    """Options and option prefixes by their names in Python."""
    table = option_table()
    return {option.argument: option for option in table.options} | {
        prefix.argument: prefix for prefix in table.prefixes
    }


def option_text(option: OptionDefinition, value: object) -> str:
    """The value of an option as text for Spark."""
    if option.type == "times" and isinstance(value, datetime):
        check_zone(option.argument, value)
        return time_text(value)
    if option.type == "times" and isinstance(value, Mapping):
        return json.dumps({topic: option_text(option, time) for topic, time in value.items()})
    if option.type == "duration" and isinstance(value, timedelta):
        return f"{value // timedelta(milliseconds=1)}ms"
    if option.type in ("topicList", "metadataColumns") and isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(value)
    return _text(value)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return json.dumps(dict(value))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return json.dumps(list(value))
    return str(value)


def _shown(name: str, value: object) -> str:
    meaning = arguments()[name]
    if isinstance(meaning, OptionDefinition):
        return repr(checks.MASK if meaning.secret else value)
    if name == "client" and isinstance(value, Mapping):
        # Client settings contain passwords under several names.
        return repr(dict.fromkeys(value, checks.MASK))
    return repr(value)
