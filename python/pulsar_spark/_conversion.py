"""Makes PySpark raise the connector's errors as classes of this package, by its own hook for errors of the JVM.

PySpark converts an exception of the JVM, or of a Connect server, to a class of Python in one function each. Both are
replaced by one that looks for the connector's error in the result.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

    from pulsar_spark.errors import PulsarSparkError

OFF_VARIABLE = "PULSAR_SPARK_PLAIN_ERRORS"
"""Set to any text, it leaves PySpark as it is."""

_kinds: dict[tuple[type[PulsarSparkError], type[Exception]], type[Exception]] = {}
_NAME = "convert_exception"
_CLASSIC, _CONNECT = "pyspark.errors.exceptions.captured", "pyspark.sql.connect.client.core"


class _Reported:
    """Part of an error that Spark reported: its text is the connector's, the trace of the JVM is an attribute."""

    family: ClassVar[type[PulsarSparkError]]
    jvm_stack: str | None
    condition: str
    sql_state: str
    parameters: Mapping[str, str]
    args: tuple[Any, ...]

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        """The error alone, because exceptions of Spark hold objects of the JVM."""
        rest = {name: value for name, value in vars(self).items() if name in ("condition", "sql_state", "parameters")}
        return super().__reduce__()[0], (self.family, self.condition, dict(self.parameters), self.args), rest

    def getCondition(self) -> str:  # noqa: N802 - PySpark's name
        """The condition, by PySpark's own method."""
        return self.condition

    def getSqlState(self) -> str:  # noqa: N802 - PySpark's name
        """The SQLSTATE, by PySpark's own method."""
        return self.sql_state

    def getMessageParameters(self) -> Mapping[str, str]:  # noqa: N802 - PySpark's name
        """The values in the text, by PySpark's own method."""
        return self.parameters

    def getMessage(self) -> str:  # noqa: N802 - PySpark's name
        """The text, by PySpark's own method."""
        return str(self)


def install(error_of: Callable[[Exception], PulsarSparkError | None]) -> None:
    """Convert errors from now on, in classic sessions, and in those of Connect once such a session was made.

    Args:
        error_of: Finds the connector's error in another one.
    """
    if os.environ.get(OFF_VARIABLE):
        return
    import pyspark.errors.exceptions.captured  # noqa: F401 - the module to change

    for name in (_CLASSIC, _CONNECT):
        module = sys.modules.get(name)
        original = getattr(module, _NAME, None)
        if module is not None and original is not None and not hasattr(original, "original"):
            setattr(module, _NAME, _converting(original, module, error_of))


def uninstall() -> None:
    """Put back what `install` replaced."""
    for name in (_CLASSIC, _CONNECT):
        current = getattr(sys.modules.get(name), _NAME, None)
        if current is not None and hasattr(current, "original"):
            setattr(sys.modules[name], _NAME, current.original)


def _converting(
    original: Callable[..., Exception], module: ModuleType, error_of: Callable[[Exception], PulsarSparkError | None]
) -> Callable[..., Exception]:
    def convert(*arguments: Any, **named: Any) -> Exception:  # noqa: ANN401 - whatever this version of PySpark has
        found = original(*arguments, **named)
        stack = getattr(found, "_stackTrace", None) or getattr(found, "_stacktrace", None)
        known = error_of(RuntimeError(f"{_text(found)}\n{stack or ''}"))
        return found if known is None else _both(known, found, stack, _general(module))

    convert.original = original  # type: ignore[attr-defined]
    return convert


def _text(error: Exception) -> str:
    """The text without the trace, which PySpark may add."""
    text = getattr(error, "_desc", None)
    return text if isinstance(text, str) else str(error)


def _general(module: ModuleType) -> type[Exception]:
    """PySpark's class for errors that have none of their own."""
    name = "CapturedException" if module.__name__ == _CLASSIC else "SparkConnectGrpcException"
    kind: type[Exception] = getattr(module, name)
    return kind


def _both(known: PulsarSparkError, found: Exception, stack: str | None, general: type[Exception]) -> Exception:
    """One error of both classes. PySpark raises `UnknownException` in another form, so that becomes the general one."""
    spark = general if type(found).__name__ == "UnknownException" else type(found)
    kind = _kind(type(known), spark)
    error = kind.__new__(kind)
    Exception.__init__(error, str(known))
    vars(error).update({**vars(found), **vars(known), "jvm_stack": stack})
    return error


def _kind(family: type[PulsarSparkError], spark: type[Exception]) -> type[Exception]:
    known = _kinds.get((family, spark))
    if known is None:
        names = {"__module__": family.__module__, "__doc__": family.__doc__, "family": family}
        known = _kinds[family, spark] = type(family.__name__, (_Reported, family, spark), names)
    return known
