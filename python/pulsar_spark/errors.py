"""Errors of pulsar_spark. Conditions and texts are those of the connector in the JVM, from the same table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pulsar_spark import _tables

if TYPE_CHECKING:
    from collections.abc import Mapping

_CONDITION = re.compile(r"\[(PULSAR_[A-Z0-9_]+)\]")
_PLACEHOLDER = re.compile(r"\{([a-zA-Z]+)\}")


class PulsarSparkError(Exception):
    """An error with a stable name. The text says what is wrong and what to do.

    Attributes:
        condition: The name, listed in docs/use/errors.md.
        sql_state: The SQLSTATE of the condition, five characters.
        parameters: The values in the text.
    """

    def __init__(self, condition: str, **parameters: str) -> None:
        """Create the error ``condition``, whose text has exactly these parameters."""
        super().__init__(_text(condition, parameters))
        self.condition = condition
        self.sql_state = _tables.error_conditions()[condition].sql_state
        self.parameters: Mapping[str, str] = parameters


class PulsarOptionError(PulsarSparkError, ValueError):
    """An argument or option is wrong. Raised before any call to Spark."""


class PulsarSetupError(PulsarSparkError, RuntimeError):
    """This Python environment or Spark session cannot use the connector."""


def condition_of(error: BaseException) -> str | None:
    """The condition of an error of the connector, also inside an exception of Spark; None for other errors.

    An error in a task, a stream or on the driver reaches Python as an exception of Spark or py4j, whose text contains
    the connector's error.
    """
    if isinstance(error, PulsarSparkError):
        return error.condition
    known = _tables.error_conditions()
    return next((name for name in _CONDITION.findall(str(error)) if name in known), None)


def _text(condition: str, parameters: Mapping[str, str]) -> str:
    entry = _tables.error_conditions()[condition]

    def fill(template: str) -> str:
        return _PLACEHOLDER.sub(lambda match: parameters[match[1]], template)

    return f"[{condition}] {fill(entry.message)} What to do: {fill(entry.action)}"
