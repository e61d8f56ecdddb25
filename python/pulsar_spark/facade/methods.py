"""Methods made of functions: the same arguments, with the options of a cluster."""

from __future__ import annotations

import inspect
import re
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from pulsar_spark.options.received import SESSION, check

if TYPE_CHECKING:
    from collections.abc import Callable

    from pulsar_spark._spark import SparkSession
    from pulsar_spark.cluster import PulsarCluster

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_SESSION = "spark"
# Python 3.13 takes the indentation out of docstrings.
_SESSION_LINE = re.compile(rf"^ *{_SESSION}: The session\.\n", re.MULTILINE)


class InSession:
    """A cluster in a session.

    Attributes:
        spark: The session.
        cluster: The cluster.
    """

    def __init__(self, spark: SparkSession, cluster: PulsarCluster) -> None:
        check("Pulsar", "spark", spark, SESSION)
        self.spark = spark
        self.cluster = cluster

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.cluster!r})"


def reading(
    name: str, function: Callable[Concatenate[SparkSession, Arguments], Result]
) -> Callable[Concatenate[InSession, Arguments], Result]:
    """The method of this name: a function that reads, without its session, with the options of the cluster."""

    def method(self: InSession, /, *given: Arguments.args, **named: Arguments.kwargs) -> Result:
        return function(self.spark, *given, **_combined(self.cluster.read_options, named))

    _show(name, method, function)
    return method


def writing(name: str, function: Callable[Arguments, Result]) -> Callable[Concatenate[InSession, Arguments], Result]:
    """The method of this name: a function that writes, with the options of the cluster."""

    def method(self: InSession, /, *given: Arguments.args, **named: Arguments.kwargs) -> Result:
        return function(*given, **_combined(self.cluster.write_options, named))

    _show(name, method, function)
    return method


def _combined(options_of: Callable[[Any], Any], named: Any) -> Any:  # noqa: ANN401 - the arguments of any function
    """The arguments of a call, which override the options of the cluster; settings of a client are combined."""
    options = options_of(named.get("options"))
    client = named.get("client")
    own = {} if client is None else {"client": {**(options.client or {}), **client}}
    return {**named, **own, "options": options}


def _show(name: str, method: Any, function: Callable[..., Any]) -> None:  # noqa: ANN401 - a function of any type
    """Show a method in notebooks, `help` and `inspect.signature` as its function, without a session."""
    update_wrapper(method, function)
    rest = [one for one in inspect.signature(method).parameters.values() if one.name != _SESSION]
    first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    method.__signature__ = inspect.signature(method).replace(parameters=[first, *rest])
    method.__annotations__ = {key: hint for key, hint in method.__annotations__.items() if key != _SESSION}
    method.__doc__ = _SESSION_LINE.sub("", method.__doc__ or "")
    method.__name__, method.__qualname__ = name, f"Pulsar.{name}"
