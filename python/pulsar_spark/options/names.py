"""Names of options: those in errors, and those that say that a value is secret."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from pulsar_spark._tables import option_table
from pulsar_spark.errors import PulsarSparkError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

_NAMING = ("option", "first", "second", "present", "missing")
"""The parameters of conditions that name an option."""

_SECRET_SETTINGS = ("authparams", "password", "params")


def is_secret(key: str) -> bool:
    """True if the value of an option or of a setting of the client is a secret, unless it names a file."""
    option = option_table().find(key)
    return key.lower().endswith(_SECRET_SETTINGS) if option is None else option.secret


@contextmanager
def named_as_arguments(keys: Collection[str], arguments: Mapping[str, str] | None = None) -> Iterator[None]:
    """Errors inside name options as Python does: ``poll_timeout_ms`` instead of ``pollTimeoutMs``.

    Args:
        keys: The options that come from Python; others, such as those of the session, keep Spark's names. A missing
            option has its name in Python.
        arguments: The arguments that replace fields of the option classes, by the names of these.
    """
    try:
        yield
    except PulsarSparkError as error:
        named = {
            parameter: _argument(value, arguments or {})
            if value in keys or parameter == "missing" or error.condition == "PULSAR_OPTION_MISSING"
            else value
            for parameter, value in error.parameters.items()
            if parameter in _NAMING
        }
        if not named.items() - error.parameters.items():
            raise
        raise type(error)(error.condition, **{**error.parameters, **named}) from error.__cause__


def _argument(key: str, arguments: Mapping[str, str]) -> str:
    option = option_table().find(key)
    name = key if option is None else option.argument
    return arguments.get(name, name)
