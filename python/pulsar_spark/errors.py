"""Errors of pulsar_spark. Conditions and texts are those of the connector in the JVM, from the same table.

The class of an error is the family of its condition: catch `PulsarDataLossError` rather than compare names. Sessions of
`pulsar_spark.session` and `configure`, and all reads and writes of this package, raise errors of the JVM as these
classes, too: see `install`. Elsewhere they arrive as exceptions of Spark. `error_of` finds the connector's error in
one, `translated` raises it:

    with pulsar_spark.errors.translated():
        rows.collect()
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pulsar_spark import _conversion, _tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_CONDITION = re.compile(r"\[(PULSAR_[A-Z0-9_.]+)\]")
_PLACEHOLDER = re.compile(r"\{([a-zA-Z]+)\}")
_NOT_SHOWN = "..."
_LONGEST = 20_000
_CAUSES = 20
_JAVA_STACK = "\n\tat "


class PulsarSparkError(Exception):
    """An error with a stable name. The text names what is wrong and what to do.

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

    def __reduce__(self) -> tuple[Any, ...]:
        """The function and values by which `copy` and `pickle` make the error again, also in another process."""
        return _again, (type(self), self.condition, dict(self.parameters), self.args), self.__dict__


class PulsarOptionError(PulsarSparkError, ValueError):
    """An argument or option is wrong."""


class PulsarSetupError(PulsarSparkError, RuntimeError):
    """An error of this Python environment or Spark session: it cannot use the connector."""


class PulsarImportError(PulsarSetupError, ImportError):
    """An error of imports: no PySpark, one that pulsar-spark does not support, or no package that a call needs."""


class PulsarTopicNotFoundError(PulsarSparkError):
    """A topic does not exist, or no topic matches a pattern."""


class PulsarAccessError(PulsarSparkError):
    """The cluster denied a request: authentication or permissions."""


class PulsarUnreachableError(PulsarSparkError):
    """The cluster or its storage did not respond in time, or no connection to it is possible."""


class PulsarRequestError(PulsarSparkError):
    """The cluster or its storage failed a request."""


class PulsarSchemaError(PulsarSparkError):
    """The schema of a topic and the columns of a query do not fit, or a schema is not supported."""


class PulsarDataError(PulsarSparkError):
    """A message or a row cannot be read or written: it is damaged, encrypted, too large or does not fit its schema."""


class PulsarDataLossError(PulsarSparkError):
    """Messages that a query should read are deleted."""


class PulsarCheckpointError(PulsarSparkError):
    """The files with the progress of a stream are not valid."""


class PulsarInternalError(PulsarSparkError):
    """A bug in pulsar-spark."""


FAMILIES: Mapping[str, type[PulsarSparkError]] = {
    "option": PulsarOptionError,
    "setup": PulsarSetupError,
    "topicNotFound": PulsarTopicNotFoundError,
    "access": PulsarAccessError,
    "unreachable": PulsarUnreachableError,
    "request": PulsarRequestError,
    "schema": PulsarSchemaError,
    "data": PulsarDataError,
    "dataLoss": PulsarDataLossError,
    "checkpoint": PulsarCheckpointError,
    "internal": PulsarInternalError,
}
"""The class of each family in ``error-conditions.json``."""


def _again(kind: type[PulsarSparkError], condition: str, parameters: dict[str, str], args: Any) -> PulsarSparkError:  # noqa: ANN401
    """An error with the same text, also where a part of it is not known."""
    error = kind.__new__(kind)
    Exception.__init__(error, *args)
    error.condition, error.parameters = condition, parameters
    return error


def condition_of(error: BaseException) -> str | None:
    """The condition of an error of the connector, also inside an exception of Spark; None for other errors.

    An error in a task, a stream or on the driver reaches Python as an exception of Spark or py4j, whose text contains
    the connector's error.

    Args:
        error: Any exception.

    Returns:
        A name of docs/use/errors.md, or None.

    Examples:
        >>> condition_of(RuntimeError("[STREAM_FAILED] Query ended: [PULSAR_DATA_LOSS.TRIMMED] Topic events: ..."))
        'PULSAR_DATA_LOSS.TRIMMED'
    """
    known = error_of(error)
    return None if known is None else known.condition


def error_of(error: BaseException) -> PulsarSparkError | None:
    """The connector's error inside an exception of Spark, of the class of its family; None for other errors.

    Works for exceptions of classic Spark, of streaming queries and of Spark Connect: the text of each contains the
    connector's error, or the trace of the JVM that a cause of it keeps. If that text is not complete, the values that
    are missing are ``...``.

    Args:
        error: Any exception.

    Returns:
        The error itself if it is a `PulsarSparkError`, else a new one, or None.

    Examples:
        >>> error = error_of(RuntimeError("[PULSAR_WRITE_NO_TOPIC] A write needs the option `topic` or ..."))
        >>> type(error).__name__, error.sql_state
        ('PulsarOptionError', '42601')
    """
    one: BaseException | None = error
    for _ in range(_CAUSES):
        if one is None or isinstance(one, PulsarSparkError):
            return one
        for text in (str(one), str(getattr(one, "_stackTrace", ""))):
            found = _in_text(text)
            if found is not None:
                return found
        one = getattr(one, "_cause", None)  # PySpark's own; `query.exception()` has the trace of its cause there alone
    return None


def _in_text(text: str) -> PulsarSparkError | None:
    known = _tables.error_conditions()
    for found in _CONDITION.finditer(text):
        if found[1] in known:
            return FAMILIES[known[found[1]].family](found[1], **_parameters(found[1], text[found.start() :]))
    return None


@contextmanager
def translated() -> Iterator[None]:
    """Raise errors of the connector as `PulsarSparkError`, from the exception of Spark; others pass unchanged.

    Returns:
        A context manager.

    Raises:
        PulsarSparkError: An exception inside contains an error of the connector.

    Examples:
        >>> try:
        ...     with translated():
        ...         raise RuntimeError("[PULSAR_INTERNAL] Internal error: ...")
        ... except PulsarInternalError as error:
        ...     print(error.condition)
        PULSAR_INTERNAL
    """
    try:
        yield
    except Exception as error:
        known = error_of(error)
        if known is None or known is error:
            raise
        raise known from error


def install() -> None:
    """Make PySpark raise the connector's errors as classes of this package: from actions, streams and Spark Connect.

    `session`, `configure`, and the functions that read and write call it. An error is then one screen of text, has both
    our class and PySpark's, and keeps the trace of the JVM as ``jvm_stack``. Other errors stay as they are. The
    environment variable ``PULSAR_SPARK_PLAIN_ERRORS`` turns it off.
    """
    _conversion.install(error_of)


def uninstall() -> None:
    """Undo `install`: PySpark raises its own classes again."""
    _conversion.uninstall()


def facts(error: Exception) -> dict[str, Any]:
    """An error as a JSON object of the command line."""
    known = error_of(error)
    if known is None:
        return {"error": {"message": str(error).partition(_JAVA_STACK)[0]}}
    named = {"condition": known.condition, "sql_state": known.sql_state, "parameters": dict(known.parameters)}
    return {"error": {**named, "message": str(known)}}


def _text(condition: str, parameters: Mapping[str, str]) -> str:
    def fill(template: str) -> str:
        return _PLACEHOLDER.sub(lambda match: parameters[match[1]], template)

    return fill(_template(condition))


def _template(condition: str) -> str:
    entry = _tables.error_conditions()[condition]
    return f"[{condition}] {entry.message} What to do: {entry.action}"


def _parameters(condition: str, text: str) -> dict[str, str]:
    """The values in the text of a condition, which begins ``text``."""
    literals = _PLACEHOLDER.split(_template(condition))
    names = dict.fromkeys(literals[1::2])
    pattern, seen = "", set[str]()
    for literal, name in zip(literals[::2], [*literals[1::2], ""], strict=True):
        pattern += re.escape(literal)
        if name:
            pattern += f"(?P={name})" if name in seen else f"(?P<{name}>.*?)"
            seen.add(name)
    # A streaming query adds its own SQLSTATE. Without all literals, as in a text that is cut, the search would be slow.
    complete = all(literal in text for literal in literals[::2])
    match = re.match(rf"{pattern}(?=\s*(?:\n|$|SQLSTATE: ))", text[:_LONGEST], re.DOTALL) if complete else None
    return {name: match[name] if match else _NOT_SHOWN for name in names}
