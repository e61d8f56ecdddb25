"""The base of the typed option classes: converts fields to options and hides secrets."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import Field, fields, replace
from datetime import datetime, timedelta, timezone
from functools import cache
from typing import Any, ClassVar, Literal, TypeVar, cast

from pulsar_spark._tables import ARGUMENTS, OptionDefinition, PrefixDefinition, option_table
from pulsar_spark.errors import PulsarOptionError
from pulsar_spark.options import checks
from pulsar_spark.options.bounds import bound_options
from pulsar_spark.options.names import named_as_arguments
from pulsar_spark.options.times import check_zone, time_text

Options = TypeVar("Options", bound="TypedOptions")
_BOUNDS: tuple[Literal["start", "end"], ...] = ("start", "end")


class TypedOptions:
    """Options as fields of a frozen dataclass. None means not set; other values are checked on creation."""

    SCOPES: ClassVar[tuple[str, ...]]
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __new__(cls: type[Options], **given: object) -> Options:
        """Reject names that are no fields, with the nearest one."""
        for name in given:
            if name not in cls.__dataclass_fields__:
                raise checks.unknown(name, cls.__dataclass_fields__)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        options = self.to_options()
        with named_as_arguments(options, self.replaced()):
            checks.check_partial(options, self.SCOPES)

    def replaced(self) -> dict[str, str]:
        """The options that ``start``, ``end`` and ``level`` set here, by their names in Python, with these fields."""
        present = dict(self.present())
        return {option: field for option, field in ARGUMENTS.items() if field in present}

    def to_options(self) -> dict[str, str]:
        """The options with Spark's names and values, secrets included. Relative times count from now."""
        options: dict[str, str] = {}
        present = dict(self.present())
        for option, field in self.replaced().items():
            if option in present:
                raise PulsarOptionError("PULSAR_OPTION_CONFLICT", first=field, second=option)
        if "level" in present:
            present["read_level"] = present.pop("level")
        bounds = {name: present.pop(name) for name in _BOUNDS if name in present}
        for name, value in present.items():
            meaning = arguments()[name]
            if isinstance(meaning, OptionDefinition):
                options[meaning.key] = option_text(meaning, value)
            else:
                options |= {meaning.prefix + field: _text(setting) for field, setting in value.items()}
        now = datetime.now(timezone.utc)
        for name in _BOUNDS:
            if name in bounds:
                options |= bound_options(name, bounds[name], topic=options.get("topic"), now=now)
        return options

    def over(self: Options, others: Options) -> Options:
        """Override other options with these; settings of a client are combined."""
        given, below = dict(self.present()), dict(others.present())
        for name, value in given.items():
            if name in below and isinstance(arguments().get(name), PrefixDefinition):
                given[name] = {**below[name], **value}
        combined: Options = replace(cast("Any", others), **given)
        return combined

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={_shown(name, value)}" for name, value in self.present())
        return f"{type(self).__name__}({shown})"

    def present(self) -> list[tuple[str, Any]]:
        """The fields that are set, with their values."""
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
    meaning = arguments().get(name)
    if isinstance(meaning, OptionDefinition):
        return repr(checks.MASK if meaning.secret else value)
    if name == "client" and isinstance(value, Mapping):
        # Client settings contain passwords under several names.
        return repr(dict.fromkeys(value, checks.MASK))
    return repr(value)
