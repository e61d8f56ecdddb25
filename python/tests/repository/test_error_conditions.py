"""The names of errors: each is expected by some test of the side that raises it, and found in what Spark raises."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pulsar_spark
from pulsar_spark import PulsarOptionError, _tables, condition_of
from pulsar_spark.errors import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Iterable

_ROOT = Path(__file__).resolve().parents[3]

# These name conditions to make errors of them, not because something raised them.
_NAMING_ONLY = {"ConditionsSuite.scala", Path(__file__).name}

_NAME = re.compile(r"\bPULSAR_[A-Z0-9_]+\b(?:\.[A-Z0-9_]+\b)?")


def _tests() -> list[Path]:
    found = [
        *(_ROOT / "python" / "tests").rglob("*.py"),
        *(_ROOT / "integration").rglob("*.py"),
        *(_ROOT / "connector" / "src" / "test").rglob("*.scala"),
    ]
    return [file for file in found if file.name not in _NAMING_ONLY]


def _named(texts: Iterable[str]) -> set[str]:
    """The conditions in a text; alternatives such as PULSAR_(A|B) name none, since one of them would do."""
    return {name for text in texts for name in _NAME.findall(text)}


def test_every_condition_is_expected_by_a_test() -> None:
    expected = _named(file.read_text(encoding="utf-8") for file in _tests())
    assert sorted(_tables.error_conditions().keys() - expected) == []


def test_every_condition_has_a_sqlstate_and_errors_show_it() -> None:
    for name, entry in _tables.error_conditions().items():
        assert re.fullmatch("[0-9A-Z]{5}", entry.sql_state), name
    assert PulsarOptionError("PULSAR_OPTION_MISSING", option="topic", example="t").sql_state == "42601"


def test_every_condition_belongs_to_a_family_and_every_family_has_a_class_that_is_exported() -> None:
    used = {entry.family for entry in _tables.error_conditions().values()}
    assert used == FAMILIES.keys()
    for family, kind in FAMILIES.items():
        assert kind.__name__ == f"Pulsar{family[0].upper()}{family[1:]}Error"
        assert getattr(pulsar_spark, kind.__name__) is kind
        assert kind.__name__ in pulsar_spark.__all__


def test_python_raises_each_condition_as_the_class_of_its_family() -> None:
    raised = {
        (node.args[0].value, node.func.id)
        for file in (_ROOT / "python" / "pulsar_spark").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in pulsar_spark.__all__
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and str(node.args[0].value).startswith("PULSAR_")
    }
    assert len(raised) > 10
    for condition, name in raised:
        family = FAMILIES[_tables.error_conditions()[str(condition)].family]
        assert issubclass(getattr(pulsar_spark, name), family), condition


def test_the_search_finds_whole_names_only() -> None:
    assert len(_tests()) > 30
    text = 'with refused("PULSAR_TOPIC_NOT_FOUND"): match=r"PULSAR_(READ_TIMEOUT|UNREACHABLE)"; XPULSAR_INTERNAL'
    assert _named([text]) == {"PULSAR_TOPIC_NOT_FOUND"}


@pytest.mark.parametrize(
    ("error", "condition"),
    [
        (PulsarOptionError("PULSAR_OPTION_MISSING", option="topic", example="t"), "PULSAR_OPTION_MISSING"),
        (
            RuntimeError("o1.collect\n: x.PulsarException: [PULSAR_DATA_LOSS.TRIMMED] Topic t: ... [PULSAR_INTERNAL]"),
            "PULSAR_DATA_LOSS.TRIMMED",
        ),
        (
            RuntimeError("[STREAM_FAILED] Query ended: [PULSAR_UNREACHABLE] Opening t received no response"),
            "PULSAR_UNREACHABLE",
        ),
        (RuntimeError("[PULSAR_NO_SUCH_CONDITION] of someone else"), None),
        (ValueError("PULSAR_DATA_LOSS"), None),
    ],
)
def test_the_condition_is_found_in_the_text_of_spark_errors(error: Exception, condition: str | None) -> None:
    assert condition_of(error) == condition
