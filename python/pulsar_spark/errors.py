"""What pulsar_spark raises. Conditions and texts are those of the connector in the JVM, from the same table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pulsar_spark import _tables

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLACEHOLDER = re.compile(r"\{([a-zA-Z]+)\}")


class PulsarSparkError(Exception):
    """An error with a stable name; the text says what is wrong and what to do.

    Attributes:
        condition: The name, listed in docs/errors.md.
        parameters: What the text was filled with.
    """

    def __init__(self, condition: str, **parameters: str) -> None:
        """Make the error ``condition``, whose text needs exactly these parameters."""
        super().__init__(_text(condition, parameters))
        self.condition = condition
        self.parameters: Mapping[str, str] = parameters


class PulsarOptionError(PulsarSparkError, ValueError):
    """An argument or option is wrong. Found before Spark is asked for anything."""


class PulsarSetupError(PulsarSparkError, RuntimeError):
    """This Python or this Spark session cannot use the connector as it is."""


def _text(condition: str, parameters: Mapping[str, str]) -> str:
    entry = _tables.error_conditions()[condition]

    def fill(template: str) -> str:
        return _PLACEHOLDER.sub(lambda match: parameters[match[1]], template)

    return f"[{condition}] {fill(entry.message)} What to do: {fill(entry.action)}"
