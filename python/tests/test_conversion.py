"""Errors of actions: of our class and of PySpark's, by PySpark's own function that converts them."""

from __future__ import annotations

import copy
import pickle
import traceback
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors.exceptions import captured

from pulsar_spark import PulsarDataError, PulsarDataLossError, PulsarOptionError, _conversion, errors

if TYPE_CHECKING:
    from collections.abc import Iterator

LOST = str(PulsarDataLossError("PULSAR_WRITE_ROW_DROPPED", topic="t", last="5"))


@pytest.fixture
def original(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    monkeypatch.delenv(_conversion.OFF_VARIABLE, raising=False)
    errors.uninstall()
    yield monkeypatch
    errors.uninstall()


def captured_error(kind: type[Exception], text: str, stack: str) -> Any:  # noqa: ANN401 - of PySpark
    """As PySpark makes it, without a JVM."""
    error: Any = kind.__new__(kind)
    error._desc, error._stackTrace, error._cause, error._origin = text, stack, None, None
    return error


@pytest.mark.parametrize("kind", ["StreamingQueryException", "AnalysisException", "UnknownException"])
@pytest.mark.parametrize("in_text", [True, False])
def test_an_error_has_both_classes_and_one_text(original: pytest.MonkeyPatch, kind: str, in_text: bool) -> None:
    spark = getattr(captured, kind)
    text, stack = f"Job aborted: x.PulsarException: {LOST}\n\tat a.b(C.java:1)", "org.X\n\tat a.b(C.java:1)"
    if not in_text:
        text, stack = (
            "Job aborted",
            f"org.X\n\tat a.b(C.java:1)\nCaused by: x.PulsarException: {LOST}\n\tat a.b(C.java:1)",
        )
    original.setattr(captured, "convert_exception", lambda _: captured_error(spark, text, stack))
    errors.install()
    errors.install()
    found = captured.convert_exception(None)
    assert isinstance(found, PulsarDataLossError)
    assert isinstance(found, captured.CapturedException)
    assert isinstance(found, spark) == (kind != "UnknownException")
    assert str(found) == LOST
    assert (found.condition, found.sql_state) == ("PULSAR_WRITE_ROW_DROPPED", found.getSqlState())
    assert (found.getCondition(), found.getMessage()) == (found.condition, LOST)
    assert vars(found)["jvm_stack"] == stack
    shown = "".join(traceback.format_exception_only(found))
    assert shown == f"pulsar_spark.errors.PulsarDataLossError: {LOST}\n"
    for again in (copy.copy(found), pickle.loads(pickle.dumps(found))):
        assert type(again) is PulsarDataLossError
        assert (str(again), again.parameters) == (LOST, found.parameters)


def test_other_errors_stay_and_all_can_be_undone(original: pytest.MonkeyPatch) -> None:
    own = captured_error(captured.AnalysisException, "no such column", "stack")
    original.setattr(captured, "convert_exception", lambda _: own)
    before = captured.convert_exception
    errors.install()
    assert captured.convert_exception is not before
    assert captured.convert_exception(None) is own
    errors.uninstall()
    assert captured.convert_exception is before
    errors.uninstall()


def test_a_variable_turns_it_off(original: pytest.MonkeyPatch) -> None:
    before = captured.convert_exception
    original.setenv(_conversion.OFF_VARIABLE, "1")
    errors.install()
    assert captured.convert_exception is before


@pytest.mark.parametrize("family", errors.FAMILIES.values())
def test_every_class_goes_together_with_every_class_of_pyspark(family: type[errors.PulsarSparkError]) -> None:
    kinds = [
        one for one in vars(captured).values() if isinstance(one, type) and issubclass(one, captured.CapturedException)
    ]
    assert len(kinds) > 10
    for kind in kinds:
        assert issubclass(_conversion._kind(family, kind), kind)
    for special in (PulsarDataError, PulsarOptionError):
        assert _conversion._kind(special, kinds[0]).__name__ == special.__name__
