"""Every public function and method that takes an object of Spark refuses everything else with one error."""

from __future__ import annotations

import inspect
import re
from dataclasses import is_dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from pyspark.sql import DataFrame, SparkSession

import pulsar_spark
from pulsar_spark import PulsarOptionError, condition_of, functions, progress, sinks, testing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SPARK = re.compile(r"\b(SparkSession|DataFrame|DataStreamWriter|StreamingQuery|Column|Builder)\b")
OTHER_ARGUMENTS = {"version": "__schemaVersion", "checkpoint": "/jobs/rides", "batch": "30s", "sink": "copy"}
WRONG = {
    "None": None,
    "a number": 5,
    "bytes": b"rides",
    "an object": object(),
    "a dict": {"spark": 1},
    "a function": print,
    "the class of sessions": SparkSession,
    "the class of tables": DataFrame,
}
# A name is a column, topics are a list.
TEXT = {"a text": "rides"}


class Anything:
    """Stands for every object of Spark."""

    def __init__(self, *, streaming: bool = False) -> None:
        self.isStreaming = streaming
        self.getAll: dict[str, str] = {}

    def __getattr__(self, _: str) -> Any:  # noqa: ANN401
        return self

    def __call__(self, *_: object, **__: object) -> Anything:
        return self


def _callables() -> Iterator[tuple[str, Any]]:
    """The public functions, and the methods of public classes."""
    for module in (pulsar_spark, functions, sinks, progress, testing):
        own = {name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__}
        for name in getattr(module, "__all__", sorted(own)):
            value = getattr(module, name)
            if inspect.isfunction(value) and not name.startswith("_"):
                yield f"{module.__name__}.{name}", value
            elif inspect.isclass(value):
                for method, function in inspect.getmembers(value, inspect.isfunction):
                    shown = not method.startswith("_") or (method == "__init__" and not is_dataclass(value))
                    if shown and function.__module__.startswith("pulsar_spark"):
                        yield f"{module.__name__}.{name}.{method}", function


def _parameters() -> Iterator[tuple[str, Any, str, str]]:
    """Each parameter that is an object of Spark, with its annotation."""
    for name, function in _callables():
        for parameter in inspect.signature(function).parameters.values():
            hint = str(parameter.annotation)
            if SPARK.search(hint) and "Event" not in hint:
                yield name, function, parameter.name, hint


PARAMETERS = {f"{name}({parameter})": one for one in _parameters() for name, _, parameter, _ in [one]}


def _call(function: Callable[..., Any], parameter: str, value: object) -> None:
    """Call a function with this value, and with what else it needs."""
    given: list[Any] = []
    named: dict[str, Any] = {}
    for one in inspect.signature(function).parameters.values():
        needed = one.default is inspect.Parameter.empty and one.kind is not inspect.Parameter.VAR_KEYWORD
        if one.name == parameter:
            wanted = value
        elif needed:
            wanted = OTHER_ARGUMENTS.get(one.name, Anything())
        else:
            continue
        if one.kind is inspect.Parameter.KEYWORD_ONLY:
            named[one.name] = wanted
        else:
            given.append(wanted)
    if {"topic", "service_url"} <= inspect.signature(function).parameters.keys():
        named |= {"service_url": "pulsar://localhost:6650"} | ({} if "topics" in named else {"topic": "rides"})
    function(*given, **named)


def _wrong_for(hint: str) -> dict[str, object]:
    """Values that are of another type than a parameter takes."""
    taken = {"None"} if "None" in hint else set()
    taken |= {"bytes"} if "Sequence" in hint else set()
    taken |= {"a dict", "bytes"} if "Iterable" in hint else set()
    return {name: value for name, value in (WRONG | ({} if "str" in hint else TEXT)).items() if name not in taken}


def test_the_family_is_found() -> None:
    found = {name.removeprefix("pulsar_spark.") for name in PARAMETERS}
    assert {
        "read_pulsar(spark)",
        "read_pulsar_stream(spark)",
        "write_pulsar(df)",
        "write_pulsar_stream(df)",
        "plan(df)",
        "configure(builder)",
        "real_time_trigger(writer)",
        "PulsarCluster.on(spark)",
        "Pulsar.__init__(spark)",
        "Pulsar.write(df)",
        "Pulsar.write_stream(df)",
        "Pulsar.lag(of)",
        "functions.from_pulsar(value)",
        "sinks.repair(spark)",
        "progress.watch(query)",
        "progress.serve_metrics(source)",
        "testing.run_to_end(stream)",
    } <= found, sorted(found)


@pytest.mark.parametrize("name", PARAMETERS)
def test_everything_else_is_refused_by_name(name: str) -> None:
    _, function, parameter, hint = PARAMETERS[name]
    wrong = _wrong_for(hint)
    assert len(wrong) > 4
    for what, value in wrong.items():
        with pytest.raises(PulsarOptionError) as raised:
            _call(function, parameter, value)
        assert raised.value.condition == "PULSAR_ARGUMENT_TYPE", what
        assert raised.value.parameters["argument"] == parameter, what
        # A method of a cluster is a function of the package, whose error names that.
        assert raised.value.parameters["function"] in name or function.__qualname__.startswith("Pulsar."), what


FRAMES = {name: one for name, one in PARAMETERS.items() if "DataFrame" in one[3]}


@pytest.mark.parametrize("name", FRAMES)
def test_a_stream_is_no_batch(name: str) -> None:
    _, function, parameter, _ = FRAMES[name]
    conditions = []
    for streaming in (False, True):
        try:
            _call(function, parameter, Anything(streaming=streaming))
        except Exception as error:  # a stand-in that was accepted has no answers
            conditions.append(condition_of(error))
    assert len({"PULSAR_ARGUMENT_TYPE", "PULSAR_PLAN_NO_READ"} & set(conditions)) == 1


def test_the_error_says_what_was_received_and_what_to_do() -> None:
    with pytest.raises(PulsarOptionError) as raised:
        pulsar_spark.write_pulsar(cast("Any", Anything(streaming=True)), "rides")
    assert str(raised.value) == (
        "[PULSAR_ARGUMENT_TYPE] `write_pulsar` takes the DataFrame of a batch as `df`, but received the one of a "
        "stream. What to do: Write a stream with `write_pulsar_stream`."
    )
    with pytest.raises(PulsarOptionError, match=r"a Spark session as `spark`, but received None. .*session\(\)"):
        pulsar_spark.read_pulsar(cast("Any", None), "rides")
    with pytest.raises(PulsarOptionError, match="received the class `SparkSession`"):
        pulsar_spark.read_pulsar(cast("Any", SparkSession), "rides")
    with pytest.raises(PulsarOptionError, match=r"received an object of type `types\.SimpleNamespace`") as raised:
        pulsar_spark.write_pulsar(cast("Any", SimpleNamespace(password="canary")), "rides")
    assert "canary" not in str(raised.value)
