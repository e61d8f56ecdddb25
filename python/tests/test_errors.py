"""Errors of the connector in exceptions of Spark: found, of the class of their family, with their values."""

from __future__ import annotations

import copy
import doctest
import multiprocessing
import pickle
import re
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

import pytest

from pulsar_spark import (
    PulsarDataLossError,
    PulsarOptionError,
    PulsarSparkError,
    _tables,
    condition_of,
    error_of,
    errors,
)
from pulsar_spark.errors import FAMILIES, PulsarTopicNotFoundError, facts, translated

if TYPE_CHECKING:
    from collections.abc import Callable

STACK = "\n\tat io.github.pulsarspark.errors.Occurrence.exception(Occurrence.scala:9)\n\tat x.Y.z(Y.java:1)\n"
WRAPPED = {
    "alone": "{text}",
    "of a task": "Job aborted due to stage failure: Lost task 0.0 in stage 1.0: x.PulsarRuntimeException: {text}"
    + STACK,
    "of py4j": "An error occurred while calling o1.collect.\n: x.PulsarException: {text}" + STACK,
    "of a query": "[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: {text} SQLSTATE: XXKST",
    "of Spark Connect": "(x.PulsarException) {text}\n\nJVM stacktrace:\nx.PulsarException" + STACK,
}


def example(condition: str) -> PulsarSparkError:
    """An error with values that could be mistaken for the text around them."""
    entry = _tables.error_conditions()[condition]
    names = re.findall(r"\{(\w+)\}", entry.message + entry.action)
    values = {name: f"{name}; a.b:1\n({name})" for name in names}
    return FAMILIES[entry.family](condition, **values)


@pytest.mark.parametrize("wrapper", WRAPPED)
@pytest.mark.parametrize("condition", _tables.error_conditions())
def test_every_error_is_found_with_its_values(condition: str, wrapper: str) -> None:
    original = example(condition)
    found = error_of(RuntimeError(WRAPPED[wrapper].replace("{text}", str(original))))
    assert type(found) is type(original)
    assert found is not None
    assert (found.condition, found.sql_state) == (condition, original.sql_state)
    assert found.parameters == original.parameters
    assert str(found) == str(original)


def test_an_error_is_found_once_and_others_never() -> None:
    own = PulsarOptionError("PULSAR_WRITE_NO_TOPIC")
    assert error_of(own) is own
    assert error_of(ValueError("PULSAR_DATA_LOSS")) is None
    assert error_of(ValueError("[PULSAR_NO_SUCH_CONDITION] Topic a")) is None


class _CapturedError(Exception):
    """An exception as PySpark captures it: its text, the trace of the JVM, and its cause."""

    def __init__(self, text: str, trace: str, cause: Exception | None = None) -> None:
        super().__init__(text)
        self._stackTrace, self._cause = trace, cause


def test_an_error_is_found_that_only_the_trace_of_a_cause_has() -> None:
    original = example("PULSAR_CHECKPOINT_STORE_POLICY")
    state = "[CANNOT_WRITE_STATE_STORE.CANNOT_COMMIT] Error writing state store files"
    trace = f"org.apache.spark.SparkException: {state}{STACK}Caused by: java.io.IOException: {original}{STACK}"
    for error in (
        _CapturedError(state, trace),
        _CapturedError(state, STACK, _CapturedError(state, STACK, _CapturedError(state, trace))),
    ):
        found = error_of(error)
        assert type(found) is type(original)
        assert str(found) == str(original)
        assert condition_of(error) == "PULSAR_CHECKPOINT_STORE_POLICY"
    assert error_of(_CapturedError(state, STACK, original)) is original
    again = _CapturedError(state, STACK)
    again._cause = again
    assert error_of(again) is None


def test_a_value_that_looks_like_the_text_leaves_the_text_as_it_is() -> None:
    original = PulsarOptionError("PULSAR_OPTION_UNKNOWN", option="a`. What to do: `b", nearest=" c. What to do: d.")
    assert str(error_of(RuntimeError(f"{original}{STACK}"))) == str(original)


def test_values_of_a_text_that_is_cut_are_dots() -> None:
    found = error_of(RuntimeError("[PULSAR_TOPIC_NOT_FOUND] Topic a does not ex"))
    assert found is not None
    assert found.parameters == {"topic": "...", "url": "..."}
    assert "Topic ... does not exist at ..." in str(found)


def test_translated_raises_the_class_of_the_family_from_the_original() -> None:
    original = RuntimeError(f"x: {example('PULSAR_DATA_LOSS.TRIMMED')}{STACK}")
    with pytest.raises(PulsarDataLossError) as raised, translated():
        raise original
    assert raised.value.__cause__ is original
    assert str(raised.value) == str(example("PULSAR_DATA_LOSS.TRIMMED"))
    own = PulsarOptionError("PULSAR_WRITE_NO_TOPIC")
    with pytest.raises(PulsarOptionError) as same, translated():
        raise own
    assert same.value is own
    with pytest.raises(ValueError, match="other"), translated():
        raise ValueError("other")


def test_an_error_as_json() -> None:
    assert facts(PulsarOptionError("PULSAR_OPTION_MISSING", option="topic", example="t")) == {
        "error": {
            "condition": "PULSAR_OPTION_MISSING",
            "sql_state": "42601",
            "parameters": {"option": "topic", "example": "t"},
            "message": ("[PULSAR_OPTION_MISSING] Option `topic` is missing. What to do: Set it, for example to `t`."),
        }
    }
    assert facts(RuntimeError(f"no luck{STACK}")) == {"error": {"message": "no luck"}}


def test_the_examples_of_the_docstrings_run() -> None:
    outcome = doctest.testmod(errors)
    assert outcome.attempted > 0
    assert outcome.failed == 0


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_every_error_is_copied_and_pickled(again: Callable[[PulsarSparkError], PulsarSparkError]) -> None:
    for condition in _tables.error_conditions():
        original = example(condition)
        vars(original)["note"] = "of the user"
        found = again(original)
        assert type(found) is type(original)
        assert (str(found), found.args) == (str(original), original.args)
        assert (found.condition, found.sql_state) == (condition, original.sql_state)
        assert (found.parameters, vars(found)["note"]) == (original.parameters, "of the user")


def _raise(condition: str) -> None:
    raise example(condition)


def test_an_error_crosses_processes() -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        future = pool.submit(_raise, "PULSAR_TOPIC_NOT_FOUND")
        with pytest.raises(PulsarTopicNotFoundError, match="PULSAR_TOPIC_NOT_FOUND"):
            future.result(timeout=300)
